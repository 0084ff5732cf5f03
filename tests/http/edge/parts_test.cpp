// The small parts of the edge, each by itself.
#include <doctest/doctest.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstring>
#include <string>

#include "http/edge/acceptor.hpp"
#include "http/edge/answer.hpp"
#include "http/edge/deadlines.hpp"
#include "http/message.hpp"

namespace oncepay::http::edge::testing {
namespace {

using std::chrono::milliseconds;

Peer peer_of(const std::string& ipv6) {
  sockaddr_in6 name{};
  name.sin6_family = AF_INET6;
  REQUIRE(::inet_pton(AF_INET6, ipv6.c_str(), &name.sin6_addr) == 1);
  sockaddr_storage storage{};
  std::memcpy(&storage, &name, sizeof(name));
  return describe_peer(storage);
}

}  // namespace

TEST_CASE("header names compare without case, and a value is only given for a field sent once") {
  Request request;
  request.headers = {{"Host", "a"}, {"X-A", "1"}, {"x-a", "2"}};
  CHECK(request.header("hOST") == "a");
  CHECK_FALSE(request.header("X-A"));
  CHECK_FALSE(request.header("X-B"));
  CHECK(request.count("X-A") == 2);
  CHECK(request.count("X-B") == 0);
  CHECK(equals_ignoring_case("", ""));
  CHECK_FALSE(equals_ignoring_case("a", "ab"));
  CHECK_FALSE(equals_ignoring_case("[", "{"));
  Response response;
  response.set("A", "1");
  response.set("a", "2");
  CHECK(response.headers.size() == 1);
  CHECK(response.headers[0].value == "2");
}

TEST_CASE("an answer on the wire has the edge's fields once, whatever the handler set") {
  Response response;
  response.status = 201;
  response.headers = {{"Location", "/x"},
                      {"content-length", "99"},
                      {"Date", "never"},
                      {"Connection", "close"},
                      {"Transfer-Encoding", "chunked"}};
  response.body = "{}";
  AnswerFacts facts;
  facts.date = "now";
  std::string wire;
  REQUIRE(append_answer(response, facts, wire));
  CHECK(wire ==
        "HTTP/1.1 201 Created\r\nDate: now\r\nLocation: /x\r\nContent-Length: 2\r\n"
        "Connection: close\r\n\r\n{}");
}

TEST_CASE("an answer that would break the framing is not written at all") {
  const AnswerFacts facts;
  for (const Header& field :
       {Header{"A", "x\r\ny"}, Header{"A", "x\ny"}, Header{"A", std::string("x\0y", 3)},
        Header{"A b", "x"}, Header{"", "x"}, Header{"A\r\nB", "x"}}) {
    Response response;
    response.headers = {field};
    std::string wire;
    CHECK_FALSE(append_answer(response, facts, wire));
    CHECK(wire.empty());
  }
  for (const int status : {0, 100, 199, 600}) {
    Response response;
    response.status = status;
    std::string wire;
    CHECK_FALSE(append_answer(response, facts, wire));
  }
}

TEST_CASE("204 and 304 have neither body nor length") {
  for (const int status : {204, 304}) {
    Response response;
    response.status = status;
    response.body = "not sent";
    AnswerFacts facts;
    facts.after = AfterAnswer::keep_alive;
    std::string wire;
    REQUIRE(append_answer(response, facts, wire));
    CHECK(wire.find("Content-Length") == std::string::npos);
    CHECK(wire.substr(wire.size() - 4) == "\r\n\r\n");
  }
}

TEST_CASE("a date is written as RFC 9110 wants it") {
  DateCache date;
  CHECK(date.at(784111777) == "Sun, 06 Nov 1994 08:49:37 GMT");
  CHECK(date.at(784111777) == "Sun, 06 Nov 1994 08:49:37 GMT");
  CHECK(date.at(0) == "Thu, 01 Jan 1970 00:00:00 GMT");
}

TEST_CASE("deadlines pass in their order, and setting or clearing one replaces it") {
  Deadlines deadlines(
      {milliseconds(10), milliseconds(60), milliseconds(20), milliseconds(30), milliseconds(5)});
  const TimePoint start{};
  const auto at = [start](int ms) { return start + milliseconds(ms); };
  CHECK_FALSE(deadlines.next());
  auto first = deadlines.add(1);
  auto second = deadlines.add(2);
  deadlines.set(first, DeadlineKind::idle, start);
  deadlines.set(second, DeadlineKind::request, start);
  CHECK(deadlines.next() == at(20));
  CHECK_FALSE(deadlines.passed(at(19)));
  REQUIRE(deadlines.passed(at(20)));
  CHECK(deadlines.passed(at(20))->connection == 2);
  CHECK(deadlines.passed(at(20))->kind == DeadlineKind::request);
  deadlines.set(second, DeadlineKind::request, at(5));
  CHECK_FALSE(deadlines.passed(at(24)));
  deadlines.clear(second);
  CHECK(deadlines.next() == at(60));
  CHECK_FALSE(deadlines.longest_idle(at(9), milliseconds(10)));
  CHECK(deadlines.longest_idle(at(10), milliseconds(10)) == 1);
  deadlines.set(second, DeadlineKind::idle, at(1));
  CHECK(deadlines.longest_idle(at(50), milliseconds(10)) == 1);
  deadlines.set(first, DeadlineKind::idle, at(2));
  CHECK(deadlines.longest_idle(at(50), milliseconds(10)) == 2);
  deadlines.remove(second);
  CHECK(deadlines.passed(at(62))->connection == 1);
  deadlines.remove(first);
  CHECK_FALSE(deadlines.next());
}

TEST_CASE("connections are counted by IPv4 address or by IPv6 network of 64 bits") {
  CHECK(peer_of("::ffff:192.0.2.1").address == "192.0.2.1");
  CHECK(peer_of("2001:db8::1").address == "2001:db8::1");
  AddressCounts counts(1);
  CHECK(counts.enter(peer_of("2001:db8:0:1::1")));
  CHECK_FALSE(counts.enter(peer_of("2001:db8:0:1::2")));
  CHECK(counts.enter(peer_of("2001:db8:0:2::1")));
  CHECK(counts.enter(peer_of("::ffff:192.0.2.1")));
  CHECK(counts.enter(peer_of("::ffff:192.0.2.2")));
  counts.leave(peer_of("2001:db8:0:1::1"));
  CHECK(counts.enter(peer_of("2001:db8:0:1::2")));
  const Peer local{"unix", std::nullopt};
  CHECK(counts.enter(local));
  CHECK(counts.enter(local));
}

}  // namespace oncepay::http::edge::testing

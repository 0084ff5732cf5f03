// The end of a server: told to others first, then no new work, then what runs is answered.
#include <doctest/doctest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "http/edge/raw_client.hpp"
#include "http/edge/test_handler.hpp"

namespace oncepay::http::edge::testing {
namespace {

using std::chrono::milliseconds;

bool refuses_connections(std::uint16_t port) {
  try {
    RawClient client(port);
    return false;
  } catch (const std::runtime_error&) {
    return true;
  }
}

}  // namespace

TEST_CASE("during the shutdown delay connections are accepted and answers say Connection: close") {
  Edge edge;
  RawClient before(edge.port());
  before.send(get("/echo"));
  CHECK(before.read_answer()->field("Connection") == "");
  edge.server.drain(milliseconds(600'000));
  CHECK(comes_true([&] {
    RawClient client(edge.port());
    client.send(get("/echo"));
    return client.read_answer()->field("Connection") == "close";
  }));
  before.send(get("/echo"));
  CHECK(before.read_answer()->field("Connection") == "close");
  CHECK(before.is_closed());
  CHECK_FALSE(edge.server.wait_drained(milliseconds(0)));
}

TEST_CASE("after the delay idle connections are closed and what runs is answered and closed") {
  Edge edge;
  RawClient idle(edge.port());
  RawClient running(edge.port());
  RawClient half_sent(edge.port());
  running.send(get("/later"));
  half_sent.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{");
  REQUIRE(comes_true([&] { return edge.handler.kept() == 1; }));
  REQUIRE(comes_true([&] { return edge.counters().bytes_in >= 80; }));
  edge.server.drain(milliseconds(0));
  CHECK(idle.is_closed());
  CHECK(refuses_connections(edge.port()));
  CHECK_FALSE(edge.server.wait_drained(milliseconds(0)));

  half_sent.send("}");
  const auto finished = half_sent.read_answer();
  CHECK(finished->body == "POST /echo [{}]");
  CHECK(finished->field("Connection") == "close");
  CHECK(half_sent.is_closed());
  half_sent.reset();

  edge.handler.answer_kept();
  const auto answer = running.read_answer();
  CHECK(answer->status == 200);
  CHECK(answer->field("Connection") == "close");
  CHECK(running.is_closed());
  running.reset();
  CHECK(edge.server.wait_drained(patience));
  CHECK(edge.counters().connections_now == 0);
}

TEST_CASE("an idle server is drained at once, and asking again changes nothing") {
  Edge edge;
  edge.server.drain(milliseconds(0));
  edge.server.drain(milliseconds(600'000));
  CHECK(edge.server.wait_drained(patience));
}

TEST_CASE("stopping now closes everything, answered or not") {
  Edge edge;
  RawClient running(edge.port());
  running.send(get("/later"));
  REQUIRE(comes_true([&] { return edge.handler.kept() == 1; }));
  edge.server.drain(milliseconds(0));
  edge.server.stop_now();
  CHECK(running.is_closed());
  CHECK_FALSE(edge.server.wait_drained(patience));
}

TEST_CASE("a reply may come after the end of the server") {
  TestHandler handler;
  {
    Server server(Edge::defaults(), handler);
    server.start();
    RawClient client(server.port());
    client.send(get("/later"));
    REQUIRE(comes_true([&] { return handler.kept() == 1; }));
  }
  handler.answer_kept();
}

}  // namespace oncepay::http::edge::testing

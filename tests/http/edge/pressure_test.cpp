// The edge under clients that are slow, many or rude: nobody else waits for them.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/resource.h>

#include <algorithm>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "http/edge/raw_client.hpp"
#include "http/edge/test_handler.hpp"

namespace oncepay::http::edge::testing {
namespace {

using std::chrono::milliseconds;

bool is_served(const Edge& edge) {
  RawClient client(edge.port());
  client.send(get("/echo"));
  const auto answer = client.read_answer();
  return answer && answer->status == 200;
}

// Sends a byte at a time, as slowly as `pause`, until something comes back.
void dribble(RawClient& client, const std::string& bytes, milliseconds pause) {
  for (const char byte : bytes) {
    if (!client.send(std::string(1, byte)) || client.readable_within(pause)) return;
  }
}

}  // namespace

TEST_CASE("G9 a request that dribbles in has one deadline from its first byte, whatever it sends") {
  EdgeConfig config = Edge::defaults();
  config.request_deadline = milliseconds(100);
  const std::string body(10'000, 'x');
  for (const std::string& start :
       {std::string(), get("/echo").substr(0, 20), post("/echo", "Content-Length: 10000\r\n"),
        post("/echo", "Transfer-Encoding: chunked\r\n", "2710\r\n")}) {
    Edge edge(config);
    RawClient client(edge.port());
    client.send(start);
    dribble(client, start.empty() ? "GET /" + body : body, milliseconds(5));
    const auto answer = client.read_answer();
    REQUIRE(answer);
    CHECK(answer->status == 408);
    CHECK(client.is_closed());
    CHECK(edge.handler.reached == 0);
    CHECK(edge.counters().deadlines_request == 1);
    CHECK(is_served(edge));
  }
}

TEST_CASE("G9 an idle connection is closed without a word when its deadline passes") {
  EdgeConfig config = Edge::defaults();
  config.idle_deadline = milliseconds(50);
  Edge edge(config);
  RawClient silent(edge.port());
  RawClient served_once(edge.port());
  served_once.send(get("/echo"));
  CHECK(served_once.read_answer()->status == 200);
  CHECK(silent.is_closed());
  CHECK(served_once.is_closed());
  CHECK(edge.counters().deadlines_idle == 2);
}

TEST_CASE("a request that the handler keeps has no deadline of the edge's") {
  EdgeConfig config = Edge::defaults();
  config.idle_deadline = config.request_deadline = config.write_deadline = milliseconds(20);
  Edge edge(config);
  RawClient client(edge.port());
  client.send(get("/later"));
  REQUIRE(comes_true([&] { return edge.handler.kept() == 1; }));
  RawClient idle(edge.port());
  CHECK(idle.is_closed());
  edge.handler.answer_kept();
  CHECK(client.read_answer()->status == 200);
}

TEST_CASE("G9 who does not read its answer is closed by the write deadline and holds up nobody") {
  EdgeConfig config = Edge::defaults();
  config.write_deadline = milliseconds(100);
  Edge edge(config);
  std::vector<std::unique_ptr<RawClient>> slow;
  for (int i = 0; i < 4; ++i) {
    slow.push_back(std::make_unique<RawClient>(edge.port(), 4096));
    for (int n = 0; n < 20; ++n) slow.back()->send(get("/big"));
  }
  CHECK(is_served(edge));
  CHECK(comes_true([&] { return edge.counters().deadlines_write == 4; }));
  CHECK(comes_true([&] { return edge.counters().connections_now == 0; }));
  // One answer at a time, and none more once the client stopped reading.
  CHECK(edge.handler.reached < 4 * 20);
  CHECK(is_served(edge));
}

TEST_CASE("a slow reader that does read gets all of it") {
  Edge edge;
  RawClient client(edge.port(), 4096);
  for (int i = 0; i < 3; ++i) client.send(get("/big"));
  for (int i = 0; i < 3; ++i) CHECK(client.read_answer()->body.size() == 900'000);
}

TEST_CASE(
    "G9 a thousand clients that reset the connection while they are answered change nothing") {
  Edge edge;
  for (int i = 0; i < 1000; ++i) {
    RawClient client(edge.port());
    client.send(get(i % 2 == 0 ? "/big" : "/echo"));
    if (i % 3 == 0) client.readable_within(patience);
    client.reset();
  }
  CHECK(comes_true([&] { return edge.counters().connections_now == 0; }));
  CHECK(is_served(edge));
}

TEST_CASE("answers come from any thread in any order, each to its own client") {
  Edge edge;
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 200; ++i) {
    clients.push_back(std::make_unique<RawClient>(edge.port()));
    clients.back()->send(get("/later?" + std::to_string(i)));
  }
  REQUIRE(comes_true([&] { return edge.handler.kept() == 200; }));
  std::jthread answering([&] { edge.handler.answer_kept(); });
  for (std::size_t i = 0; i < clients.size(); ++i) {
    CHECK(clients[i]->read_answer()->body == "GET /later?" + std::to_string(i) + " []");
  }
}

TEST_CASE(
    "an answer whose client has gone is dropped, and its successor on the socket is not hit") {
  Edge edge;
  {
    RawClient client(edge.port());
    client.send(get("/later"));
    REQUIRE(comes_true([&] { return edge.handler.kept() == 1; }));
    client.reset();
  }
  REQUIRE(comes_true([&] { return edge.counters().connections_now == 0; }));
  RawClient successor(edge.port());
  successor.send(get("/later?2"));
  REQUIRE(comes_true([&] { return edge.handler.kept() == 2; }));
  edge.handler.answer_first_kept();
  CHECK(comes_true([&] { return edge.counters().answers_without_client == 1; }));
  edge.handler.answer_first_kept();
  CHECK(successor.read_answer()->body == "GET /later?2 []");
}

TEST_CASE("G9 requests beyond waiting_requests_max get 503 with Retry-After at once, and go on") {
  EdgeConfig config = Edge::defaults();
  config.worker_threads = 1;
  config.waiting_requests_max = 2;
  Edge edge(config);
  RawClient running(edge.port());
  running.send(get("/block"));
  REQUIRE(comes_true([&] { return edge.handler.blocked == 1; }));
  RawClient waiting_1(edge.port());
  RawClient waiting_2(edge.port());
  waiting_1.send(get("/echo?1"));
  waiting_2.send(get("/echo?2"));
  REQUIRE(comes_true([&] { return edge.counters().requests_waiting_now == 2; }));

  RawClient refused(edge.port());
  refused.send(get("/echo?3"));
  const auto answer = refused.read_answer();
  CHECK(answer->status == 503);
  CHECK(answer->field("Retry-After") == "1");
  CHECK(answer->field("Connection") == "");
  edge.handler.unblock();
  CHECK(running.read_answer()->status == 200);
  CHECK(waiting_1.read_answer()->status == 200);
  CHECK(waiting_2.read_answer()->status == 200);
  refused.send(get("/echo?4"));
  CHECK(refused.read_answer()->status == 200);
}

TEST_CASE("G9 at connections_max a new connection gets 503, unless an idle one can make room") {
  EdgeConfig config = Edge::defaults();
  config.connections_max = 3;
  config.idle_protection = milliseconds(0);
  Edge edge(config);
  std::vector<std::unique_ptr<RawClient>> busy;
  for (int i = 0; i < 2; ++i) {
    busy.push_back(std::make_unique<RawClient>(edge.port()));
    busy.back()->send(get("/later"));
  }
  REQUIRE(comes_true([&] { return edge.handler.kept() == 2; }));
  RawClient idle(edge.port());
  idle.send(get("/echo"));
  CHECK(idle.read_answer()->status == 200);

  RawClient newcomer(edge.port());
  newcomer.send(get("/later"));
  REQUIRE(comes_true([&] { return edge.handler.kept() == 3; }));
  CHECK(idle.is_closed());
  CHECK(edge.counters().connections_evicted_idle == 1);

  RawClient refused(edge.port());
  const auto answer = refused.read_answer();
  REQUIRE(answer);
  CHECK(answer->status == 503);
  CHECK(answer->field("Retry-After") == "1");
  CHECK(refused.is_closed());
  CHECK(edge.counters().connections_refused_limit == 1);
  edge.handler.answer_kept();
  CHECK(newcomer.read_answer()->status == 200);
}

TEST_CASE("G9 one address has no more connections than it may, and can use them again") {
  EdgeConfig config = Edge::defaults();
  config.connections_per_address_max = 2;
  Edge edge(config);
  RawClient first(edge.port());
  {
    RawClient second(edge.port());
    second.send(get("/echo"));
    CHECK(second.read_answer()->status == 200);
    RawClient third(edge.port());
    CHECK(third.read_answer()->status == 429);
    CHECK(third.is_closed());
    CHECK(edge.counters().connections_refused_address == 1);
  }
  REQUIRE(comes_true([&] { return edge.counters().connections_now == 1; }));
  CHECK(is_served(edge));
}

TEST_CASE(
    "G9 when buffers are full, those that fill them are refused and small requests are served") {
  EdgeConfig config = Edge::defaults();
  config.buffered_bytes_max = 256 * 1024;
  Edge edge(config);
  std::vector<std::unique_ptr<RawClient>> hoarders;
  std::size_t refused = 0;
  for (int i = 0; i < 12; ++i) {
    hoarders.push_back(std::make_unique<RawClient>(edge.port()));
    hoarders.back()->send(post("/echo", "Content-Length: 65536\r\n", std::string(60'000, 'x')));
    CHECK(is_served(edge));
  }
  for (auto& hoarder : hoarders) {
    if (!hoarder->readable_within(milliseconds(0))) continue;
    CHECK(hoarder->read_answer()->status == 503);
    ++refused;
  }
  CHECK(refused >= 6);
  CHECK(edge.counters().requests_overloaded == refused);
}

TEST_CASE(
    "G9 without a free file descriptor new connections are closed and the loop does not spin") {
  Edge edge;
  CHECK(is_served(edge));
  REQUIRE(comes_true([&] { return edge.counters().connections_now == 0; }));
  RawClient client = RawClient::unconnected();
  rlimit before{};
  ::getrlimit(RLIMIT_NOFILE, &before);
  rlimit low = before;
  low.rlim_cur = 256;
  ::setrlimit(RLIMIT_NOFILE, &low);
  std::vector<Descriptor> fill;
  while (true) {
    Descriptor one(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    if (!one.is_open()) break;
    fill.push_back(std::move(one));
  }
  client.connect(edge.port());
  CHECK(client.is_closed());
  ::setrlimit(RLIMIT_NOFILE, &before);
  fill.clear();
  CHECK(edge.counters().connections_refused_descriptors == 1);
  CHECK(comes_true([&] { return is_served(edge); }));  // accepting pauses before it goes on
}

TEST_CASE("G9 hundreds of idle and dribbling connections cost the others nothing") {
  EdgeConfig config = Edge::defaults();
  Edge edge(config);
  std::vector<std::unique_ptr<RawClient>> bystanders;
  for (int i = 0; i < 400; ++i) {
    bystanders.push_back(std::make_unique<RawClient>(edge.port()));
    if (i % 2 == 0) bystanders.back()->send("GET /echo HTTP/1.1\r\nHo");
  }
  RawClient good(edge.port());
  for (int i = 0; i < 300; ++i) {
    bystanders[static_cast<std::size_t>(i)]->send(i % 2 == 0 ? "s" : "G");
    good.send(get("/echo"));
    CHECK(good.read_answer()->status == 200);
  }
  CHECK(edge.counters().connections_now == 401);
}

}  // namespace oncepay::http::edge::testing

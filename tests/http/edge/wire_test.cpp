// The edge's rules on the wire: bytes in; answers, an open or closed connection, and calls of the
// handler out.
#include <doctest/doctest.h>

#include <cstddef>
#include <fstream>
#include <string>
#include <vector>

#include "http/edge/observed.hpp"
#include "http/edge/raw_client.hpp"
#include "http/edge/test_handler.hpp"

namespace oncepay::http::edge::testing {
namespace {

enum class After { open, closed };

struct Attempt {
  std::string name;
  std::string bytes;
  std::vector<int> statuses;
  After after = After::closed;
  std::size_t reached = 0;  // calls of the handler
};

bool is_open(RawClient& client) {
  if (!client.send(get("/echo?probe"))) return false;
  const auto answer = client.read_answer();
  return answer && answer->body == "GET /echo?probe []";
}

void check_table(const std::vector<Attempt>& table) {
  for (const Attempt& attempt : table) {
    CAPTURE(attempt.name);
    Edge edge;
    RawClient client(edge.port());
    client.send(attempt.bytes);
    std::vector<int> statuses;
    for (std::size_t i = 0; i < attempt.statuses.size(); ++i) {
      const auto answer = client.read_answer();
      statuses.push_back(answer ? answer->status : 0);
    }
    CHECK(statuses == attempt.statuses);
    const std::size_t reached = edge.handler.reached;
    if (attempt.after == After::open) {
      CHECK(is_open(client));
    } else {
      CHECK(client.is_closed());
    }
    CHECK(reached == attempt.reached);
  }
}

// Resident memory of this process.
std::size_t resident_kib() {
  std::ifstream file("/proc/self/statm");
  std::size_t total = 0;
  std::size_t resident = 0;
  file >> total >> resident;
  return resident * 4;
}

}  // namespace

TEST_CASE(
    "G9 a request that is whole is answered and the connection goes on unless told otherwise") {
  const std::string last_chunk = "0\r\n\r\n";
  check_table({
      {"get", get("/echo"), {200}, After::open, 1},
      {"post", post("/echo", "Content-Length: 2\r\n", "{}"), {200}, After::open, 1},
      {"post without a length", post("/echo", ""), {200}, After::open, 1},
      {"chunked",
       post("/echo", "Transfer-Encoding: chunked\r\n", "2\r\n{}\r\n" + last_chunk),
       {200},
       After::open,
       1},
      {"asked to close", get("/echo", "Connection: Close\r\n"), {200}, After::closed, 1},
      {"the handler asks to close", get("/close"), {200}, After::closed, 1},
      {"HTTP/1.0", "GET /echo HTTP/1.0\r\n\r\n", {200}, After::closed, 1},
      {"HTTP/1.0, asked to go on",
       "GET /echo HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
       {200},
       After::open,
       1},
      {"no content", get("/empty"), {204}, After::open, 1},
      {"Range is ignored", get("/echo", "Range: bytes=0-1\r\n"), {200}, After::open, 1},
      {"two pipelined, the first asks to close",
       get("/echo", "Connection: close\r\n") + get("/echo"),
       {200},
       After::closed,
       1},
  });
}

TEST_CASE(
    "G9 a request that is not well-formed is answered once, and closed, and reaches no handler") {
  const std::string inner = post("/echo", "Content-Length: 2\r\n", "{}");
  const std::string size = "Content-Length: " + std::to_string(inner.size()) + "\r\n";
  check_table({
      {"garbage", "garbage\r\n\r\n", {400}},
      {"TLS on a plain port", std::string("\x16\x03\x01\x00\xa5\x01", 6), {400}},
      {"HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", {505}},
      {"bare LF", "GET /echo HTTP/1.1\nHost: a\n\n", {400}},
      {"no host", "GET /echo HTTP/1.1\r\n\r\n", {400}},
      {"CL and TE",
       post("/echo", size + "Transfer-Encoding: chunked\r\n", "0\r\n\r\n" + inner),
       {400}},
      {"TE and CL",
       post("/echo", "Transfer-Encoding: chunked\r\n" + size, "0\r\n\r\n" + inner),
       {400}},
      {"TE hidden by a space",
       post("/echo", "Transfer-Encoding : chunked\r\n" + size, "0\r\n\r\n" + inner),
       {400}},
      {"TE that some overlook",
       post("/echo", "Transfer-Encoding: xchunked\r\n", "0\r\n\r\n" + inner),
       {400}},
      {"TE folded",
       post("/echo", "Transfer-Encoding:\r\n chunked\r\n", "0\r\n\r\n" + inner),
       {400}},
      {"two different lengths", post("/echo", "Content-Length: 0\r\n" + size, inner), {400}},
      {"two equal lengths", post("/echo", size + size, inner), {400}},
      {"a length of no digits", post("/echo", "Content-Length: x\r\n", inner), {400}},
      {"a negative length", post("/echo", "Content-Length: -1\r\n", inner), {400}},
      {"an unknown coding", post("/echo", "Transfer-Encoding: gzip, chunked\r\n", inner), {501}},
      {"an unknown expectation", post("/echo", "Expect: x\r\nContent-Length: 2\r\n", inner), {417}},
      {"a body behind a refused head", post("/echo", "Bad Name: x\r\n" + size, inner), {400}},
      {"a body over the limit that ends in a request",
       post("/echo", "Content-Length: " + std::to_string(70'000 + inner.size()) + "\r\n",
            std::string(70'000, 'x') + inner),
       {413}},
      {"a chunk over the limit",
       post("/echo", "Transfer-Encoding: chunked\r\n", "fffff\r\n" + inner),
       {413}},
      {"a chunk size that overflows",
       post("/echo", "Transfer-Encoding: chunked\r\n", "100000000000000000\r\n" + inner),
       {400}},
      {"a chunk longer than its size",
       post("/echo", "Transfer-Encoding: chunked\r\n", "1\r\nxx\r\n0\r\n\r\n" + inner),
       {400}},
      {"a head over the limit", get("/echo", "A: " + std::string(17'000, 'x') + "\r\n"), {431}},
      {"a good request, then a bad one",
       get("/echo") + "bad\r\n\r\n" + get("/echo"),
       {200, 400},
       After::closed,
       1},
  });
}

TEST_CASE("G9 a 1 MB body behind a refusal does not destroy the answer, and none of it is served") {
  Edge edge;
  RawClient client(edge.port());
  std::string body = std::string(1'000'000, 'x') + get("/echo");
  CHECK(
      client.send(post("/echo", "Content-Length: " + std::to_string(body.size()) + "\r\n", body)));
  const auto answer = client.read_answer();
  REQUIRE(answer);
  CHECK(answer->status == 413);
  CHECK(answer->field("Connection") == "close");
  CHECK(client.is_closed());
  CHECK(edge.handler.reached == 0);
}

TEST_CASE("G9 an endless header line and an endless body are cut off, and memory stays flat") {
  const std::string megabyte(1024 * 1024, 'x');
  const std::string chunk = "400\r\n" + std::string(1024, 'x') + "\r\n";
  std::string chunks;
  while (chunks.size() < megabyte.size()) chunks += chunk;
  for (const auto& [start, endless] : std::vector<std::pair<std::string, std::string>>{
           {"GET /echo HTTP/1.1\r\nHost: a\r\nA: ", megabyte},
           {"GET /", megabyte},
           {post("/echo", "Transfer-Encoding: chunked\r\n"), chunks},
           {post("/echo", "Transfer-Encoding: chunked\r\n", "1;"), megabyte}}) {
    EdgeConfig config = Edge::defaults();
    config.linger_bytes_max = 2 * 1024 * 1024;
    Edge edge(config);
    RawClient client(edge.port());
    const std::size_t before = resident_kib();
    client.send(start);
    int sent = 0;
    while (sent < 100 && client.send(endless)) ++sent;
    CHECK(sent < 100);
    CHECK(resident_kib() < before + 8 * 1024);
    CHECK(edge.handler.reached == 0);
    RawClient next(edge.port());
    CHECK(is_open(next));
  }
}

TEST_CASE("requests that were sent at once are answered in their order, one at a time") {
  Edge edge;
  RawClient client(edge.port());
  std::string bytes;
  for (int i = 0; i < 500; ++i) {
    bytes += post("/echo?" + std::to_string(i), "Content-Length: 3\r\n", "abc");
  }
  client.send(bytes);
  for (int i = 0; i < 500; ++i) {
    const auto answer = client.read_answer();
    REQUIRE(answer);
    CHECK(answer->body == "POST /echo?" + std::to_string(i) + " [abc]");
  }
  CHECK(is_open(client));
}

TEST_CASE("a quick handler gets small requests that are alone on the edge's own thread") {
  EdgeConfig config = Edge::defaults();
  config.worker_threads = 1;
  Edge edge(config);
  RawClient client(edge.port());
  const auto thread_of = [&client](const std::string& bytes) {
    CHECK(client.send(bytes));
    const auto answer = client.read_answer();
    REQUIRE(answer);
    CHECK(answer->status == 200);
    return answer->body;
  };
  const std::string small = post("/thread", "Content-Length: 2\r\n", "{}");
  const std::string large = post("/thread", "Content-Length: 5000\r\n", std::string(5000, ' '));
  const std::string worker = thread_of(small);
  edge.handler.quick = true;
  // As soon as the worker sleeps again after its last request.
  CHECK(comes_true([&] { return thread_of(small) != worker; }));
  CHECK(thread_of(large) == worker);
  CHECK(thread_of(get("/thread")) == worker);  // may be a long document
  CHECK(thread_of(get("/thread", "Content-Length: 2\r\n") + "{}") == worker);
  CHECK(comes_true([&] { return thread_of(small) != worker; }));
  // A fault there is that one request's, as anywhere.
  CHECK(client.send(post("/throw", "Content-Length: 2\r\n", "{}")));
  CHECK(client.read_answer()->status == 500);
  CHECK(comes_true([&] { return thread_of(small) != worker; }));

  // While the worker is busy a request waits for it as the others do.
  RawClient blocked(edge.port());
  blocked.send(get("/block"));
  CHECK(comes_true([&] { return edge.handler.blocked == 1; }));
  CHECK(client.send(small));
  CHECK(comes_true([&] { return edge.counters().requests_waiting_now == 1; }));
  edge.handler.unblock();
  CHECK(client.read_answer()->body == worker);
  CHECK(blocked.read_answer()->status == 200);
}

TEST_CASE("a request behind one that still runs waits for it") {
  Edge edge;
  RawClient client(edge.port());
  client.send(get("/later") + get("/echo"));
  REQUIRE(comes_true([&] { return edge.handler.kept() == 1; }));
  CHECK(edge.handler.reached == 1);
  edge.handler.answer_kept();
  CHECK(client.read_answer()->body == "GET /later []");
  CHECK(client.read_answer()->body == "GET /echo []");
}

TEST_CASE("who expects 100-continue is told to go on before sending the body, and only then") {
  Edge edge;
  RawClient client(edge.port());
  client.send(post("/echo", "Expect: 100-continue\r\nContent-Length: 2\r\n"));
  CHECK(client.read_answer()->status == 100);
  CHECK(edge.handler.reached == 0);
  client.send("{}");
  CHECK(client.read_answer()->body == "POST /echo [{}]");

  client.send(post("/echo", "Expect: 100-continue\r\nContent-Length: 2\r\n", "{}"));
  CHECK(client.read_answer()->status == 200);

  client.send(post("/echo", "Expect: 100-continue\r\nContent-Length: 70000\r\n"));
  CHECK(client.read_answer()->status == 413);
  CHECK(client.is_closed());
}

TEST_CASE("the answer to HEAD has the length of the answer to GET and no body") {
  Edge edge;
  RawClient client(edge.port());
  client.send("HEAD /echo HTTP/1.1\r\nHost: a\r\n\r\n");
  const auto answer = client.read_answer(true);
  REQUIRE(answer);
  CHECK(answer->field("Content-Length") == std::to_string(std::string("HEAD /echo []").size()));
  CHECK(is_open(client));
  client.send("HEAD /echo HTTP/1.1\r\n\r\n");
  CHECK(client.read_answer(true)->status == 400);
  CHECK(client.is_closed());
}

TEST_CASE("a client that has finished writing is still answered") {
  Edge edge;
  RawClient client(edge.port());
  client.send(get("/later") + get("/echo"));
  client.finish_writing();
  REQUIRE(comes_true([&] { return edge.handler.kept() == 1; }));
  edge.handler.answer_kept();
  CHECK(client.read_answer()->status == 200);
  CHECK(client.read_answer()->status == 200);
  CHECK(client.is_closed());
}

TEST_CASE("an answer says its length and date, and how the connection goes on") {
  Edge edge;
  RawClient client(edge.port());
  client.send(get("/echo"));
  const auto kept = client.read_answer();
  CHECK(kept->head.substr(0, 17) == "HTTP/1.1 200 OK\r\n");
  CHECK(kept->field("Date").size() == 29);
  CHECK(kept->field("Connection") == "");
  client.send("GET /echo HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  CHECK(client.read_answer()->field("Connection") == "keep-alive");
  client.send(get("/echo", "Connection: close\r\n"));
  CHECK(client.read_answer()->field("Connection") == "close");
}

TEST_CASE("G9 a handler's fault is a 500 for one request and nothing for the others") {
  Edge edge;
  RawClient client(edge.port());
  for (const char* path : {"/throw", "/forget", "/split", "/too-big"}) {
    client.send(get(path));
    const auto answer = client.read_answer();
    REQUIRE(answer);
    CHECK(answer->status == 500);
    CHECK(answer->head.find("Injected") == std::string::npos);
  }
  client.send(get("/twice"));
  CHECK(client.read_answer()->status == 200);
  CHECK(is_open(client));
  CHECK(edge.counters().answers_missing == 2);
  CHECK(edge.counters().answers_unsendable == 2);
}

TEST_CASE("refusals look as the configured function says, and those to be retried say when") {
  EdgeConfig config = Edge::defaults();
  config.refuse = [](int status, std::string_view reason, std::string_view) {
    Response response;
    response.status = status;
    response.set("Content-Type", "application/problem+json");
    response.body = "{\"type\":\"/problems/" + std::string(reason) + "\"}";
    return response;
  };
  Edge edge(config);
  RawClient client(edge.port());
  client.send("bad\r\n\r\n");
  const auto answer = client.read_answer();
  CHECK(answer->field("Content-Type") == "application/problem+json");
  CHECK(answer->body == "{\"type\":\"/problems/request-line-invalid\"}");
  CHECK(answer->field("Retry-After") == "");
  CHECK(edge.counters().refusals_by_status[400] == 1);
}

}  // namespace oncepay::http::edge::testing

// G9 on the wire: framing that two readers could read differently, methods, pipelines, and clients
// that vanish. Exactly one answer a request, an embedded request never runs, the process stays.
#include <doctest/doctest.h>

#include "support/names.hpp"
#include "support/problem.hpp"
#include "support/shop.hpp"

namespace {

using namespace support;

Shop& shop() {
  static Shop instance;
  return instance;
}

const Payment& standing_payment() {
  static const Payment payment = shop().payment_between_new_accounts(1, 1'000'000);
  return payment;
}

// A request whose framing headers are exactly `framing`.
std::string framed(const std::string& framing, const std::string& body, const std::string& key) {
  return "POST /v1/payments HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer " + shop().tenant.api_key +
         "\r\nContent-Type: application/json\r\nIdempotency-Key: " + key + "\r\n" + framing +
         "\r\n" + body;
}

Client sending(const std::string& bytes) {
  Client client(shop().instance.port(), 15s);
  client.connect();
  client.write(bytes);
  return client;
}

// 400, closed at once, and nothing ran.
void expect_bad_framing(const std::string& framing, const std::string& body) {
  const std::string key = fresh_key();
  INFO("framing: ", framing);
  Client client = sending(framed(framing, body, key));
  const Stopwatch watch;
  const Answer answer = client.read();
  CHECK(answer.status == 400);
  CHECK(watch.elapsed() < 2s);
  CHECK(client.closed_by_peer(3s));
  CHECK(shop().key_rows(key) == 0);
}

std::string chunked(const std::string& body) {
  const auto hex = [](std::size_t size) {
    char text[32];
    std::snprintf(text, sizeof text, "%zx", size);
    return std::string(text);
  };
  const std::size_t half = body.size() / 2;
  return hex(half) + "\r\n" + body.substr(0, half) + "\r\n" + hex(body.size() - half) +
         ";name=value\r\n" + body.substr(half) + "\r\n0\r\n\r\n";
}

}  // namespace

TEST_CASE("a Content-Length that is no number, or two that differ, is answered 400 and closed") {
  // HTP-02
  const std::string body = standing_payment().json();
  const std::string size = std::to_string(body.size());
  for (const std::string& value :
       {std::string("x"), std::string("-1"), "+" + size, std::string("0x2"), std::string("2 2"),
        std::string("18446744073709551617"), std::string(""), size + "," + size + "1",
        size + ".0"}) {
    expect_bad_framing("Content-Length: " + value + "\r\n", body);
  }
  expect_bad_framing("Content-Length: 2\r\nContent-Length: " + size + "\r\n", body);
  expect_bad_framing("Content-Length: " + size + "\r\nContent-Length: 5\r\n", body);
}

TEST_CASE(
    "a body with two framings is answered 400 and closed: one of two readers would be wrong") {
  const std::string body = standing_payment().json();
  const std::string size = std::to_string(body.size());
  expect_bad_framing("Transfer-Encoding: chunked\r\nContent-Length: " + size + "\r\n",
                     chunked(body));
  expect_bad_framing("Content-Length: " + size + "\r\nTransfer-Encoding: chunked\r\n",
                     chunked(body));
  expect_bad_framing("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n",
                     chunked(body));
}

TEST_CASE("heads that no honest client sends are answered 400 and closed") {
  const std::string body = standing_payment().json();
  const std::string length = "Content-Length: " + std::to_string(body.size()) + "\r\n";
  expect_bad_framing(length + "Bad Header: x\r\n", body);
  expect_bad_framing(length + "X-Folded: a\r\n b\r\n", body);
  expect_bad_framing(length + ": nameless\r\n", body);
  expect_bad_framing(length + "NoColon\r\n", body);
  expect_bad_framing(length + "X-Blank : a\r\n", body);
  expect_bad_framing(length + "Host: another\r\n", body);
  for (const char* start :
       {"GET  /healthz HTTP/1.1\r\nHost: a\r\n\r\n", "GET /healthz\r\nHost: a\r\n\r\n",
        "GET /healthz HTTP/1.1\r\n\r\n", "GET healthz HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /healthz HTTP/x.y\r\nHost: a\r\n\r\n", " GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n"}) {
    INFO("request: ", start);
    Client client = sending(start);
    CHECK(client.read().status == 400);
    CHECK(client.closed_by_peer(3s));
  }
}

TEST_CASE("a chunked body is a body like any other") {
  const std::string key = fresh_key();
  const std::string body = standing_payment().json();
  Client client = sending(framed("Transfer-Encoding: chunked\r\n", chunked(body), key));
  const Answer first = client.read();
  expect_succeeded(first);
  expect_replay_of(first, shop().caller().replay(key, standing_payment()));
}

TEST_CASE("broken chunks are answered 400 and closed, too many of them 413") {
  const std::string body = standing_payment().json();
  for (const char* broken : {"x\r\n{}\r\n0\r\n\r\n", "-1\r\n", "ffffffffffffffffff\r\n",
                             "2\r\n{}xx\r\n0\r\n\r\n", "0x2\r\n{}\r\n0\r\n\r\n"}) {
    expect_bad_framing("Transfer-Encoding: chunked\r\n", broken);
  }
  Client client = sending(framed("Transfer-Encoding: chunked\r\n",
                                 chunked(body + std::string(70'000, ' ')), fresh_key()));
  CHECK(client.read().status == 413);
  CHECK(client.closed_by_peer(3s));
}

TEST_CASE("a POST without any length is answered at once, not waited for") {
  // HTP-05
  const Stopwatch watch;
  Client client = sending(framed("", "", fresh_key()));
  const Answer answer = client.read();
  CHECK((answer.status == 400 || answer.status == 411));
  CHECK(watch.elapsed() < 2s);
}

TEST_CASE("the unread rest of a refused body is never taken for a request") {
  // HTP-04: the body ends in a whole payment of its own.
  const std::string hidden_key = fresh_key();
  const std::string hidden =
      shop().caller().payment_request(hidden_key, standing_payment()).bytes();
  const std::string large = std::string(1'000'000, ' ') + hidden;
  const std::string small = std::string(1'000, ' ') + hidden;
  struct Attempt {
    const char* what;
    std::string head;
    std::string body;
    int status;
  };
  const std::string authorization = "Authorization: Bearer " + shop().tenant.api_key + "\r\n";
  const std::string json = "Content-Type: application/json\r\n";
  const std::string key = "Idempotency-Key: " + fresh_key() + "\r\n";
  for (const Attempt& attempt : {Attempt{"413", authorization + json + key, large, 413},
                                 {"401", json + key, small, 401},
                                 {"415", authorization + key, small, 415},
                                 {"400", authorization + json, small, 400}}) {
    INFO(attempt.what);
    Client client = sending("POST /v1/payments HTTP/1.1\r\nHost: a\r\n" + attempt.head +
                            "Content-Length: " + std::to_string(attempt.body.size()) + "\r\n\r\n" +
                            attempt.body);
    CHECK(client.read().status == attempt.status);
    if (!client.closed_by_peer(200ms)) {
      // Kept open: then it must be at the start of the next request.
      client.write(shop().caller().get_request("/v1/payments?limit=1").bytes());
      CHECK(client.read().status == 200);
    }
    CHECK(shop().key_rows(hidden_key) == 0);
  }
}

TEST_CASE("pipelined requests are answered one by one, in order") {
  std::string bytes;
  std::vector<std::string> keys;
  for (int i = 0; i < 10; ++i) {
    keys.push_back(fresh_key());
    bytes += shop().caller().payment_request(keys.back(), standing_payment().of(i + 1)).bytes();
  }
  Client client = sending(bytes);
  for (int i = 0; i < 10; ++i) {
    const Answer answer = client.read();
    expect_succeeded(answer);
    CHECK(answer.json().at("amount") == i + 1);
  }
  for (const std::string& key : keys) {
    CHECK(shop().payments_with_key(key) == 1);
  }
}

TEST_CASE("a request that arrives byte by byte is a request") {
  const std::string key = fresh_key();
  const std::string bytes = shop().caller().payment_request(key, standing_payment()).bytes();
  Client client = sending("");
  for (const char byte : bytes) {
    client.write(std::string_view(&byte, 1));
  }
  expect_succeeded(client.read());
}

TEST_CASE("Connection: close is honoured in any letters, and keep-alive is the default") {
  Request request = shop().caller().get_request("/v1/payments?limit=1");
  for (const char* close : {"close", "Close", "CLOSE"}) {
    Client client = sending(Request(request).with("Connection", close).bytes());
    CHECK(client.read().status == 200);
    CHECK(client.closed_by_peer(3s));
  }
  Client client = sending(request.bytes());
  CHECK(client.read().status == 200);
  client.write(request.bytes());
  CHECK(client.read().status == 200);
}

TEST_CASE("HEAD has the head of GET and no body; OPTIONS and unknown methods say what is allowed") {
  // HTP-12
  Caller caller = shop().caller();
  const std::string target = "/v1/payments?limit=1";
  Request head = caller.get_request(target);
  head.method = "HEAD";
  Client client = sending(head.bytes() + caller.get_request(target).bytes());
  CHECK(client.read(true).status == 200);
  CHECK(client.read().status == 200);  // a body after HEAD would be read as this answer
  for (const char* method : {"OPTIONS", "FOO", "PUT", "DELETE", "PATCH"}) {
    Request request = caller.get_request("/v1/payments");
    request.method = method;
    const Answer answer = caller.send(request);
    INFO(method, ": ", answer.text());
    // The contract's 405; a 204 would be as good for OPTIONS.
    CHECK((answer.status == 405 || (answer.status == 204 && request.method == "OPTIONS")));
    const std::string allowed = answer.header("Allow").value_or("");
    CHECK(allowed.find("POST") != std::string::npos);
    CHECK(allowed.find("GET") != std::string::npos);
  }
  for (const char* target_without_key : {"/healthz", "/readyz", "/metrics"}) {
    const Answer answer = Client(shop().instance.port()).send({"POST", target_without_key, {}, ""});
    CHECK(answer.status == 405);
    CHECK(answer.header("Allow").value_or("").find("GET") != std::string::npos);
  }
}

TEST_CASE("Range, Expect and Upgrade change no payment and cut no answer") {
  Caller caller = shop().caller();
  Request ranged = caller.payment_request(fresh_key(), standing_payment());
  expect_succeeded(caller.send(ranged.with("Range", "bytes=0-3")));
  Request upgrade = caller.get_request("/v1/payments?limit=1");
  CHECK(caller.send(upgrade.with("Upgrade", "h2c").with("Connection", "Upgrade")).status == 200);
}

TEST_CASE("every answer under /v1 carries no-store and a request id: the client's, if it is sane") {
  Caller caller = shop().caller();
  for (const char* target : {"/v1/payments", "/v1/nope", "/v1/accounts/nobody", "/v1/accounts"}) {
    const Answer answer = caller.get(target);
    INFO(target, ": ", answer.text());
    CHECK(answer.header("Cache-Control") == "no-store");
    CHECK(answer.count(headers::request_id) == 1);
    CHECK_FALSE(answer.header(headers::request_id).value_or("").empty());
  }
  for (const char* sane : {"abc-123", "0197f3c2-0000-7000-8000-000000000000", "A_b.c-1"}) {
    Request request = caller.get_request("/v1/payments/none");
    const Answer answer = caller.send(request.with(headers::request_id, sane));
    CHECK(answer.header(headers::request_id) == sane);
    CHECK(answer.json().at("instance") == sane);
  }
  for (const std::string& insane :
       {std::string(1000, 'x'), std::string("a b"), std::string("<script>"), std::string("é"),
        std::string("a\"b"), std::string("a%0d%0aX-Evil:1")}) {
    Request request = caller.get_request("/v1/payments/none");
    const Answer answer = caller.send(request.with(headers::request_id, insane));
    CHECK(answer.header(headers::request_id) != insane);
    CHECK_FALSE(answer.header(headers::request_id).value_or("").empty());
    CHECK(answer.count("X-Evil") == 0);
  }
  CHECK(caller.get("/v1/payments").header(headers::request_id) !=
        caller.get("/v1/payments").header(headers::request_id));
}

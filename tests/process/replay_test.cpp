// G4: replays are byte-identical, for as long as the key lives, from every instance. And what is
// the same request: the fingerprint sees meaning, not spelling.
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

// A body whose answer has unsorted members, a slash, a number with a zero and text outside ASCII.
std::string rich_body() {
  std::string body = standing_payment().json();
  body.insert(body.size() - 1,
              R"(,"metadata":{"zz":"1.0","a/b":"é \u2028 \"q\"","mm":"😀"},"description":"</ü>")");
  return body;
}

}  // namespace

TEST_CASE("G4 a replay has the same status, bytes, Content-Type and Location as the first answer") {
  // RPL-01, RPL-02
  const std::string key = fresh_key();
  Caller caller = shop().caller();
  const Answer first = caller.pay(key, rich_body());
  expect_succeeded(first);
  CHECK(first.header(headers::location).has_value());
  for (int i = 0; i < 5; ++i) {
    expect_replay_of(first, caller.pay(key, rich_body()));
  }
  CHECK(shop().payments_with_key(key) == 1);
}

TEST_CASE("G4 a replay comes with the same bytes from another instance") {
  const std::string key = fresh_key();
  const Instance other(shop().database);
  const Answer first = shop().caller().pay(key, rich_body());
  expect_replay_of(first, shop().caller_at(other).pay(key, rich_body()));
  expect_replay_of(first, shop().caller().pay(key, rich_body()));
  CHECK(shop().payments_with_key(key) == 1);
}

TEST_CASE("G4 a replay comes with the same bytes after a restart") {
  const std::string key = fresh_key();
  Instance other(shop().database);
  const Answer first = shop().caller_at(other).pay(key, rich_body());
  CHECK(other.terminate() == 0);
  other.restart();
  expect_replay_of(first, shop().caller_at(other).pay(key, rich_body()));
}

TEST_CASE("G4 a decline is final under its key, also when there is money now") {
  // FPR-07
  Caller caller = shop().caller();
  const std::string key = fresh_key();
  const Payment payment = shop().payment_between_new_accounts(500, 100);
  const Answer declined = caller.pay(key, payment);
  expect_problem(declined, 402, problems::insufficient_funds);
  caller.fund(payment.source, 1000);
  const Answer again = caller.replay(key, payment);
  expect_replay_of(declined, again);
  CHECK(payment_id_of(again) == payment_id_of(declined));
  CHECK(shop().payments_with_key(key) == 1);
  CHECK(caller.balance_of(payment.source) == 1100);
  // A new attempt is a new key.
  expect_succeeded(caller.pay(fresh_key(), payment));
}

TEST_CASE("a replay is a new exchange: its request id, date and connection are its own") {
  // RPL-01
  const std::string key = fresh_key();
  Caller caller = shop().caller();
  Request request = caller.payment_request(key, standing_payment());
  const Answer first = caller.send(request.with(headers::request_id, "first-1"));
  CHECK(first.header(headers::request_id) == "first-1");
  request.without(headers::request_id);
  const Answer replay = caller.send(request.with(headers::request_id, "second-2"));
  expect_replay_of(first, replay);
  CHECK(replay.header(headers::request_id) == "second-2");
  CHECK(replay.header("Cache-Control") == "no-store");
  CHECK(replay.body.find("first-1") == std::string::npos);
}

TEST_CASE("the marker of a replay is a header and never part of the body") {
  // RPL-01
  const std::string key = fresh_key();
  Caller caller = shop().caller();
  caller.pay(key, standing_payment());
  const Answer replay = caller.replay(key, standing_payment());
  CHECK(replay.count(headers::replayed) == 1);
  CHECK(replay.body.find("replay") == std::string::npos);
}

TEST_CASE("member order, white space and escapes do not make another request") {
  // FPR-03
  const Payment& p = standing_payment();
  const std::string key = fresh_key();
  Caller caller = shop().caller();
  const Answer first = caller.pay(key, R"({"amount":1,"currency":"EUR","source":")" + p.source +
                                           R"(","destination":")" + p.destination +
                                           R"(","metadata":{"a":"1","b":"é/"},"description":"x"})");
  expect_succeeded(first);
  const std::string reversed =
      "\r\n{ \"metadata\" :\t{\"b\":\"\\u00e9\\/\", \"a\":\"\\u0031\"},\n"
      "\"description\":\"\\u0078\",\"destination\":\"" +
      p.destination + "\",\"sou\\u0072ce\":\"" + p.source +
      "\",\"currency\":\"\\u0045UR\",\n  \"amount\":1}\n";
  expect_replay_of(first, caller.pay(key, reversed));
  CHECK(shop().payments_with_key(key) == 1);
}

TEST_CASE("any other meaning is another request: amount, accounts, currency, text, a pair more") {
  const Payment& p = standing_payment();
  const std::string key = fresh_key();
  Caller caller = shop().caller();
  const auto body = [&](const std::string& more) {
    std::string text = p.json();
    text.insert(text.size() - 1, more);
    return text;
  };
  const Answer first = caller.pay(key, body(R"(,"metadata":{"a":"1"},"description":"e\u0301")"));
  expect_succeeded(first);
  Payment swapped = p;
  swapped.source.swap(swapped.destination);
  Payment dollars = p;
  dollars.currency = "USD";
  for (const std::string& other : {p.of(2).json(), swapped.json(), dollars.json(), p.json(),
                                   body(R"(,"metadata":{"a":"1"},"description":"é")"),
                                   body(R"(,"metadata":{"a":"1"},"description":"e\u0301 ")"),
                                   body(R"(,"metadata":{"a":"2"},"description":"e\u0301")"),
                                   body(R"(,"metadata":{"b":"1"},"description":"e\u0301")"),
                                   body(R"(,"metadata":{"a":"1","b":""},"description":"e\u0301")"),
                                   body(R"(,"metadata":{"a":"1"})")}) {
    INFO("body: ", other);
    expect_problem(caller.pay(key, other), 422, problems::key_reused);
  }
  CHECK(shop().payments_with_key(key) == 1);
}

TEST_CASE("headers are no part of the fingerprint") {
  const std::string key = fresh_key();
  Caller caller = shop().caller();
  const Answer first = caller.pay(key, standing_payment());
  Request other = caller.payment_request(key, standing_payment());
  other.without(headers::content_type)
      .with(headers::content_type, "application/json; charset=utf-8")
      .with("User-Agent", "another/2")
      .with("Accept", "application/json");
  expect_replay_of(first, caller.send(other));
}

TEST_CASE("another API key of the same tenant replays, for the key belongs to the tenant") {
  const std::string key = fresh_key();
  const Answer first = shop().caller().pay(key, standing_payment());
  Caller colleague(shop().instance.port(),
                   create_api_key(shop().database, shop().tenant.name, "read,write"));
  expect_replay_of(first, colleague.replay(key, standing_payment()));
}

TEST_CASE("two tenants with the same key and the same body have two payments") {
  // FPR-01
  const Tenant other = create_tenant(shop().database);
  Caller stranger(shop().instance, other);
  Caller caller = shop().caller();
  const std::string key = fresh_key();
  const Payment payment = shop().payment_between_new_accounts();
  for (const std::string& account : {payment.source, payment.destination}) {
    REQUIRE(stranger
                .open(fresh_key(), R"({"id":)" + json_text(account) +
                                       R"(,"currency":"EUR","overdraft_limit":null})")
                .status == 201);
  }
  const Answer ours = caller.pay(key, payment);
  const Answer theirs = stranger.pay(key, payment);
  expect_succeeded(ours);
  expect_succeeded(theirs);
  CHECK_FALSE(theirs.replayed());
  CHECK(payment_id_of(ours) != payment_id_of(theirs));
  expect_replay_of(ours, caller.replay(key, payment));
  expect_replay_of(theirs, stranger.replay(key, payment));
  CHECK(shop().payments_with_key(key) == 1);
  CHECK(shop().database.payments_with_key(other.id, key) == 1);
}

TEST_CASE("a fingerprint's version is stored with the key") {
  // MIG-09: a later release can still answer older keys.
  const std::string key = fresh_key();
  shop().caller().pay(key, standing_payment());
  CHECK(shop().database.sql().number(
            "SELECT fingerprint_version FROM idempotency_keys WHERE key = $1", {key}) >= 1);
  CHECK(shop().database.sql().number(
            "SELECT octet_length(fingerprint) FROM idempotency_keys WHERE key = $1", {key}) == 32);
}

TEST_CASE("CMT-07 a payment can be read and replayed the moment it is answered, on any instance") {
  const Instance other(shop().database);
  Caller here = shop().caller();
  Caller there = shop().caller_at(other);
  for (int i = 0; i < 50; ++i) {
    const std::string key = fresh_key();
    const Answer first = here.pay(key, standing_payment());
    CHECK(there.get(first.header(headers::location).value_or("/")).status == 200);
    expect_replay_of(first, there.replay(key, standing_payment()));
  }
}

TEST_CASE("CLT-01 another key is another purchase, however equal the body") {
  // Both are valid by contract; what protects the client is to keep its key.
  Caller caller = shop().caller();
  const Payment payment = shop().payment_between_new_accounts(10, 100);
  const Answer one = caller.pay(fresh_key(), payment);
  const Answer two = caller.pay(fresh_key(), payment);
  expect_succeeded(one);
  expect_succeeded(two);
  CHECK(payment_id_of(one) != payment_id_of(two));
  CHECK(caller.balance_of(payment.source) == 80);
}

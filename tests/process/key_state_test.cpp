// GET /v1/idempotency-keys/{key}: what became of a key, for a client that lost its answer. Reads
// only: it executes nothing and claims nothing.
#include <doctest/doctest.h>

#include "support/holds.hpp"
#include "support/names.hpp"
#include "support/problem.hpp"
#include "support/shop.hpp"

namespace {

using namespace support;

Shop& shop() {
  static Shop instance({"--lock-timeout=20000"});
  return instance;
}

std::string target_of(const std::string& encoded_key) {
  return "/v1/idempotency-keys/" + encoded_key;
}

bool has_member_with(const nlohmann::json& object, const nlohmann::json& value) {
  return std::any_of(object.begin(), object.end(),
                     [&](const nlohmann::json& member) { return member == value; });
}

}  // namespace

TEST_CASE("a completed key shows its payment, its times and its original status") {
  Caller caller = shop().caller();
  const std::string key = fresh_key();
  const Answer paid = caller.pay(key, shop().payment_between_new_accounts());
  const Answer state = caller.get(target_of(key));
  REQUIRE(state.status == 200);
  const nlohmann::json body = state.json();
  CHECK(body.at("status") == "completed");
  CHECK(body.at("payment_id") == payment_id_of(paid));
  CHECK_FALSE(body.at("created_at").get<std::string>().empty());
  CHECK_FALSE(body.at("expires_at").get<std::string>().empty());
  CHECK(body.at("created_at").get<std::string>() < body.at("expires_at").get<std::string>());
  CHECK(has_member_with(body, 201));
  CHECK(state.header("Cache-Control") == "no-store");
}

TEST_CASE("a key that ended in a decline shows 402 and the declined payment") {
  Caller caller = shop().caller();
  const std::string key = fresh_key();
  const Answer declined = caller.pay(key, shop().payment_between_new_accounts(500, 100));
  const nlohmann::json body = caller.get(target_of(key)).json();
  CHECK(body.at("status") == "completed");
  CHECK(body.at("payment_id") == payment_id_of(declined));
  CHECK(has_member_with(body, 402));
}

TEST_CASE("a key that nobody has used, or another tenant has, is answered 404 and stays unused") {
  Caller caller = shop().caller();
  const std::string key = fresh_key();
  expect_problem(caller.get(target_of(key)), 404, problems::any);
  CHECK(shop().key_rows(key) == 0);
  const Payment payment = shop().payment_between_new_accounts();
  expect_succeeded(caller.pay(key, payment));
  Caller stranger(shop().instance, create_tenant(shop().database));
  expect_problem(stranger.get(target_of(key)), 404, problems::any);
}

TEST_CASE("a key refused before the claim is answered 404") {
  Caller caller = shop().caller();
  const std::string key = fresh_key();
  Payment payment = shop().payment_between_new_accounts();
  payment.destination = "nobody";
  expect_problem(caller.pay(key, payment), 422, problems::account_not_found);
  expect_problem(caller.get(target_of(key)), 404, problems::any);
}

TEST_CASE("the path names a key percent-encoded, the header names it raw") {
  Caller caller = shop().caller();
  const std::string stem = fresh_key();
  const Payment payment = shop().payment_between_new_accounts();
  const std::string slash = payment_id_of(caller.pay(stem + "/b", payment));
  const std::string percent = payment_id_of(caller.pay(stem + "%2Fb", payment));
  REQUIRE(slash != percent);
  CHECK(caller.get(target_of(stem + "%2Fb")).json().at("payment_id") == slash);
  CHECK(caller.get(target_of(stem + "%252Fb")).json().at("payment_id") == percent);
}

TEST_CASE("a key that is an account's shows its status without a payment") {
  Caller caller = shop().caller();
  const std::string key = fresh_key();
  REQUIRE(caller.open(key, R"({"id":"key-state","currency":"EUR"})").status == 201);
  const nlohmann::json body = caller.get(target_of(key)).json();
  CHECK(body.at("status") == "completed");
  CHECK(body.value("payment_id", nlohmann::json()).is_null());
  CHECK(has_member_with(body, 201));
}

TEST_CASE("a key that is being decided is shown as processing, and looking does not decide it") {
  Caller caller = shop().caller();
  const std::string key = fresh_key();
  const Payment payment = shop().payment_between_new_accounts();
  AccountHold hold(shop().database, shop().tenant.id, payment.source);
  Client first(shop().instance.port());
  first.connect();
  first.write(caller.payment_request(key, payment).bytes());
  REQUIRE(hold.somebody_waits());

  const Answer state = caller.get(target_of(key));
  INFO("answer: ", state.text());
  CHECK(state.status == 200);
  CHECK(state.json().value("status", "") == "processing");
  hold.release();
  expect_succeeded(first.read());
  CHECK(caller.get(target_of(key)).json().at("status") == "completed");
  CHECK(shop().payments_with_key(key) == 1);
}

#include "support/shop.hpp"

#include <doctest/doctest.h>

#include <regex>
#include <stdexcept>

#include "support/names.hpp"
#include "support/problem.hpp"

namespace support {
namespace {

void expect_created(const Answer& answer, const char* what) {
  if (answer.status != 201) {
    throw std::runtime_error(std::string(what) + " failed: " + answer.text());
  }
}

}  // namespace

std::string create_api_key(const Database& database, const std::string& tenant,
                           const std::string& scopes) {
  const Finished made =
      database.run_oncepay({"apikey", "create", "--tenant", tenant, "--scopes", scopes});
  std::smatch key;
  if (made.exit_code != 0 || !std::regex_search(made.out, key, std::regex("opk_[A-Za-z0-9_.-]+"))) {
    throw std::runtime_error("apikey create failed:\n" + made.all());
  }
  return key.str();
}

Tenant create_tenant(Database& database, const std::string& scopes) {
  Tenant tenant;
  tenant.name = fresh_name("tenant-");
  const Finished made = database.run_oncepay({"tenant", "create", tenant.name});
  if (made.exit_code != 0) {
    throw std::runtime_error("tenant create failed:\n" + made.all());
  }
  tenant.id = database.sql().text("SELECT id FROM tenants WHERE name = $1", {tenant.name});
  tenant.api_key = create_api_key(database, tenant.name, scopes);
  return tenant;
}

std::string Payment::json() const {
  return R"({"amount":)" + std::to_string(amount) + R"(,"currency":)" + json_text(currency) +
         R"(,"source":)" + json_text(source) + R"(,"destination":)" + json_text(destination) + "}";
}

Payment Payment::of(std::int64_t other_amount) const {
  Payment other = *this;
  other.amount = other_amount;
  return other;
}

std::string json_text(const std::string& text) { return nlohmann::json(text).dump(); }

std::string fresh_key() { return fresh_name("key-"); }

Caller::Caller(std::uint16_t port, std::string api_key)
    : api_key_(std::move(api_key)), client_(port) {}

Caller::Caller(const Instance& instance, const Tenant& tenant)
    : Caller(instance.port(), tenant.api_key) {}

Request Caller::get_request(const std::string& target) const {
  Request request{"GET", target, {}, ""};
  return request.with(headers::authorization, "Bearer " + api_key_);
}

Request Caller::post_request(std::string_view path, const std::string& key,
                             const std::string& body) const {
  Request request{"POST", std::string(path), {}, body};
  return request.with(headers::authorization, "Bearer " + api_key_)
      .with(headers::idempotency_key, key)
      .with(headers::content_type, "application/json");
}

Request Caller::payment_request(const std::string& key, const Payment& payment) const {
  return post_request(paths::payments, key, payment.json());
}

Answer Caller::get(const std::string& target) { return send(get_request(target)); }

Answer Caller::pay(const std::string& key, const Payment& payment) {
  return pay(key, payment.json());
}

Answer Caller::pay(const std::string& key, const std::string& body) {
  return send(post_request(paths::payments, key, body));
}

Answer Caller::pay_waiting(const std::string& key, const Payment& payment, int seconds) {
  return send(payment_request(key, payment).with("Prefer", "wait=" + std::to_string(seconds)));
}

Answer Caller::open(const std::string& key, const std::string& body) {
  return send(post_request(paths::accounts, key, body));
}

std::string Caller::open_account(const std::string& currency, const std::string& overdraft_limit) {
  const std::string id = fresh_name("a:");
  expect_created(
      open(fresh_key(), R"({"id":)" + json_text(id) + R"(,"currency":)" + json_text(currency) +
                            R"(,"overdraft_limit":)" + overdraft_limit + "}"),
      "opening an account");
  return id;
}

void Caller::fund(const std::string& account, std::int64_t amount, const std::string& currency) {
  const std::string world = open_account(currency, "null");
  expect_created(pay(fresh_key(), Payment{amount, currency, world, account}), "funding");
}

std::string Caller::open_funded_account(std::int64_t amount, const std::string& currency) {
  std::string account = open_account(currency);
  fund(account, amount, currency);
  return account;
}

std::int64_t Caller::balance_of(const std::string& account) {
  const Answer answer = get("/v1/accounts/" + account);
  if (answer.status != 200) {
    throw std::runtime_error("reading an account failed: " + answer.text());
  }
  return answer.json().at("balance").get<std::int64_t>();
}

Shop::Shop(const Instance::Flags& flags, const Environment& environment)
    : instance(database, flags, environment), tenant(create_tenant(database)) {}

Shop::Shop(Database given, const Instance::Flags& flags)
    : database(std::move(given)), instance(database, flags), tenant(create_tenant(database)) {}

Payment Shop::payment_between_new_accounts(std::int64_t amount, std::int64_t funds) {
  Caller caller = this->caller();
  return {amount, "EUR", caller.open_funded_account(funds), caller.open_account()};
}

std::int64_t Shop::payments_with_key(const std::string& key) {
  return database.payments_with_key(tenant.id, key);
}

std::int64_t Shop::key_rows(const std::string& key) { return database.key_rows(tenant.id, key); }

void expect_paid_once(Caller& caller, const std::string& key, const Payment& payment) {
  const Answer first = caller.pay(key, payment);
  expect_succeeded(first);
  expect_replay_of(first, caller.replay(key, payment));
  CHECK(caller.pay(key, payment.of(1)).status == 422);
  CHECK(caller.pay(fresh_key(), payment).status == 402);
}

void expect_recovered(Shop& shop, const Instance& instance) {
  Caller caller = shop.caller_at(instance);
  const Payment payment{100, "EUR", caller.open_funded_account(1000), caller.open_account()};
  const std::string key = fresh_key();
  const Answer answer = caller.pay(key, payment);
  INFO("a fresh payment after the fault: ", answer.text());
  CHECK(answer.status == 201);
  CHECK(shop.payments_with_key(key) == 1);
  CHECK(broken_books(shop.database) == "");
}

void expect_recovered(Shop& shop) { expect_recovered(shop, shop.instance); }

}  // namespace support

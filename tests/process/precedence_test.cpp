// "In this order; the first that applies is the answer." A request that breaks two rows of the
// contract's table is answered by the smaller one, for every pair that one request can break.
// Pairs with row 9 are in in_progress_test.cpp, with row 10 in overload_test.cpp.
#include <doctest/doctest.h>

#include <functional>

#include "support/names.hpp"
#include "support/problem.hpp"
#include "support/shop.hpp"

namespace {

using namespace support;

// What a payment is made of, before it is put together.
struct Draft {
  std::string method = "POST";
  std::string target{paths::payments};
  std::string authorization;
  std::string content_type = "application/json";
  std::string key = fresh_key();
  Payment payment;
  std::string padding;

  Request request() const {
    Request out{method, target, {}, payment.json() + padding};
    const auto add = [&out](std::string_view name, const std::string& value) {
      if (!value.empty()) {
        out.with(name, value);
      }
    };
    add(headers::authorization, authorization);
    add(headers::content_type, content_type);
    add(headers::idempotency_key, key);
    return out;
  }
};

struct Violation {
  int row;
  const char* what;
  int status;
  std::string_view type;
  std::function<void(Draft&)> commit;
};

// Everything that stands ready in the database for one request to be wrong about.
struct Stage {
  Shop shop;
  std::string reader = create_api_key(shop.database, shop.tenant.name, "read");
  std::string used_key = fresh_key();
  Payment payment = shop.payment_between_new_accounts(1, 1'000'000);
  std::string poor = shop.caller().open_account();
  std::string dollars = shop.caller().open_account("USD");

  Stage() { expect_succeeded(shop.caller().pay(used_key, payment.of(7))); }

  Draft draft() const {
    Draft out;
    out.authorization = "Bearer " + shop.tenant.api_key;
    out.payment = payment;
    return out;
  }
};

Stage& stage() {
  static Stage instance;
  return instance;
}

std::vector<Violation> violations() {
  return {
      {1, "body over 64 KiB", 413, problems::any,
       [](Draft& d) { d.padding = std::string(66'000, ' '); }},
      {2, "no API key", 401, problems::any, [](Draft& d) { d.authorization.clear(); }},
      {2, "unknown API key", 401, problems::any,
       [](Draft& d) { d.authorization = "Bearer opk_unknown"; }},
      {2, "scope missing", 403, problems::any,
       [](Draft& d) { d.authorization = "Bearer " + stage().reader; }},
      {3, "unknown path", 404, problems::any, [](Draft& d) { d.target = "/v1/nope"; }},
      {3, "other method", 405, problems::any, [](Draft& d) { d.method = "PUT"; }},
      {4, "text/plain", 415, problems::any, [](Draft& d) { d.content_type = "text/plain"; }},
      {5, "no key", 400, problems::key_missing, [](Draft& d) { d.key.clear(); }},
      {5, "malformed key", 400, problems::key_invalid, [](Draft& d) { d.key = "a b"; }},
      {6, "trailing bytes", 400, problems::invalid_json, [](Draft& d) { d.padding += "]"; }},
      {6, "amount 0", 400, problems::invalid_request, [](Draft& d) { d.payment.amount = 0; }},
      {7, "key reused", 422, problems::key_reused, [](Draft& d) { d.key = stage().used_key; }},
      {11, "unknown account", 422, problems::account_not_found,
       [](Draft& d) { d.payment.destination = "nobody"; }},
      {11, "other currency", 422, problems::currency_mismatch,
       [](Draft& d) { d.payment.destination = stage().dollars; }},
      {12, "no money", 402, problems::insufficient_funds,
       [](Draft& d) { d.payment.source = stage().poor; }},
  };
}

// Which two cannot be in one request, or have no order the contract fixes.
bool in_one_request(const Violation& first, const Violation& second) {
  const bool scope_of_an_unknown_path = first.status == 403 && second.row == 3;
  const bool no_key_and_a_used_one = first.row == 5 && second.row == 7;
  return first.row < second.row && !scope_of_an_unknown_path && !no_key_and_a_used_one;
}

void expect_answer_of(const Violation& row, const Answer& answer) {
  CHECK(answer.status == row.status);
  if (!row.type.empty()) {
    CHECK(answer.type() == row.type);
  }
}

}  // namespace

TEST_CASE("a request that breaks two rows of the table gets the answer of the smaller row") {
  const std::int64_t payments_before = stage().shop.database.payments();
  const std::vector<Violation> all = violations();
  int pairs = 0;
  for (const Violation& first : all) {
    for (const Violation& second : all) {
      if (!in_one_request(first, second)) {
        continue;
      }
      Draft draft = stage().draft();
      first.commit(draft);
      second.commit(draft);
      CAPTURE(first.what);
      CAPTURE(second.what);
      Caller caller = stage().shop.caller();
      const Answer answer = caller.send(draft.request());
      CAPTURE(answer.text());
      expect_answer_of(first, answer);
      ++pairs;
    }
  }
  CHECK(pairs > 70);
  CHECK(stage().shop.database.payments() == payments_before);
}

TEST_CASE("each row alone gets its own answer, so that the pairs above compare what they say") {
  for (const Violation& row : violations()) {
    Draft draft = stage().draft();
    row.commit(draft);
    CAPTURE(row.what);
    Caller caller = stage().shop.caller();
    const Answer answer = caller.send(draft.request());
    CAPTURE(answer.text());
    expect_answer_of(row, answer);
  }
}

TEST_CASE("a replay comes before every check of accounts and balances") {
  Caller caller = stage().shop.caller();
  const Payment all_of_it = stage().shop.payment_between_new_accounts(500, 500);
  const std::string key = fresh_key();
  const Answer first = caller.pay(key, all_of_it);
  expect_succeeded(first);
  REQUIRE(caller.balance_of(all_of_it.source) == 0);
  expect_replay_of(first, caller.replay(key, all_of_it));
}

TEST_CASE("authentication comes before a replay: a stranger learns nothing from a known key") {
  Request request = stage().shop.caller().payment_request(stage().used_key, stage().payment.of(7));
  request.without(headers::authorization);
  const Answer answer = Client(stage().shop.instance.port()).send(request);
  expect_problem(answer, 401, problems::any);
  CHECK_FALSE(answer.replayed());
}

// Accounts: opened once, with a floor that holds, and shown with what can be spent.
#include <doctest/doctest.h>

#include "support/crowd.hpp"
#include "support/names.hpp"
#include "support/problem.hpp"
#include "support/shop.hpp"

namespace {

using namespace support;

Shop& shop() {
  static Shop instance;
  return instance;
}

std::string account_json(const std::string& id, const std::string& more = "") {
  return R"({"id":)" + json_text(id) + R"(,"currency":"EUR")" + more + "}";
}

void expect_invalid(const std::string& body, const std::string& pointer) {
  const std::string key = fresh_key();
  const Answer answer = shop().caller().open(key, body);
  INFO("body: ", body);
  expect_problem(answer, 400, problems::invalid_request);
  INFO("expected pointer: ", pointer);
  CHECK(names_pointer(answer, pointer));
  CHECK(shop().key_rows(key) == 0);
}

}  // namespace

TEST_CASE("an opened account is answered 201 with its Location and reads back the same") {
  const std::string id = fresh_name("customer:");
  Caller caller = shop().caller();
  const Answer opened = caller.open(fresh_key(), account_json(id, R"(,"overdraft_limit":250)"));
  REQUIRE(opened.status == 201);
  CHECK(opened.header(headers::location) == "/v1/accounts/" + id);
  CHECK(opened.json().at("id") == id);
  CHECK(opened.json().at("currency") == "EUR");
  CHECK(opened.json().at("overdraft_limit") == 250);

  const nlohmann::json read = caller.get("/v1/accounts/" + id).json();
  CHECK(read.at("id") == id);
  CHECK(read.at("object") == "account");
  CHECK(read.at("currency") == "EUR");
  CHECK(read.at("overdraft_limit") == 250);
  CHECK(read.at("balance") == 0);
  CHECK(read.at("available") == read.at("balance"));  // equal until holds exist
}

TEST_CASE("an account's floor is zero by default, as deep as said, or none at all with null") {
  Caller caller = shop().caller();
  const std::string by_default = fresh_name("d:");
  REQUIRE(caller.open(fresh_key(), account_json(by_default)).status == 201);
  CHECK(caller.get("/v1/accounts/" + by_default).json().at("overdraft_limit") == 0);
  const std::string destination = caller.open_account();
  const auto pay_from = [&](const std::string& account, std::int64_t amount) {
    return caller.pay(fresh_key(), Payment{amount, "EUR", account, destination}).status;
  };
  CHECK(pay_from(by_default, 1) == 402);

  const std::string limited = caller.open_account("EUR", "100");
  CHECK(pay_from(limited, 101) == 402);
  CHECK(pay_from(limited, 60) == 201);
  CHECK(pay_from(limited, 41) == 402);
  CHECK(pay_from(limited, 40) == 201);
  CHECK(pay_from(limited, 1) == 402);
  CHECK(caller.balance_of(limited) == -100);

  const std::string world = caller.open_account("EUR", "null");
  CHECK(pay_from(world, 1'000'000'000'000) == 201);
  const nlohmann::json read = caller.get("/v1/accounts/" + world).json();
  CHECK(read.at("overdraft_limit").is_null());
  CHECK(read.at("balance") == -1'000'000'000'000);
}

TEST_CASE("an account is opened once: the same request again is a replay") {
  const std::string key = fresh_key();
  const std::string body = account_json(fresh_name("once:"));
  Caller caller = shop().caller();
  const Answer first = caller.open(key, body);
  REQUIRE(first.status == 201);
  expect_replay_of(first, caller.open(key, body));
}

TEST_CASE("a taken id is answered 409 account-exists and changes nothing") {
  const std::string id = fresh_name("taken:");
  Caller caller = shop().caller();
  REQUIRE(caller.open(fresh_key(), account_json(id)).status == 201);
  const std::string key = fresh_key();
  const std::string other = account_json(id, R"(,"overdraft_limit":null)");
  expect_problem(caller.open(key, other), 409, problems::account_exists);
  const Answer again = caller.open(key, other);
  CHECK(again.status == 409);  // whether or not it is kept under the key
  CHECK(again.type() == problems::account_exists);
  CHECK(caller.get("/v1/accounts/" + id).json().at("overdraft_limit") == 0);
}

TEST_CASE("of many who open one id at once exactly one succeeds") {
  const std::string id = fresh_name("race:");
  const auto answers = all_at_once(
      16, [&](std::size_t) { return shop().caller().open(fresh_key(), account_json(id)).status; });
  CHECK(std::count(answers.begin(), answers.end(), 201) == 1);
  CHECK(std::count(answers.begin(), answers.end(), 409) == 15);
}

TEST_CASE("an id is unique inside its tenant alone") {
  const std::string id = fresh_name("shared:");
  const Tenant other = create_tenant(shop().database);
  CHECK(shop().caller().open(fresh_key(), account_json(id)).status == 201);
  Caller stranger(shop().instance, other);
  CHECK(stranger.get("/v1/accounts/" + id).status == 404);
  CHECK(stranger.open(fresh_key(), account_json(id)).status == 201);
}

TEST_CASE("ids have 1 to 64 of A-Z a-z 0-9 : . _ -") {
  Caller caller = shop().caller();
  std::string longest = fresh_name("Az09:._-");
  longest.resize(64, 'x');
  for (const std::string& id : {longest, std::string("x"), std::string("-"), std::string(".."),
                                std::string("A"), std::string("a")}) {
    INFO("id: ", id);
    CHECK(caller.open(fresh_key(), account_json(id)).status == 201);
    CHECK(caller.get("/v1/accounts/" + id).json().at("id") == id);
  }
  for (const std::string& id :
       {std::string(), longest + "x", std::string("a b"), std::string("a/b"), std::string("a%20b"),
        std::string("é"), std::string("a\n"), std::string("a?"), std::string("a#"),
        std::string("a@b")}) {
    expect_invalid(account_json(id), "/id");
  }
  expect_invalid(R"({"id":7,"currency":"EUR"})", "/id");
  expect_invalid(R"({"currency":"EUR"})", "/id");
}

TEST_CASE("a floor is an integer from 0 or null; a currency is one of ISO 4217") {
  for (const char* limit : {"-1", "1.5", "1.0", "1e2", "\"0\"", "true", "[]", "{}",
                            "9223372036854775808", "18446744073709551617"}) {
    expect_invalid(account_json("floor", std::string(R"(,"overdraft_limit":)") + limit),
                   "/overdraft_limit");
  }
  expect_invalid(R"({"id":"floor","currency":"eur"})", "/currency");
  expect_invalid(R"({"id":"floor"})", "/currency");
  expect_invalid(account_json("floor", R"(,"balance":100)"), "/balance");
  expect_invalid(account_json("floor", R"(,"name":"x")"), "/name");
  CHECK(shop().caller().get("/v1/accounts/floor").status == 404);
}

TEST_CASE("an account that is not there is answered 404") {
  Caller caller = shop().caller();
  for (const char* target : {"/v1/accounts/nobody", "/v1/accounts/nobody/entries",
                             "/v1/accounts/a%20b", "/v1/accounts/%00"}) {
    INFO("target: ", target);
    const Answer answer = caller.get(target);
    // A name that no account can have may be no well-formed request either.
    CHECK((answer.status == 404 || (answer.status == 400 && std::string(target).ends_with("%00"))));
  }
  expect_problem(caller.get("/v1/accounts/nobody"), 404, problems::any);
}

TEST_CASE(
    "a balance stays an integer that every JSON reader can hold, or the payment is declined") {
  // The contract's `balance-limit`: wherever the limit lies, reaching it is an answer, not an
  // overflow.
  Caller caller = shop().caller();
  const std::string world = caller.open_account("EUR", "null");
  const std::string rich = caller.open_account();
  const Payment largest{9007199254740991, "EUR", world, rich};
  std::int64_t booked = 0;
  int status = 201;
  for (int i = 0; i < 1100 && status == 201; ++i) {
    const std::string key = fresh_key();
    const Answer answer = caller.pay(key, largest);
    status = answer.status;
    if (status == 201) {
      booked += largest.amount;
      continue;
    }
    expect_problem(answer, 402, problems::balance_limit);
    CHECK(caller.get("/v1/payments/" + payment_id_of(answer)).json().at("status") == "declined");
    expect_replay_of(answer, caller.replay(key, largest));
  }
  CHECK(status == 402);
  CHECK(caller.balance_of(rich) == booked);
  CHECK(caller.balance_of(world) == -booked);
  expect_recovered(shop());
}

// The members of a payment at their edges: what is taken, what is refused with 400 and a pointer
// before anything is claimed. Table by table, one line an attempt. Ids in comments: cases of the
// field.
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

// A payment's JSON as raw text by member, so that any text can stand where a value should.
class Body {
 public:
  Body()
      : members_{{"amount", "1"},
                 {"currency", "\"EUR\""},
                 {"source", json_text(standing_payment().source)},
                 {"destination", json_text(standing_payment().destination)}} {}

  Body& set(const std::string& name, const std::string& raw) {
    remove(name);
    members_.emplace_back(name, raw);
    return *this;
  }
  Body& remove(const std::string& name) {
    std::erase_if(members_, [&](const auto& member) { return member.first == name; });
    return *this;
  }
  std::string text() const {
    std::string out = "{";
    for (const auto& [name, raw] : members_) {
      out += (out.size() > 1 ? "," : "") + json_text(name) + ":" + raw;
    }
    return out + "}";
  }

 private:
  std::vector<std::pair<std::string, std::string>> members_;
};

Answer expect_invalid(const Body& body, const std::string& pointer) {
  const std::string key = fresh_key();
  const Answer answer = shop().caller().pay(key, body.text());
  INFO("body: ", body.text().substr(0, 400));
  expect_problem(answer, 400, problems::invalid_request);
  INFO("expected pointer: ", pointer);
  CHECK(names_pointer(answer, pointer));
  CHECK(shop().key_rows(key) == 0);
  CHECK(shop().payments_with_key(key) == 0);
  return answer;
}

Answer expect_taken(const Body& body) {
  INFO("body: ", body.text().substr(0, 400));
  const Answer answer = shop().caller().pay(fresh_key(), body.text());
  expect_succeeded(answer);
  return answer;
}

std::string repeated(const std::string& text, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) {
    out += text;
  }
  return out;
}

std::string metadata_of(int pairs, const std::string& name_prefix = "n") {
  std::string out;
  for (int i = 0; i < pairs; ++i) {
    out += (i > 0 ? ",\"" : "\"") + name_prefix + std::to_string(i) + R"(":"v")";
  }
  return "{" + out + "}";
}

}  // namespace

TEST_CASE("an amount is a positive JSON integer; anything else is refused before a claim") {
  // MNY-04, MNY-06, and what a narrowing reader would let through.
  for (const char* amount : {"10.0",
                             "10.99",
                             "1.5",
                             "1e3",
                             "1E3",
                             "1e0",
                             "\"10\"",
                             "\"1000\"",
                             "true",
                             "false",
                             "null",
                             "0",
                             "-0",
                             "-1",
                             "[1000]",
                             "{}",
                             "\"\"",
                             "9007199254740992",
                             "9223372036854775807",
                             "9223372036854775808",
                             "18446744073709551616",
                             "18446744073709551617",
                             "-9223372036854775808",
                             "-18446744073709551615",
                             "1000000000000000000000000000",
                             "0.1",
                             "0e0"}) {
    expect_invalid(Body().set("amount", amount), "/amount");
  }
  expect_invalid(Body().remove("amount"), "/amount");
  // Beyond what a JSON reader has to read (RFC 8259 section 6).
  expect_problem(shop().caller().pay(fresh_key(), Body().set("amount", "1e400").text()), 400,
                 problems::invalid_json);
}

TEST_CASE("the smallest and the largest amount are taken as they are, to the last unit") {
  CHECK(expect_taken(Body().set("amount", "1")).json().at("amount") == 1);

  Caller caller = shop().caller();
  const std::string world = caller.open_account("EUR", "null");
  const std::string rich = caller.open_account();
  const Answer answer = expect_taken(Body()
                                         .set("amount", "9007199254740991")
                                         .set("source", json_text(world))
                                         .set("destination", json_text(rich)));
  CHECK(answer.body.find("9007199254740991") != std::string::npos);
  CHECK(caller.balance_of(rich) == 9007199254740991);
  CHECK(caller.balance_of(world) == -9007199254740991);
}

TEST_CASE("minor units are never scaled: 500 JPY, 1500 KWD and 1 BHD are booked as 500, 1500, 1") {
  // MNY-01
  Caller caller = shop().caller();
  for (const auto& [currency, amount] :
       {std::pair{"JPY", 500}, {"KWD", 1500}, {"BHD", 1}, {"CLF", 12345}, {"USD", 100}}) {
    const std::string world = caller.open_account(currency, "null");
    const std::string account = caller.open_account(currency);
    const Answer answer = caller.pay(fresh_key(), Payment{amount, currency, world, account});
    expect_succeeded(answer);
    CHECK(answer.json().at("amount") == amount);
    CHECK(caller.balance_of(account) == amount);
    CHECK(shop().database.sql().number("SELECT amount FROM transfers WHERE credit_account = $1",
                                       {account}) == amount);
  }
}

TEST_CASE("a currency is exactly three capitals of the active ISO 4217 list") {
  for (const char* currency :
       {"\"eur\"", "\"Eur\"", "\"EU\"", "\"EURO\"", "\"\"", "\" EUR\"", "\"EUR \"", "\"ZZZ\"",
        "\"DEM\"", "\"FRF\"", "\"HRK\"", "\"978\"", "978", "null", "true", "[\"EUR\"]", "{}",
        "\"E\\u0055R \"", "\"ＥＵＲ\""}) {
    expect_invalid(Body().set("currency", currency), "/currency");
  }
  expect_invalid(Body().remove("currency"), "/currency");
}

TEST_CASE("accounts are named by 1 to 64 of A-Z a-z 0-9 : . _ - and differ from each other") {
  for (const char* member : {"source", "destination"}) {
    const std::string pointer = std::string("/") + member;
    for (const std::string& id :
         {std::string("\"\""), json_text(std::string(65, 'a')), std::string("\"a b\""),
          std::string("\"a/b\""), std::string("\"ä\""), std::string("\"a\\n\""),
          std::string("\"a'b\""), std::string("\"a%\""), std::string("42"), std::string("null"),
          std::string("true"), std::string("[]"), std::string("{\"id\":\"a\"}")}) {
      expect_invalid(Body().set(member, id), pointer);
    }
    expect_invalid(Body().remove(member), pointer);
  }
  // Either side may be named: the rule is about both.
  const Body same = Body().set("destination", json_text(standing_payment().source));
  const std::string key = fresh_key();
  const Answer answer = shop().caller().pay(key, same.text());
  expect_problem(answer, 400, problems::invalid_request);
  CHECK((names_pointer(answer, "/destination") || names_pointer(answer, "/source")));
  CHECK(shop().key_rows(key) == 0);
}

TEST_CASE("a description has at most 500 characters, counted as code points") {
  for (const std::string& character :
       {std::string("x"), std::string("é"), std::string("漢"), std::string("😀"),
        std::string("\\u00e9"), std::string("\\ud83d\\ude00")}) {
    INFO("character: ", character);
    expect_taken(Body().set("description", "\"" + repeated(character, 500) + "\""));
    expect_invalid(Body().set("description", "\"" + repeated(character, 501) + "\""),
                   "/description");
  }
  for (const char* description : {"1", "true", "[]", "{}"}) {
    expect_invalid(Body().set("description", description), "/description");
  }
}

TEST_CASE("metadata holds at most 50 pairs of text, names to 40 and values to 500 characters") {
  expect_taken(Body().set("metadata", "{}"));
  expect_taken(Body().set("metadata", metadata_of(50)));
  expect_invalid(Body().set("metadata", metadata_of(51)), "/metadata");

  const std::string name40 = repeated("é", 40);
  expect_taken(Body().set("metadata", "{\"" + name40 + R"(":"v"})"));
  expect_invalid(Body().set("metadata", "{\"" + name40 + R"(x":"v"})"),
                 "/metadata/" + name40 + "x");

  expect_taken(Body().set("metadata", R"({"n":")" + repeated("é", 500) + "\"}"));
  expect_invalid(Body().set("metadata", R"({"n":")" + repeated("é", 501) + "\"}"), "/metadata/n");

  for (const char* value : {"1", "1.5", "true", "null", "[]", "{}", "[\"a\"]", "{\"a\":\"b\"}"}) {
    expect_invalid(Body().set("metadata", std::string(R"({"n":)") + value + "}"), "/metadata/n");
  }
  for (const char* metadata : {"[]", "\"text\"", "1", "true", "[[\"a\",\"b\"]]"}) {
    expect_invalid(Body().set("metadata", metadata), "/metadata");
  }
}

TEST_CASE("a pointer escapes what JSON pointers escape") {
  // RFC 6901: ~ is ~0 and / is ~1.
  expect_invalid(Body().set("metadata", R"({"a/b":1})"), "/metadata/a~1b");
  expect_invalid(Body().set("metadata", R"({"a~b":1})"), "/metadata/a~0b");
  expect_invalid(Body().set("odd/name", "1"), "/odd~1name");
}

TEST_CASE("unknown members are refused and named, so that a typing error is no silent default") {
  for (const char* name : {"card_number", "Amount", "AMOUNT", "amount ", "overdraft_limit", "id",
                           "status", "idempotency_key", "reference", "tenant_id"}) {
    expect_invalid(Body().set(name, "\"x\""), std::string("/") + name);
  }
}

TEST_CASE("all that is wrong is named at once") {
  const Body wrong = Body()
                         .set("amount", "0")
                         .set("currency", "\"eur\"")
                         .remove("source")
                         .set("description", "7")
                         .set("metadata", R"({"a":1,"b":2})")
                         .set("colour", "\"red\"");
  const Answer answer = expect_invalid(wrong, "/amount");
  for (const char* pointer :
       {"/currency", "/source", "/description", "/metadata/a", "/metadata/b", "/colour"}) {
    INFO("expected pointer: ", pointer);
    CHECK(names_pointer(answer, pointer));
  }
  const nlohmann::json problem = answer.json();
  for (const nlohmann::json& error : problem.at("errors")) {
    CHECK_FALSE(error.value("detail", "").empty());
  }
}

TEST_CASE("a list of errors stays bounded whatever a client sends") {
  Body wrong;
  std::string metadata;
  for (int i = 0; i < 5000; ++i) {
    metadata += (i > 0 ? ",\"" : "\"") + std::to_string(i) + "\":1";
  }
  const Answer answer =
      shop().caller().pay(fresh_key(), wrong.set("metadata", "{" + metadata + "}").text());
  expect_problem(answer, 400, problems::invalid_request);
  CHECK(answer.body.size() < 1'000'000);
}

TEST_CASE("the answer shows the payment as the contract writes it, and no more members than that") {
  const std::string source = standing_payment().source;
  const Answer answer = expect_taken(Body()
                                         .set("amount", "19")
                                         .set("description", "\"order 1001\"")
                                         .set("metadata", R"({"order":"1001"})"));
  const nlohmann::json payment = answer.json();
  CHECK(payment.at("object") == "payment");
  CHECK(payment.at("status") == "succeeded");
  CHECK(payment.at("amount") == 19);
  CHECK(payment.at("currency") == "EUR");
  CHECK(payment.at("source") == source);
  CHECK(payment.at("destination") == standing_payment().destination);
  CHECK(payment.at("description") == "order 1001");
  CHECK(payment.at("metadata") == nlohmann::json{{"order", "1001"}});
  CHECK(answer.body.starts_with(R"({"id":")"));
  const std::string created = payment.at("created_at");
  // 2026-11-29T14:00:00.123456Z
  CHECK(created.size() == 27);
  CHECK(created[10] == 'T');
  CHECK(created.back() == 'Z');
}

TEST_CASE("ids of payments are UUIDv7 and sort by the time they were made") {
  Caller caller = shop().caller();
  std::string before;
  for (int i = 0; i < 20; ++i) {
    const std::string id = payment_id_of(caller.pay(fresh_key(), standing_payment()));
    REQUIRE(id.size() == 36);
    CHECK(id[14] == '7');
    CHECK(std::string("89ab").find(id[19]) != std::string::npos);
    CHECK(id.find_first_not_of("0123456789abcdef-") == std::string::npos);
    CHECK(before < id);
    before = id;
  }
}

// RPL-06: what must not be found where. API keys: nowhere but at the client. Idempotency keys and
// the text of requests: in no log and in no error. What was refused: not in the database either.
#include <doctest/doctest.h>

#include "support/names.hpp"
#include "support/problem.hpp"
#include "support/shop.hpp"

namespace {

using namespace support;

constexpr const char* card = "4111111111111111";
constexpr const char* description = "a gift for Zaphod";

Shop& shop() {
  static Shop instance({"--log-level=debug"});
  return instance;
}

// Every row of every table, as text: what a dump would show.
std::string dump() {
  std::string out;
  for (const std::string& table : shop().database.sql().column(
           "SELECT quote_ident(tablename) FROM pg_tables WHERE schemaname = 'public'")) {
    for (const std::string& row :
         shop().database.sql().column("SELECT t::text FROM " + table + " t")) {
      out += row + "\n";
    }
    // Bytes show as hex above; the stored answers are read as what they are.
    if (table == "idempotency_keys") {
      for (const std::string& body : shop().database.sql().column(
               "SELECT convert_from(answer_body, 'UTF8') FROM idempotency_keys")) {
        out += body + "\n";
      }
    }
  }
  return out;
}

bool holds(const std::string& text, const std::string& secret) {
  return text.find(secret) != std::string::npos;
}

// Answers of every kind under one recognisable key and text.
struct Traffic {
  std::string key = "user@example.com-" + fresh_key();
  std::vector<Answer> errors;

  Traffic() {
    Caller caller = shop().caller();
    const Payment payment = shop().payment_between_new_accounts();
    std::string body = payment.json();
    body.insert(body.size() - 1, std::string(R"(,"description":")") + description + "\"");
    CHECK(caller.pay(key, body).status == 201);
    CHECK(caller.pay(key, body).status == 201);
    errors.push_back(caller.pay(key, payment.of(77)));  // 422
    std::string with_card = payment.json();
    with_card.insert(with_card.size() - 1, std::string(R"(,"card_number":")") + card + "\"");
    errors.push_back(caller.pay(key + "-2", with_card));                      // 400
    errors.push_back(caller.pay(key + "-3", std::string("{\"x\":") + card));  // 400
    errors.push_back(caller.pay(key + " " + card, payment));                  // 400
    Payment unknown = payment;
    unknown.destination = std::string("card-") + card;
    errors.push_back(caller.pay(key + "-4", unknown));                        // 422
    errors.push_back(caller.get(std::string("/v1/payments?limit=") + card));  // 400
    errors.push_back(caller.get(std::string("/v1/") + card));                 // 404
    shop().database.sql().run(
        "CREATE FUNCTION fail_secretly() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
        " RAISE EXCEPTION 'row was %', NEW; END $$;"
        "CREATE TRIGGER fail_secretly BEFORE INSERT ON payments FOR EACH ROW"
        " EXECUTE FUNCTION fail_secretly()");
    errors.push_back(caller.pay(key + "-5", body));  // 500
    shop().database.sql().run(
        "DROP TRIGGER fail_secretly ON payments; DROP FUNCTION fail_secretly()");
  }
};

const Traffic& traffic() {
  static const Traffic instance;
  return instance;
}

}  // namespace

TEST_CASE("no error echoes the request: no text, no key, no API key") {
  const std::vector<int> expected{422, 400, 400, 400, 422, 400, 404, 500};
  REQUIRE(traffic().errors.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const Answer& answer = traffic().errors[i];
    INFO("answer: ", answer.text());
    CHECK(answer.status == expected[i]);
    CHECK_FALSE(holds(answer.body, card));
    CHECK_FALSE(holds(answer.body, description));
    CHECK_FALSE(holds(answer.body, "user@example.com"));
    CHECK_FALSE(holds(answer.body, shop().tenant.api_key));
    CHECK_FALSE(holds(answer.body, "row was"));
  }
}

TEST_CASE("the log holds no idempotency key, no API key and no text of a request, at any level") {
  traffic();
  const std::string log = shop().instance.log();
  REQUIRE_FALSE(log.empty());
  CHECK_FALSE(holds(log, "user@example.com"));
  CHECK_FALSE(holds(log, "opk_"));
  CHECK_FALSE(holds(log, shop().tenant.api_key.substr(4)));
  CHECK_FALSE(holds(log, description));
  CHECK_FALSE(holds(log, card));
  CHECK_FALSE(holds(log, "row was"));
}

TEST_CASE("the log tells request id, tenant, status and milliseconds of each payment") {
  Caller caller = shop().caller();
  Request request = caller.payment_request(fresh_key(), shop().payment_between_new_accounts());
  expect_succeeded(caller.send(request.with(headers::request_id, "find-me-in-the-log")));
  CHECK(eventually([&] { return holds(shop().instance.log(), "find-me-in-the-log"); }));
  std::istringstream lines(shop().instance.log());
  bool found = false;
  for (std::string line; std::getline(lines, line);) {
    if (holds(line, "find-me-in-the-log")) {
      found = found || (holds(line, "201") && holds(line, shop().tenant.id));
    }
  }
  CHECK(found);
}

TEST_CASE("the database holds no API key and nothing of a request that was refused") {
  traffic();
  const std::string all = dump();
  CHECK_FALSE(holds(all, shop().tenant.api_key));
  CHECK_FALSE(holds(all, card));
  CHECK_FALSE(holds(all, "card_number"));
  // Of a request that was taken, only what the payment needs, and its fingerprint.
  CHECK(holds(all, description));
}

TEST_CASE("metrics hold no key, no tenant's text and no account") {
  traffic();
  const std::string metrics = Client(shop().instance.port()).send({"GET", "/metrics", {}, ""}).body;
  CHECK_FALSE(holds(metrics, "user@example.com"));
  CHECK_FALSE(holds(metrics, "opk_"));
  CHECK_FALSE(holds(metrics, card));
}

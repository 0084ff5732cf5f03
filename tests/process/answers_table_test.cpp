// The contract's table "Who gets which answer", row by row: who is refused, with what, and that
// nothing is left behind under the key. What needs a held, full, draining or lost database (rows 9,
// 10 and 14) has files of its own: in_progress, overload, shutdown, outage and commit.
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

void expect_nothing_stored(const std::string& key) {
  CHECK(shop().payments_with_key(key) == 0);
  CHECK(shop().key_rows(key) == 0);
}

// The edge may be too early to know about problem documents; what counts is the status, that the
// connection ends, and that nothing happened.
void expect_refused_at_the_edge(const std::string& bytes, int status, const std::string& key) {
  Client client(shop().instance.port());
  client.connect();
  client.write(bytes);
  const Answer answer = client.read();
  INFO("answer: ", answer.text());
  CHECK(answer.status == status);
  CHECK(client.closed_by_peer(5s));
  expect_nothing_stored(key);
}

void expect_refused(const Request& request, int status, std::string_view type) {
  INFO("request: ", request.bytes().substr(0, 600));
  expect_problem(shop().caller().send(request), status, type);
  for (const Header& header : request.headers) {
    if (same_name(header.name, headers::idempotency_key) && !header.value.empty()) {
      expect_nothing_stored(header.value);
    }
  }
}

Request good_request(const std::string& key = fresh_key()) {
  return shop().caller().payment_request(key, standing_payment());
}

}  // namespace

TEST_CASE("row 1: bytes that are no request are answered 400 and the connection is closed") {
  expect_refused_at_the_edge("this is not HTTP\r\n\r\n", 400, "none");
}

TEST_CASE("row 1: a head over 16 KiB is answered 431, the connection is closed, no key is used") {
  const std::string key = fresh_key();
  Request request = good_request(key);
  request.with("X-Padding", std::string(20'000, 'x'));
  expect_refused_at_the_edge(request.bytes(), 431, key);
}

TEST_CASE("row 1: a head of 15 KiB is no reason to refuse a payment") {
  Request request = good_request();
  for (int i = 0; i < 15; ++i) {
    request.with("X-Padding-" + std::to_string(i), std::string(950, 'x'));
  }
  expect_succeeded(shop().caller().send(request));
}

TEST_CASE("row 1: a body over 64 KiB is answered 413, the connection is closed, no key is used") {
  const std::string key = fresh_key();
  Request request = good_request(key);
  request.body += std::string(65'537 - request.body.size(), ' ');
  expect_refused_at_the_edge(request.bytes(), 413, key);
}

TEST_CASE("row 1: a body of exactly 64 KiB is taken") {
  Request request = good_request();
  request.body += std::string(65'536 - request.body.size(), ' ');
  expect_succeeded(shop().caller().send(request));
}

TEST_CASE("row 2: without a known API key the answer is 401 and says how to authenticate") {
  const std::vector<std::string> credentials{
      "",
      "Bearer",
      "Bearer ",
      "Bearer opk_unknown",
      "Basic dXNlcjpwYXNz",
      "opk_unknown",
      shop().tenant.api_key,
      "Bearer " + shop().tenant.api_key + "x",
      "Bearer " + shop().tenant.api_key.substr(0, shop().tenant.api_key.size() - 1)};
  for (const std::string& credential : credentials) {
    Request request = good_request();
    request.without(headers::authorization);
    if (!credential.empty()) {
      request.with(headers::authorization, credential);
    }
    expect_refused(request, 401, problems::any);
    // RFC 9110, 15.5.2: a 401 must carry the challenge.
    const Answer answer = shop().caller().send(request);
    CHECK(answer.header("WWW-Authenticate").value_or("").starts_with("Bearer"));
    CHECK(answer.body.find("opk_") == std::string::npos);
  }
}

TEST_CASE("row 2: every call but health, readiness and metrics asks for an API key") {
  Client client(shop().instance.port());
  for (const char* target :
       {"/v1/payments", "/v1/payments/0197f3c2-0000-7000-8000-000000000000", "/v1/accounts/a",
        "/v1/accounts/a/entries", "/v1/idempotency-keys/k"}) {
    INFO("target: ", target);
    expect_problem(client.send({"GET", target, {}, ""}), 401, problems::any);
  }
  for (const char* target : {"/healthz", "/readyz", "/metrics"}) {
    INFO("target: ", target);
    CHECK(client.send({"GET", target, {}, ""}).status == 200);
  }
}

TEST_CASE("row 2: a scope that the API key lacks is answered 403") {
  const std::string reading = create_api_key(shop().database, shop().tenant.name, "read");
  const std::string writing = create_api_key(shop().database, shop().tenant.name, "write");
  Request pay = good_request();
  expect_refused(pay.without(headers::authorization).with("Authorization", "Bearer " + reading),
                 403, problems::any);
  Caller reader(shop().instance.port(), reading);
  CHECK(reader.get("/v1/payments").status == 200);
  Caller writer(shop().instance.port(), writing);
  expect_problem(writer.get("/v1/payments"), 403, problems::any);
  CHECK(writer.pay(fresh_key(), standing_payment()).status == 201);
}

TEST_CASE("row 3: an unknown path is answered 404") {
  for (const char* target : {"/v1/nope", "/v1/payments/", "/v1/accounts/a/b/c", "/v2/payments",
                             "/v1/Payments", "/v1//payments"}) {
    Request request = good_request();
    request.target = target;
    expect_refused(request, 404, problems::any);
  }
}

TEST_CASE(
    "row 3: a known path with another method is answered 405 and Allow names the right ones") {
  struct Attempt {
    const char* method;
    const char* target;
    const char* allowed;
  };
  for (const Attempt& attempt :
       {Attempt{"PUT", "/v1/payments", "POST"}, Attempt{"DELETE", "/v1/payments", "GET"},
        Attempt{"PATCH", "/v1/payments/0197f3c2-0000-7000-8000-000000000000", "GET"},
        Attempt{"POST", "/v1/accounts/a", "GET"}, Attempt{"GET", "/v1/accounts", "POST"},
        Attempt{"POST", "/v1/accounts/a/entries", "GET"},
        Attempt{"DELETE", "/v1/idempotency-keys/k", "GET"}}) {
    Request request = good_request();
    request.method = attempt.method;
    request.target = attempt.target;
    INFO(attempt.method, " ", attempt.target);
    const Answer answer = shop().caller().send(request);
    expect_problem(answer, 405, problems::any);
    CHECK(answer.header("Allow").value_or("").find(attempt.allowed) != std::string::npos);
  }
}

TEST_CASE("row 4: a body that is not application/json is answered 415") {
  for (const char* type : {"text/plain", "application/x-www-form-urlencoded", "application/xml",
                           "application/problem+json", "application/json;charset=latin1",
                           "application/jsonp", "json", ""}) {
    Request request = good_request();
    request.without(headers::content_type);
    if (*type != '\0') {
      request.with(headers::content_type, type);
    }
    expect_refused(request, 415, problems::any);
  }
  for (const char* encoding : {"gzip", "identity", "br"}) {
    expect_refused(good_request().with("Content-Encoding", encoding), 415, problems::any);
  }
}

TEST_CASE("row 4: application/json is recognised however an honest client writes it") {
  for (const char* type :
       {"application/json", "application/json; charset=utf-8", "application/json; charset=UTF-8",
        "APPLICATION/JSON", "application/json;charset=\"utf-8\""}) {
    INFO("Content-Type: ", type);
    Request request = good_request();
    request.without(headers::content_type).with(headers::content_type, type);
    expect_succeeded(shop().caller().send(request));
  }
}

TEST_CASE("row 5: a missing key and a malformed key are answered 400, each with its own type") {
  Request missing = good_request();
  expect_refused(missing.without(headers::idempotency_key), 400, problems::key_missing);
  Request malformed = good_request();
  malformed.without(headers::idempotency_key).with(headers::idempotency_key, "a b");
  expect_refused(malformed, 400, problems::key_invalid);
}

TEST_CASE("row 6: a refused body leaves the key free for the corrected one") {
  const std::string key = fresh_key();
  Caller caller = shop().caller();
  expect_problem(caller.pay(key, "{"), 400, problems::invalid_json);
  expect_problem(caller.pay(key, standing_payment().of(0)), 400, problems::invalid_request);
  expect_nothing_stored(key);
  const Answer answer = caller.pay(key, standing_payment());
  expect_succeeded(answer);
  CHECK_FALSE(answer.replayed());
}

TEST_CASE("row 7: a key that decided another request is answered 422 with that payment's id") {
  const std::string key = fresh_key();
  Caller caller = shop().caller();
  const Answer first = caller.pay(key, standing_payment());
  const Answer other = caller.pay(key, standing_payment().of(2));
  expect_problem(other, 422, problems::key_reused);
  CHECK(other.json().value("payment_id", "") == payment_id_of(first));
  CHECK(shop().payments_with_key(key) == 1);
  expect_replay_of(first, caller.replay(key, standing_payment()));
}

TEST_CASE("row 7: the path belongs to the fingerprint: a payment's key opens no account") {
  const std::string key = fresh_key();
  Caller caller = shop().caller();
  const Answer first = caller.pay(key, standing_payment());
  const Answer other = caller.open(key, R"({"id":"row-7","currency":"EUR"})");
  expect_problem(other, 422, problems::key_reused);
  CHECK(other.json().value("payment_id", "") == payment_id_of(first));
  CHECK(caller.get("/v1/accounts/row-7").status == 404);

  const std::string account_key = fresh_key();
  CHECK(caller.open(account_key, R"({"id":"row-7","currency":"EUR"})").status == 201);
  expect_problem(caller.pay(account_key, standing_payment()), 422, problems::key_reused);
  CHECK(shop().payments_with_key(account_key) == 0);
}

TEST_CASE("row 8: a completed key is answered again, marked as a replay") {
  const std::string key = fresh_key();
  Caller caller = shop().caller();
  const Answer first = caller.pay(key, standing_payment());
  expect_succeeded(first);
  CHECK(first.count(headers::replayed) == 0);
  expect_replay_of(first, caller.replay(key, standing_payment()));
  CHECK(shop().payments_with_key(key) == 1);
}

TEST_CASE("row 11: an unknown account is answered 422 with a pointer and the key is not used up") {
  const std::string key = fresh_key();
  Caller caller = shop().caller();
  Payment payment = standing_payment();
  payment.destination = fresh_name("later:");
  const Answer refused = caller.pay(key, payment);
  expect_problem(refused, 422, problems::account_not_found);
  CHECK(names_pointer(refused, "/destination"));
  expect_nothing_stored(key);
  payment.source.swap(payment.destination);
  CHECK(names_pointer(caller.pay(key, payment), "/source"));
  payment.source.swap(payment.destination);

  const std::string body = R"({"id":)" + json_text(payment.destination) + R"(,"currency":"EUR"})";
  REQUIRE(caller.open(fresh_key(), body).status == 201);
  expect_succeeded(caller.pay(key, payment));
}

TEST_CASE("row 11: an account in another currency is answered 422 and the key is not used up") {
  const std::string key = fresh_key();
  Caller caller = shop().caller();
  Payment payment = standing_payment();
  payment.destination = caller.open_account("USD");
  const Answer refused = caller.pay(key, payment);
  expect_problem(refused, 422, problems::currency_mismatch);
  CHECK_FALSE(pointers_in(refused).empty());
  expect_nothing_stored(key);
  payment.destination = standing_payment().destination;
  expect_succeeded(caller.pay(key, payment));
}

TEST_CASE("row 12: a succeeded payment is answered 201 with its Location and stored") {
  const std::string key = fresh_key();
  const Answer answer = shop().caller().pay(key, standing_payment());
  expect_succeeded(answer);
  CHECK(answer.header(headers::location) == "/v1/payments/" + payment_id_of(answer));
  CHECK(answer.header(headers::content_type).value_or("").starts_with("application/json"));
  CHECK(shop().payments_with_key(key) == 1);
  CHECK(shop().key_rows(key) == 1);
}

TEST_CASE("row 12: a declined payment is answered 402, kept, and can be read") {
  const std::string key = fresh_key();
  Caller caller = shop().caller();
  const Payment payment = shop().payment_between_new_accounts(101, 100);
  const Answer declined = caller.pay(key, payment);
  expect_problem(declined, 402, problems::insufficient_funds);
  const std::string id = payment_id_of(declined);
  REQUIRE_FALSE(id.empty());
  const nlohmann::json kept = caller.get("/v1/payments/" + id).json();
  CHECK(kept.value("status", "") == "declined");
  CHECK(kept.value("amount", 0) == 101);
  CHECK(caller.balance_of(payment.source) == 100);
  CHECK(caller.balance_of(payment.destination) == 0);
  CHECK(shop().payments_with_key(key) == 1);
}

TEST_CASE("row 13: a fault of ours is answered 500, rolled back, and the key stays free") {
  // A trigger stands in for whatever nobody thought of: it fails for one amount alone.
  shop().database.sql().run(
      "CREATE FUNCTION fail_13() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
      " IF NEW.amount = 1313 THEN RAISE EXCEPTION 'unlucky %', NEW.amount; END IF;"
      " RETURN NEW; END $$;"
      "CREATE TRIGGER fail_13 BEFORE INSERT ON payments FOR EACH ROW EXECUTE FUNCTION fail_13()");
  const std::string key = fresh_key();
  Caller caller = shop().caller();
  const Answer broken = caller.pay(key, standing_payment().of(1313));
  expect_problem(broken, 500, problems::internal);
  CHECK(broken.body.find("unlucky") == std::string::npos);
  expect_nothing_stored(key);
  expect_succeeded(caller.pay(fresh_key(), standing_payment()));

  shop().database.sql().run("DROP TRIGGER fail_13 ON payments; DROP FUNCTION fail_13()");
  const Answer retried = caller.pay(key, standing_payment().of(1313));
  expect_succeeded(retried);
  CHECK_FALSE(retried.replayed());
  expect_recovered(shop());
}

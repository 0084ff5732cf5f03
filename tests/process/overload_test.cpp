// Row 10 when too much is queued: who cannot be served is told so at once, nothing was claimed, and
// a key that is already completed is still answered while the database answers.
// The instance has one lane that takes one operation at a time and a queue of one; the lane is held
// at an account, so that soon somebody finds the queue full.
#include <doctest/doctest.h>

#include "support/holds.hpp"
#include "support/names.hpp"
#include "support/problem.hpp"
#include "support/shop.hpp"

namespace {

using namespace support;

Shop& shop() {
  static Shop instance({"--lanes=1", "--batch-operations-max=1", "--queue-operations-max=1",
                        "--lock-timeout=60000"});
  return instance;
}

// Holds the lane, then fills the queue. Whoever was taken is answered at the end.
class FullHouse {
 public:
  FullHouse()
      : payment(shop().payment_between_new_accounts()),
        hold_(shop().database, shop().tenant.id, payment.source) {
    knock();
    REQUIRE(hold_.somebody_waits());
    // How many fit between lane and queue is the service's own affair; that it is few is not.
    for (int i = 0; i < 10 && !full_; ++i) {
      full_ = !knock();
    }
    REQUIRE(full_);
  }

  // True when this request was taken and now waits.
  bool knock() {
    const std::string key = fresh_key();
    Client client(shop().instance.port());
    client.connect();
    client.write(shop().caller().payment_request(key, payment).bytes());
    if (client.answered(300ms)) {
      refused_key = key;
      refusal = client.read();
      return false;
    }
    taken_keys.push_back(key);
    taken_.push_back(std::move(client));
    return true;
  }

  void release() { hold_.release(); }
  std::vector<Answer> answers() {
    std::vector<Answer> out;
    for (Client& client : taken_) {
      out.push_back(client.read());
    }
    return out;
  }

  Payment payment;
  std::vector<std::string> taken_keys;
  std::string refused_key;
  Answer refusal;

 private:
  AccountHold hold_;
  std::vector<Client> taken_;
  bool full_ = false;
};

}  // namespace

TEST_CASE(
    "row 10: when the queue is full a payment is answered 503 overloaded, nothing is claimed") {
  FullHouse house;
  expect_problem(house.refusal, 503, problems::overloaded);
  expect_retry_after(house.refusal);
  CHECK(shop().key_rows(house.refused_key) == 0);
  CHECK(shop().payments_with_key(house.refused_key) == 0);
  house.release();
  for (const Answer& answer : house.answers()) {
    expect_succeeded(answer);
  }
  // Retryable means what it says: the same request with the same key.
  const Answer retried = shop().caller().pay(house.refused_key, house.payment);
  expect_succeeded(retried);
  CHECK_FALSE(retried.replayed());
  CHECK(shop().payments_with_key(house.refused_key) == 1);
  expect_recovered(shop());
}

TEST_CASE("rows 7 and 8 before row 10: a completed key is answered however much is queued") {
  Caller caller = shop().caller();
  const std::string key = fresh_key();
  const Payment payment = shop().payment_between_new_accounts();
  const Answer first = caller.pay(key, payment);
  expect_succeeded(first);
  const std::string decline_key = fresh_key();
  const Answer declined = caller.pay(decline_key, payment.of(100'000'000));
  expect_problem(declined, 402, problems::insufficient_funds);

  FullHouse house;
  expect_replay_of(first, caller.replay(key, payment));
  expect_replay_of(declined, caller.replay(decline_key, payment.of(100'000'000)));
  expect_problem(caller.pay(key, payment.of(2)), 422, problems::key_reused);
  house.release();
  house.answers();
}

TEST_CASE("row 8 before row 10: also for a key that this instance has never seen") {
  const Instance other(shop().database);
  const std::string key = fresh_key();
  const Payment payment = shop().payment_between_new_accounts();
  const Answer first = shop().caller_at(other).pay(key, payment);
  expect_succeeded(first);
  FullHouse house;
  expect_replay_of(first, shop().caller().replay(key, payment));
  expect_problem(shop().caller().pay(key, payment.of(2)), 422, problems::key_reused);
  house.release();
  house.answers();
}

TEST_CASE("rows 7 and 9 before row 10: a running key is known however much is queued") {
  FullHouse house;
  Caller caller = shop().caller();
  expect_problem(caller.pay(house.taken_keys.front(), house.payment), 409, problems::in_progress);
  expect_problem(caller.pay(house.taken_keys.front(), house.payment.of(9)), 422,
                 problems::key_reused);
  house.release();
  house.answers();
}

TEST_CASE("rows 1 to 6 before row 10: what is wrong with a request is said before being busy") {
  const std::string reader = create_api_key(shop().database, shop().tenant.name, "read");
  FullHouse house;
  Caller caller = shop().caller();
  const auto good = [&] { return caller.payment_request(fresh_key(), house.payment); };
  Request request = good();
  request.body += std::string(66'000, ' ');
  CHECK(caller.send(request).status == 413);
  request = good();
  CHECK(caller.send(request.without(headers::authorization)).status == 401);
  request = good();
  request.without(headers::authorization).with(headers::authorization, "Bearer " + reader);
  CHECK(caller.send(request).status == 403);
  request = good();
  request.target = "/v1/nope";
  CHECK(caller.send(request).status == 404);
  request = good();
  request.method = "PUT";
  CHECK(caller.send(request).status == 405);
  request = good();
  CHECK(caller.send(request.without(headers::content_type)).status == 415);
  request = good();
  expect_problem(caller.send(request.without(headers::idempotency_key)), 400,
                 problems::key_missing);
  expect_problem(caller.pay("a b", house.payment), 400, problems::key_invalid);
  expect_problem(caller.pay(fresh_key(), "{"), 400, problems::invalid_json);
  expect_problem(caller.pay(fresh_key(), house.payment.of(0)), 400, problems::invalid_request);
  house.release();
  house.answers();
}

TEST_CASE("row 10 before rows 11 and 12: a full house looks at no account") {
  Caller caller = shop().caller();
  const std::string poor = caller.open_account();
  FullHouse house;
  Payment payment = house.payment;
  payment.destination = "nobody";
  expect_problem(caller.pay(fresh_key(), payment), 503, problems::overloaded);
  payment = house.payment;
  payment.source = poor;
  expect_problem(caller.pay(fresh_key(), payment), 503, problems::overloaded);
  expect_problem(caller.open(fresh_key(), R"({"id":"full-house","currency":"EUR"})"), 503,
                 problems::overloaded);
  house.release();
  house.answers();
}

TEST_CASE("reads, health and metrics are answered however much is queued") {
  Caller caller = shop().caller();
  const std::string id =
      payment_id_of(caller.pay(fresh_key(), shop().payment_between_new_accounts()));
  FullHouse house;
  const Stopwatch watch;
  CHECK(caller.get("/v1/payments/" + id).status == 200);
  CHECK(caller.get("/v1/accounts/" + house.payment.source).status == 200);
  CHECK(caller.get("/healthz").status == 200);
  CHECK(caller.get("/metrics").status == 200);
  CHECK(watch.elapsed() < 3s);
  house.release();
  house.answers();
}

TEST_CASE(
    "a lock that is not given within lock_timeout ends as a retryable answer, not a decline") {
  // CMT-04: 55P03 is never a business answer.
  const Instance hasty(shop().database, {"--lock-timeout=200"});
  Caller caller = shop().caller_at(hasty);
  const Payment payment = shop().payment_between_new_accounts();
  const std::string key = fresh_key();
  AccountHold hold(shop().database, shop().tenant.id, payment.source);
  const Answer answer = caller.pay(key, payment);
  INFO("answer: ", answer.text());
  CHECK((answer.status == 503 || answer.status == 409));
  CHECK(answer.json().at("retryable") == true);
  expect_retry_after(answer);
  CHECK(shop().payments_with_key(key) == 0);
  hold.release();
  CHECK(eventually([&] { return caller.pay(key, payment).status == 201; }));
  CHECK(shop().payments_with_key(key) == 1);
  expect_recovered(shop(), hasty);
}

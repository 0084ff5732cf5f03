// Row 9, and row 7 while the first request still runs: the running request is held at its accounts
// (or its key, as another instance would) and everybody else asks meanwhile.
#include <doctest/doctest.h>

#include "support/crowd.hpp"
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

// One payment that is claimed and waits for its accounts until `release`.
class Running {
 public:
  explicit Running(std::uint16_t port = shop().instance.port())
      : payment(shop().payment_between_new_accounts()),
        hold_(shop().database, shop().tenant.id, payment.source),
        client_(port) {
    client_.connect();
    client_.write(shop().caller().payment_request(key, payment).bytes());
    REQUIRE(hold_.somebody_waits());
  }
  void release() { hold_.release(); }
  Answer answer() { return client_.read(); }

  std::string key = fresh_key();
  Payment payment;

 private:
  AccountHold hold_;
  Client client_;
};

}  // namespace

TEST_CASE("row 9: the same request while the first one runs is answered 409 with Retry-After") {
  Running first;
  Caller caller = shop().caller();
  const Stopwatch watch;
  const Answer second = caller.pay(first.key, first.payment);
  CHECK(watch.elapsed() < 2s);
  expect_problem(second, 409, problems::in_progress);
  expect_retry_after(second);
  first.release();
  const Answer answer = first.answer();
  expect_succeeded(answer);
  expect_replay_of(answer, caller.replay(first.key, first.payment));
  CHECK(shop().payments_with_key(first.key) == 1);
}

TEST_CASE("row 7 before row 9: another request under a running key is answered 422, not 409") {
  // CLM-06: a client told "retry later" would retry for ever what can never succeed.
  Running first;
  Caller caller = shop().caller();
  const Answer other = caller.pay(first.key, first.payment.of(9));
  expect_problem(other, 422, problems::key_reused);
  expect_problem(caller.open(first.key, R"({"id":"running","currency":"EUR"})"), 422,
                 problems::key_reused);
  first.release();
  expect_succeeded(first.answer());
  CHECK(shop().payments_with_key(first.key) == 1);
}

TEST_CASE("row 9 and below: what else is wrong with a running key's payment does not matter yet") {
  Running first;
  Caller caller = shop().caller();
  Payment unknown_account = first.payment;
  unknown_account.destination = "nobody";
  expect_problem(caller.pay(first.key, unknown_account), 422, problems::key_reused);
  expect_problem(caller.pay(first.key, first.payment.of(0)), 400, problems::invalid_request);
  first.release();
  expect_succeeded(first.answer());
}

TEST_CASE("row 9: with Prefer: wait the call gets the first one's answer as a replay") {
  Running first;
  auto waiting = std::vector<Client>();
  for (int i = 0; i < 8; ++i) {
    waiting.emplace_back(shop().instance.port());
    waiting.back().connect();
    waiting.back().write(shop()
                             .caller()
                             .payment_request(first.key, first.payment)
                             .with("Prefer", "wait=20")
                             .bytes());
  }
  // Somebody who does not wait is answered at once: the others do wait by now.
  expect_problem(shop().caller().pay(first.key, first.payment), 409, problems::in_progress);
  first.release();
  const Answer answer = first.answer();
  expect_succeeded(answer);
  for (Client& client : waiting) {
    expect_replay_of(answer, client.read());
  }
  CHECK(shop().payments_with_key(first.key) == 1);
}

TEST_CASE("row 9: a wait that is over before the first one ends is answered 409") {
  Running first;
  Caller caller = shop().caller();
  const Stopwatch watch;
  const Answer answer = caller.pay_waiting(first.key, first.payment, 1);
  expect_problem(answer, 409, problems::in_progress);
  expect_retry_after(answer);
  CHECK(watch.elapsed() >= 900ms);
  CHECK(watch.elapsed() < 5s);
  first.release();
  expect_succeeded(first.answer());
}

TEST_CASE("row 9: a preference that cannot be met or read is ignored, as preferences are") {
  // RFC 7240: a server may ignore any preference. Over 30 s is not granted in full, nonsense not at
  // all; neither holds the connection longer than the contract says, so nobody waits here.
  Running first;
  for (const char* preference : {"wait=abc", "wait=-1", "respond-async", "wait=", "wait=0"}) {
    INFO("Prefer: ", preference);
    Caller caller = shop().caller();
    const Answer answer =
        caller.send(caller.payment_request(first.key, first.payment).with("Prefer", preference));
    CHECK(answer.status == 409);
  }
  first.release();
  expect_succeeded(first.answer());
  // And a wait for a key that nobody runs delays nothing.
  const Stopwatch watch;
  Caller caller = shop().caller();
  expect_succeeded(caller.pay_waiting(fresh_key(), shop().payment_between_new_accounts(), 30));
  CHECK(watch.elapsed() < 5s);
}

TEST_CASE("a waiting caller that hangs up disturbs neither the first one nor the instance") {
  Running first;
  for (int i = 0; i < 20; ++i) {
    Client client(shop().instance.port());
    client.connect();
    client.write(shop()
                     .caller()
                     .payment_request(first.key, first.payment)
                     .with("Prefer", "wait=30")
                     .bytes());
    client.reset();
  }
  first.release();
  expect_succeeded(first.answer());
  CHECK(shop().payments_with_key(first.key) == 1);
  expect_recovered(shop());
}

TEST_CASE("a first caller that hangs up has still paid once, and a retry gets the answer") {
  const std::string key = fresh_key();
  const Payment payment = shop().payment_between_new_accounts();
  AccountHold hold(shop().database, shop().tenant.id, payment.source);
  Client first(shop().instance.port());
  first.connect();
  first.write(shop().caller().payment_request(key, payment).bytes());
  REQUIRE(hold.somebody_waits());
  first.reset();
  hold.release();
  Caller caller = shop().caller();
  const Answer answer = caller.pay_waiting(key, payment, 20);
  CHECK(answer.status == 201);
  CHECK(shop().payments_with_key(key) == 1);
}

TEST_CASE("a key that another instance is deciding is answered 409, and 201 once it is abandoned") {
  // The other instance stands still in the middle of its transaction.
  const Instance here(shop().database, {"--lock-timeout=300"});
  Caller caller = shop().caller_at(here);
  const Payment payment = shop().payment_between_new_accounts();
  const std::string model = fresh_key();
  const Answer modelled = caller.pay(model, payment);
  const std::string key = fresh_key();
  KeyHold other(shop().database, model, key);
  const Answer refused = caller.pay(key, payment);
  expect_problem(refused, 409, problems::in_progress);
  expect_retry_after(refused);
  // One stuck instance must not slow down everybody else's payments.
  const Stopwatch watch;
  expect_succeeded(caller.pay(fresh_key(), payment));
  CHECK(watch.elapsed() < 5s);

  other.abandon();
  CHECK(eventually([&] { return caller.pay(key, payment).status == 201; }));
  CHECK(shop().payments_with_key(key) == 1);
}

TEST_CASE("a key that another instance commits meanwhile is replayed, never decided again") {
  const Instance here(shop().database, {"--lock-timeout=20000"});
  Caller caller = shop().caller_at(here);
  const Payment payment = shop().payment_between_new_accounts();
  const std::string model = fresh_key();
  const Answer first = caller.pay(model, payment);
  const std::string key = fresh_key();
  KeyHold other(shop().database, model, key);
  Client waiting(here.port());
  waiting.connect();
  waiting.write(caller.payment_request(key, payment).bytes());
  REQUIRE(AccountHold(shop().database, shop().tenant.id, payment.source).somebody_waits());
  other.commit();
  // The copied row carries the model's fingerprint and answer: the very bytes must come back.
  const Answer answer = waiting.read();
  if (answer.status == 409) {
    expect_replay_of(first, caller.pay(key, payment));
  } else {
    expect_replay_of(first, answer);
  }
  CHECK(shop().payments_with_key(key) == 0);
}

// G3 and G6: what happens around COMMIT. The backend dies inside it, or before it; the network
// loses the request to commit, or the server's word that it did. Never is a payment run again
// blindly, and never is an answer sent that the books do not hold.
#include <doctest/doctest.h>

#include <atomic>
#include <thread>

#include "support/crowd.hpp"
#include "support/dying_backend.hpp"
#include "support/holds.hpp"
#include "support/names.hpp"
#include "support/problem.hpp"
#include "support/shop.hpp"
#include "support/wire.hpp"

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

using When = DyingBackend::When;

// Sends until there is a final answer, as a client does that reads `retryable`.
Answer settle(Caller& caller, const std::string& key, const Payment& payment) {
  Answer answer;
  eventually(
      [&] {
        answer = caller.pay_waiting(key, payment, 5);
        return answer.status == 201 || answer.status == 402;
      },
      60s, 50ms);
  return answer;
}

}  // namespace

TEST_CASE("G6 a backend that dies inside COMMIT: one payment, and the answer is the right one") {
  for (int round = 0; round < 3; ++round) {
    DyingBackend backend(shop().database, When::inside_commit, 1);
    Caller caller = shop().caller();
    const std::string key = fresh_key();
    const Answer answer = caller.pay(key, standing_payment());
    INFO("answer: ", answer.text());
    CHECK(backend.deaths() >= 1);
    // Nothing was committed; the key is claimed again on a new connection and decided there.
    CHECK(answer.status == 201);
    CHECK(shop().payments_with_key(key) == 1);
    expect_replay_of(answer, caller.replay(key, standing_payment()));
  }
  expect_recovered(shop());
}

TEST_CASE("G6 a backend that dies before COMMIT: one payment, and the answer is the right one") {
  DyingBackend backend(shop().database, When::at_once, 1);
  Caller caller = shop().caller();
  const std::string key = fresh_key();
  const Answer answer = caller.pay(key, standing_payment());
  INFO("answer: ", answer.text());
  CHECK(answer.status == 201);
  CHECK(shop().payments_with_key(key) == 1);
  expect_replay_of(answer, caller.replay(key, standing_payment()));
}

TEST_CASE("backends that keep dying end in a retryable answer, and the key tells afterwards") {
  const std::string key = fresh_key();
  Caller caller = shop().caller();
  {
    DyingBackend backend(shop().database, When::inside_commit, 1'000'000);
    const Answer answer = caller.pay(key, standing_payment());
    INFO("answer: ", answer.text());
    CHECK(answer.status == 503);
    CHECK(answer.json().at("retryable") == true);
    CHECK(answer.json().at("same_key") == true);
    CHECK(shop().payments_with_key(key) == 0);
  }
  CHECK(settle(caller, key, standing_payment()).status == 201);
  CHECK(shop().payments_with_key(key) == 1);
  expect_recovered(shop());
}

TEST_CASE("G6 a crowd whose backend dies inside COMMIT: everybody has one payment") {
  const Payment payment = shop().payment_between_new_accounts(1, 1'000'000);
  std::vector<std::string> keys(32);
  for (std::string& key : keys) {
    key = fresh_key();
  }
  {
    DyingBackend backend(shop().database, When::inside_commit, 2);
    const auto answers = all_at_once(keys.size(), [&](std::size_t number) {
      return shop().caller().pay(keys[number], payment);
    });
    for (const Answer& answer : answers) {
      INFO("answer: ", answer.text());
      CHECK((answer.status == 201 || answer.status == 503));
    }
  }
  Caller caller = shop().caller();
  for (const std::string& key : keys) {
    CHECK(settle(caller, key, payment).status == 201);
    CHECK(shop().payments_with_key(key) == 1);
  }
  CHECK(caller.balance_of(payment.destination) == 32);
  expect_recovered(shop());
}

TEST_CASE(
    "G6 the network loses the server's word that it committed: the stored answer is the truth") {
  Wire wire(shop().database);
  const Instance instance(wire.url(), {"--cleanup=off"});
  Caller caller = shop().caller_at(instance);
  CHECK(caller.pay(fresh_key(), standing_payment()).status == 201);
  for (int round = 0; round < 5; ++round) {
    const std::string key = fresh_key();
    wire.at_next_commit(Wire::Loss::answer);
    const Answer answer = caller.pay(key, standing_payment());
    INFO("answer: ", answer.text());
    CHECK(wire.struck());
    CHECK(answer.status == 201);
    CHECK(shop().payments_with_key(key) == 1);
    const Answer replay = shop().caller().replay(key, standing_payment());
    CHECK(replay.replayed());
    CHECK(replay.body == answer.body);
  }
  expect_recovered(shop(), instance);
}

TEST_CASE(
    "G6 the network loses the request to commit: nothing was committed, so it is done again") {
  Wire wire(shop().database);
  const Instance instance(wire.url(), {"--cleanup=off"});
  Caller caller = shop().caller_at(instance);
  for (int round = 0; round < 5; ++round) {
    const std::string key = fresh_key();
    wire.at_next_commit(Wire::Loss::request);
    const Answer answer = caller.pay(key, standing_payment());
    INFO("answer: ", answer.text());
    CHECK(wire.struck());
    CHECK(answer.status == 201);
    CHECK(shop().payments_with_key(key) == 1);
  }
  expect_recovered(shop(), instance);
}

TEST_CASE("G6 while a commit is in doubt nobody is told that nothing was done") {
  // The lost one may still be on its way to the database, and the account is not to be had: then
  // the key is given back, but it cannot be said that the payment was not made.
  Wire wire(shop().database);
  const Instance instance(wire.url(), {"--cleanup=off"});
  Caller caller = shop().caller_at(instance);
  CHECK(caller.pay(fresh_key(), standing_payment()).status == 201);
  AccountHold hold(shop().database, shop().tenant.id, standing_payment().source);
  const std::string key = fresh_key();
  wire.at_next_commit(Wire::Loss::request);
  expect_problem(caller.pay(key, standing_payment()), 503, problems::outcome_unknown);
  CHECK(wire.struck());
  CHECK(shop().payments_with_key(key) == 0);
  hold.release();
  CHECK(settle(caller, key, standing_payment()).status == 201);
  CHECK(shop().payments_with_key(key) == 1);
  expect_recovered(shop(), instance);
}

TEST_CASE(
    "G6 a lost COMMIT answer under load: every key one payment, every answer the stored one") {
  Wire wire(shop().database);
  const Instance instance(wire.url(), {"--cleanup=off"});
  const Payment payment = shop().payment_between_new_accounts(1, 1'000'000);
  std::atomic<bool> over{false};
  std::jthread breaker([&] {
    for (int i = 0; i < 12; ++i) {
      wire.at_next_commit(i % 2 == 0 ? Wire::Loss::answer : Wire::Loss::request);
      eventually([&] { return wire.struck() || over; }, 5s, 1ms);
    }
  });
  const auto by_caller = all_at_once(8, [&](std::size_t) {
    std::vector<std::pair<std::string, Answer>> out;
    Caller caller = shop().caller_at(instance);
    for (int i = 0; i < 30; ++i) {
      const std::string key = fresh_key();
      out.emplace_back(key, settle(caller, key, payment));
    }
    return out;
  });
  over = true;
  breaker.join();
  Caller elsewhere = shop().caller();
  for (const auto& answers : by_caller) {
    for (const auto& [key, answer] : answers) {
      CHECK(answer.status == 201);
      CHECK(elsewhere.replay(key, payment).body == answer.body);
      CHECK(shop().payments_with_key(key) == 1);
    }
  }
  CHECK(elsewhere.balance_of(payment.destination) == 240);
  expect_recovered(shop(), instance);
}

TEST_CASE("row 14: an outcome that cannot be learnt in time is told as such; the key tells later") {
  struct Ending {
    Wire::Loss loss;
    std::int64_t payments_meanwhile;
  };
  for (const Ending& ending : {Ending{Wire::Loss::answer, 1}, Ending{Wire::Loss::request, 0}}) {
    Wire wire(shop().database);
    Instance instance(wire.url(), {"--cleanup=off"});
    Caller caller = shop().caller_at(instance);
    CHECK(caller.get("/v1/payments?limit=1").status == 200);
    const std::string key = fresh_key();
    wire.at_next_commit(ending.loss, Wire::Then::unreachable);
    Client patient(instance.port(), 60s);
    const Answer answer = patient.send(caller.payment_request(key, standing_payment()));
    expect_problem(answer, 503, problems::outcome_unknown);
    expect_retry_after(answer);
    CHECK(answer.json().at("detail").get<std::string>().find("key") != std::string::npos);
    CHECK(shop().payments_with_key(key) == ending.payments_meanwhile);

    wire.mend();
    const Answer settled = settle(caller, key, standing_payment());
    CHECK(settled.status == 201);
    CHECK(settled.replayed() == (ending.payments_meanwhile == 1));
    CHECK(shop().payments_with_key(key) == 1);
    // A key that is completed is answered before the lanes are back; a new one needs them.
    CHECK(eventually([&] { return caller.get("/readyz").status == 200; }, 3s));
    expect_recovered(shop(), instance);
  }
}

TEST_CASE("G3 sessions that are ended at random under load: no answer without its payment") {
  const Payment payment = shop().payment_between_new_accounts(1, 1'000'000);
  std::atomic<bool> over{false};
  std::atomic<int> ended{0};
  std::jthread killer([&] {
    Sql sql = shop().database.connect();
    while (!over) {
      ended += static_cast<int>(
          sql.rows("SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                   " WHERE datname = current_database() AND backend_type = 'client backend'"
                   " AND application_name <> $1 ORDER BY random() LIMIT 1",
                   {test_session})
              .size());
      std::this_thread::sleep_for(20ms);
    }
  });
  const auto by_caller = all_at_once(6, [&](std::size_t) {
    std::vector<std::pair<std::string, Answer>> out;
    Caller caller = shop().caller();
    for (int i = 0; i < 60; ++i) {
      const std::string key = fresh_key();
      Answer answer = caller.pay(key, payment);
      out.emplace_back(key, answer);
    }
    return out;
  });
  over = true;
  killer.join();
  CHECK(ended > 0);
  Caller caller = shop().caller();
  for (const auto& answers : by_caller) {
    for (const auto& [key, answer] : answers) {
      INFO("answer: ", answer.text());
      CHECK((answer.status == 201 || answer.status == 503 || answer.status == 409));
      if (answer.status == 201) {
        CHECK(shop().payments_with_key(key) == 1);
      }
      CHECK(settle(caller, key, payment).status == 201);
      CHECK(shop().payments_with_key(key) == 1);
    }
  }
  CHECK(caller.balance_of(payment.destination) == 360);
  expect_recovered(shop());
}

// G5 under load: no floor is broken, nothing is lost or made, and no two payments ever wait for
// each other in a circle, however they cross. Deadlocks are counted by PostgreSQL itself.
#include <doctest/doctest.h>

#include <map>
#include <memory>

#include "support/crowd.hpp"
#include "support/names.hpp"
#include "support/problem.hpp"
#include "support/shop.hpp"

namespace {

using namespace support;

// A shop with three instances, for tests that end by stopping them all.
struct Stage {
  Shop shop;
  Instance second{shop.database};
  Instance third{shop.database};

  const Instance& instance(std::size_t caller) const {
    return caller % 3 == 0 ? shop.instance : caller % 3 == 1 ? second : third;
  }

  // PostgreSQL adds a session's deadlocks to its statistics at the latest when the session ends.
  std::int64_t deadlocks_after_stopping() {
    CHECK(shop.instance.terminate() == 0);
    CHECK(second.terminate() == 0);
    CHECK(third.terminate() == 0);
    return shop.database.deadlocks();
  }
};

std::unique_ptr<Stage>& stage_slot() {
  static std::unique_ptr<Stage> slot;
  return slot;
}

Stage& stage() {
  if (!stage_slot()) {
    stage_slot() = std::make_unique<Stage>();
  }
  return *stage_slot();
}

// `callers` callers make `each` payments each; how often each status was answered.
template <typename PaymentOf>
std::map<int, int> crowd_pays(std::size_t callers, std::size_t each, PaymentOf payment_of) {
  const auto statuses = all_at_once(callers, [&](std::size_t number) {
    Caller caller = stage().shop.caller_at(stage().instance(number));
    std::vector<int> out;
    for (std::size_t i = 0; i < each; ++i) {
      out.push_back(caller.pay(fresh_key(), payment_of(number, i)).status);
    }
    return out;
  });
  std::map<int, int> counts;
  for (const auto& of_one : statuses) {
    for (const int status : of_one) {
      ++counts[status];
    }
  }
  return counts;
}

}  // namespace

TEST_CASE("G5 of 50 payments of 100 at once on a balance of 1000 exactly 10 succeed") {
  // MNY-07
  for (int round = 0; round < 5; ++round) {
    const Payment payment = stage().shop.payment_between_new_accounts(100, 1000);
    std::map<int, int> counts =
        crowd_pays(50, 1, [&](std::size_t, std::size_t) { return payment; });
    CHECK(counts[201] == 10);
    CHECK(counts[402] == 40);
    Caller caller = stage().shop.caller();
    CHECK(caller.balance_of(payment.source) == 0);
    CHECK(caller.balance_of(payment.destination) == 1000);
  }
  CHECK(broken_books(stage().shop.database) == "");
}

TEST_CASE("an overdraft is used up to its last unit and no further by a crowd") {
  Caller caller = stage().shop.caller();
  const std::string source = caller.open_account("EUR", "300");
  const std::string destination = caller.open_account();
  std::map<int, int> counts = crowd_pays(40, 1, [&](std::size_t, std::size_t) {
    return Payment{7, "EUR", source, destination};
  });
  CHECK(counts[201] == 40);
  counts = crowd_pays(40, 1, [&](std::size_t, std::size_t) {
    return Payment{2, "EUR", source, destination};
  });
  CHECK(counts[201] == 10);
  CHECK(counts[402] == 30);
  CHECK(caller.balance_of(source) == -300);
}

TEST_CASE("a crowd on one account with ample funds succeeds as a whole") {
  // CMT-04: contention is never told as a decline.
  const Payment payment = stage().shop.payment_between_new_accounts(1, 1'000'000);
  std::map<int, int> counts = crowd_pays(48, 10, [&](std::size_t, std::size_t) { return payment; });
  CHECK(counts[201] == 480);
  CHECK(stage().shop.caller().balance_of(payment.destination) == 480);
}

TEST_CASE("payments that chain through one another at once leave the sums as they were") {
  // Money that arrives and leaves in one batch: an order exists in which all floors hold, and only
  // what the books show counts.
  Caller caller = stage().shop.caller();
  std::vector<std::string> accounts;
  for (int i = 0; i < 6; ++i) {
    accounts.push_back(caller.open_funded_account(20));
  }
  std::map<int, int> counts = crowd_pays(30, 20, [&](std::size_t number, std::size_t i) {
    return Payment{static_cast<std::int64_t>(1 + (number * 7 + i * 3) % 15), "EUR",
                   accounts[(number + i) % 6],
                   accounts[(number * 5 + i * 2 + 1) % 6] == accounts[(number + i) % 6]
                       ? accounts[(number + i + 1) % 6]
                       : accounts[(number * 5 + i * 2 + 1) % 6]};
  });
  CHECK(counts[201] + counts[402] == 600);
  std::int64_t sum = 0;
  for (const std::string& account : accounts) {
    const std::int64_t balance = caller.balance_of(account);
    CHECK(balance >= 0);
    sum += balance;
  }
  CHECK(sum == 120);
  CHECK(broken_books(stage().shop.database) == "");
}

TEST_CASE("A to B against B to A, and a ring, without one deadlock") {
  // Last in this file: it stops the instances to read PostgreSQL's own count.
  Caller caller = stage().shop.caller();
  std::vector<std::string> ring;
  for (int i = 0; i < 8; ++i) {
    ring.push_back(caller.open_funded_account(1'000'000));
  }
  std::map<int, int> counts = crowd_pays(24, 40, [&](std::size_t number, std::size_t) {
    return Payment{1, "EUR", ring[number / 3 % 2], ring[1 - number / 3 % 2]};
  });
  CHECK(counts[201] == 960);
  counts = crowd_pays(24, 40, [&](std::size_t number, std::size_t i) {
    // Clockwise and the other way round.
    const std::size_t at = (number + i) % 8;
    return number % 2 == 0 ? Payment{1, "EUR", ring[at], ring[(at + 1) % 8]}
                           : Payment{1, "EUR", ring[(at + 1) % 8], ring[at]};
  });
  CHECK(counts[201] == 960);
  std::int64_t sum = 0;
  for (const std::string& account : ring) {
    sum += caller.balance_of(account);
  }
  CHECK(sum == 8'000'000);
  CHECK(broken_books(stage().shop.database) == "");
  CHECK(stage().deadlocks_after_stopping() == 0);
  stage_slot().reset();
}

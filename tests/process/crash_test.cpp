// G2: after a crash at any instruction there is everything or nothing. The service is killed with
// SIGKILL at random moments under load; then every key that was ever sent is sent again.
#include <doctest/doctest.h>

#include <atomic>
#include <map>
#include <mutex>
#include <random>
#include <thread>

#include "support/names.hpp"
#include "support/problem.hpp"
#include "support/shop.hpp"

namespace {

using namespace support;

// What clients know: each key they have sent, and the bytes they have seen for it, if any.
class Memory {
 public:
  void sent(const std::string& key) {
    const std::lock_guard lock(mutex_);
    seen_.try_emplace(key);
  }
  void answered(const std::string& key, const Answer& answer) {
    const std::lock_guard lock(mutex_);
    seen_[key] = answer;
  }
  const std::map<std::string, std::optional<Answer>>& all() const { return seen_; }

 private:
  std::mutex mutex_;
  std::map<std::string, std::optional<Answer>> seen_;
};

// Pays with a new key each time until told to stop; an answer that does not come is a crash.
void keep_paying(const std::stop_token& stop, const Shop& shop, std::uint16_t port,
                 const Payment& payment, Memory& memory) {
  Caller caller(port, shop.tenant.api_key);
  while (!stop.stop_requested()) {
    const std::string key = fresh_key();
    memory.sent(key);
    try {
      const Answer answer = caller.pay(key, payment);
      if (answer.status == 201 || answer.status == 402) {
        memory.answered(key, answer);
      }
    } catch (const std::runtime_error&) {
      return;
    }
  }
}

void pay_until_killed(Shop& shop, Instance& instance, const Payment& payment, Memory& memory,
                      std::chrono::milliseconds life) {
  std::vector<std::jthread> clients;
  for (int i = 0; i < 4; ++i) {
    clients.emplace_back([&](const std::stop_token& stop) {
      keep_paying(stop, shop, instance.port(), payment, memory);
    });
  }
  std::this_thread::sleep_for(life);  // the random moment itself, not a wait for something
  instance.kill_hard();
}

void expect_each_key_once(Shop& shop, const Payment& payment, const Memory& memory) {
  Caller caller = shop.caller();
  int lost_answers = 0;
  for (const auto& [key, seen] : memory.all()) {
    INFO("key: ", key);
    const Answer now = caller.replay(key, payment);
    CHECK(now.status == (seen ? seen->status : 201));
    if (seen) {
      CHECK(now.replayed());
      CHECK(now.body == seen->body);
    } else {
      ++lost_answers;
    }
    // And once more: whatever it was, it is now the same for good.
    CHECK(caller.replay(key, payment).body == now.body);
  }
  Sql& sql = shop.database.sql();
  CHECK(sql.number("SELECT coalesce(max(n), 0) FROM (SELECT count(*) AS n FROM payments"
                   " GROUP BY tenant_id, idempotency_key) counts") == 1);
  CHECK(caller.balance_of(payment.destination) ==
        static_cast<std::int64_t>(memory.all().size()) * payment.amount);
  MESSAGE(memory.all().size(), " keys, ", lost_answers, " of them without an answer at first");
}

}  // namespace

TEST_CASE("G2 50 times killed at a random moment: every key decides once and answers as it did") {
  // CMT-09
  Shop shop({"--lanes=2"});
  const Payment payment = shop.payment_between_new_accounts(1, 1'000'000'000);
  Memory memory;
  const auto seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 50; ++round) {
    pay_until_killed(shop, shop.instance, payment, memory,
                     std::chrono::milliseconds(random() % 120));
    shop.instance.restart();
  }
  CHECK(memory.all().size() > 50);
  expect_each_key_once(shop, payment, memory);
  expect_recovered(shop);
}

TEST_CASE("G2 no key waits for a lease after a crash: a retry elsewhere is answered at once") {
  // CLM-08: the claim died with its transaction, so there is nothing to wait for.
  Shop shop({"--lock-timeout=20000"});
  const Instance other(shop.database, {"--lock-timeout=5000"});
  const Payment payment = shop.payment_between_new_accounts();
  const std::string key = fresh_key();
  Sql holder = shop.database.connect();
  holder.run("BEGIN");
  holder.run("SELECT FROM accounts WHERE id = $1 FOR UPDATE", {payment.source});
  Client first(shop.instance.port());
  first.connect();
  first.write(shop.caller().payment_request(key, payment).bytes());
  REQUIRE(eventually([&] {
    return shop.database.sql().number(
               "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
               " AND datname = current_database()") > 0;
  }));
  shop.instance.kill_hard();
  holder.run("ROLLBACK");
  const Stopwatch watch;
  Caller caller = shop.caller_at(other);
  const Answer answer = caller.pay_waiting(key, payment, 10);
  CHECK(answer.status == 201);
  CHECK(watch.elapsed() < 10s);
  CHECK(shop.payments_with_key(key) == 1);
  shop.instance.restart();
  expect_replay_of(answer, shop.caller().replay(key, payment));
  expect_recovered(shop);
}

TEST_CASE("G2 an instance that stands still and comes back neither repeats nor forgets a payment") {
  Shop shop;
  Instance other(shop.database);
  const Payment payment = shop.payment_between_new_accounts(1, 1'000'000);
  for (int round = 0; round < 5; ++round) {
    const std::string key = fresh_key();
    Client paused(shop.instance.port());
    paused.connect();
    paused.write(shop.caller().payment_request(key, payment).bytes());
    shop.instance.pause();
    const Answer elsewhere = shop.caller_at(other).pay_waiting(key, payment, 5);
    CHECK((elsewhere.status == 201 || elsewhere.status == 409));
    shop.instance.resume();
    const Answer answer = paused.read();
    CHECK((answer.status == 201 || answer.status == 409));
    const Answer settled = shop.caller_at(other).pay_waiting(key, payment, 20);
    CHECK(settled.status == 201);
    if (elsewhere.status == 201) {
      CHECK(elsewhere.body == settled.body);
    }
    if (answer.status == 201) {
      CHECK(answer.body == settled.body);
    }
    CHECK(shop.payments_with_key(key) == 1);
  }
  expect_recovered(shop);
}

// The database goes away and comes back, on a server of this file's own: stopped, crashed,
// read-only, full. While it is away there is no mode that pays without a durable claim; when it is
// back the same process goes on, without a restart.
#include <doctest/doctest.h>

#include <atomic>
#include <map>
#include <mutex>
#include <thread>

#include "support/cluster.hpp"
#include "support/names.hpp"
#include "support/problem.hpp"
#include "support/shop.hpp"

namespace {

using namespace support;

Cluster& cluster() {
  static Cluster instance({"max_connections=40"});
  return instance;
}

Shop& shop() {
  static Shop instance(Database::on(cluster().url()), {"--cleanup=off"});
  return instance;
}

const Payment& standing_payment() {
  static const Payment payment = shop().payment_between_new_accounts(1, 1'000'000);
  return payment;
}

int status_of(const char* target) {
  return Client(shop().instance.port()).send({"GET", target, {}, ""}).status;
}

void back_again() {
  shop().database.reconnect();
  CHECK(eventually([] { return status_of("/readyz") == 200; }, 20s, 50ms));
}

void expect_unavailable(const Answer& answer) {
  expect_problem(answer, 503, problems::unavailable);
  expect_retry_after(answer);
}

// Status 0 when the connection ended without an answer; for threads, where nothing may be thrown.
Answer answer_or_none(Caller& caller, const std::string& key, const Payment& payment) {
  try {
    return caller.pay(key, payment);
  } catch (const std::runtime_error&) {
    caller.client().close();
    return {};
  }
}

}  // namespace

TEST_CASE(
    "row 10: while the database is away payments are answered 503; afterwards each is paid once") {
  // OPS-06
  const Payment payment = standing_payment();
  const std::int64_t before = shop().database.payments();
  cluster().stop();
  shop().database.reconnect();
  std::vector<std::string> keys;
  Caller caller = shop().caller();
  const Stopwatch watch;
  for (int i = 0; i < 20; ++i) {
    keys.push_back(fresh_key());
    expect_unavailable(caller.pay(keys.back(), payment));
  }
  CHECK(watch.elapsed() < 30s);
  CHECK(status_of("/healthz") == 200);
  CHECK(eventually([] { return status_of("/readyz") == 503; }));

  cluster().start();
  back_again();
  CHECK(shop().database.payments() == before);
  for (const std::string& key : keys) {
    const Answer answer = caller.pay(key, payment);
    expect_succeeded(answer);
    CHECK_FALSE(answer.replayed());
    CHECK(shop().payments_with_key(key) == 1);
  }
  expect_recovered(shop());
}

TEST_CASE("G2 a server that crashes under load: every key decides once, what was answered stays") {
  // CMT-09 with `pg_ctl stop -m immediate`
  const Payment payment = shop().payment_between_new_accounts(1, 1'000'000);
  std::mutex mutex;
  std::map<std::string, std::string> seen;  // key to body, empty when no answer came
  std::atomic<int> unanswered{0};
  std::vector<std::jthread> clients;
  for (int i = 0; i < 4; ++i) {
    clients.emplace_back([&](const std::stop_token& stop) {
      Caller caller = shop().caller();
      while (!stop.stop_requested()) {
        const std::string key = fresh_key();
        const Answer answer = answer_or_none(caller, key, payment);
        // Told to come back, a client pauses, if not for the whole second: each call is a new key
        // here.
        if (answer.status != 201) std::this_thread::sleep_for(20ms);
        const std::lock_guard lock(mutex);
        seen[key] = answer.status == 201 ? answer.body : "";
        unanswered += answer.status == 0 ? 1 : 0;
      }
    });
  }
  for (int round = 0; round < 3; ++round) {
    std::size_t before = 0;
    CHECK(eventually([&] {
      const std::lock_guard lock(mutex);
      before = before == 0 ? seen.size() : before;
      return seen.size() > before + 50;
    }));
    cluster().stop_at_once();
    cluster().start();
    back_again();
  }
  clients.clear();  // stops and joins
  CHECK(unanswered == 0);
  Caller caller = shop().caller();
  for (const auto& [key, body] : seen) {
    const Answer answer = caller.pay_waiting(key, payment, 10);
    INFO("answer: ", answer.text());
    CHECK(answer.status == 201);
    CHECK((body.empty() || answer.body == body));
  }
  CHECK(shop().database.sql().number("SELECT max(n) FROM (SELECT count(*) AS n FROM payments"
                                     " GROUP BY tenant_id, idempotency_key) counts") == 1);
  CHECK(caller.balance_of(payment.destination) == static_cast<std::int64_t>(seen.size()));
  expect_recovered(shop());
}

TEST_CASE("a primary that turns read-only is answered 503, and recovery needs no restart") {
  // CMT-06
  Caller caller = shop().caller();
  const std::string known = fresh_key();
  const Answer first = caller.pay(known, standing_payment());
  shop().database.sql().run("ALTER SYSTEM SET default_transaction_read_only = on");
  shop().database.sql().run("SELECT pg_reload_conf()");
  REQUIRE(eventually([&] {
    return shop().database.connect().text("SHOW default_transaction_read_only") == "on";
  }));
  const std::string key = fresh_key();
  for (int i = 0; i < 5; ++i) {
    const Answer answer = caller.pay(key, standing_payment());
    INFO("answer: ", answer.text());
    CHECK(answer.status == 503);
    CHECK(answer.json().at("retryable") == true);
    expect_retry_after(answer);
  }
  CHECK(eventually([] { return status_of("/readyz") == 503; }));
  CHECK(status_of("/healthz") == 200);
  // "A key already completed is still answered while the database answers."
  expect_replay_of(first, caller.replay(known, standing_payment()));
  CHECK(caller.get("/v1/accounts/" + standing_payment().source).status == 200);

  Sql repair = shop().database.connect();
  repair.run("SET default_transaction_read_only = off");
  repair.run("ALTER SYSTEM RESET default_transaction_read_only");
  repair.run("SELECT pg_reload_conf()");
  shop().database.reconnect();
  CHECK(eventually([&] { return caller.pay(key, standing_payment()).status == 201; }, 20s, 50ms));
  back_again();
  CHECK(shop().payments_with_key(key) == 1);
  expect_recovered(shop());
}

TEST_CASE("a server without a free connection is answered 503, never 500, and the process stays") {
  // OPS-04: SQLSTATE 53300. Every slot that the service loses is taken by somebody else at once.
  Caller caller = shop().caller();
  const pid_t before = shop().instance.pid();
  std::vector<Sql> crowd;
  Sql killer = shop().database.connect();
  const auto take_every_slot = [&] {
    try {
      for (;;) {
        crowd.emplace_back(shop().database.url());
      }
    } catch (const std::runtime_error&) {
      // The server is full.
    }
  };
  const bool cut_off = eventually(
      [&] {
        take_every_slot();
        killer.run(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE"
            " backend_type = 'client backend' AND application_name <> $1",
            {test_session});
        take_every_slot();
        return killer.number(
                   "SELECT count(*) FROM pg_stat_activity WHERE backend_type ="
                   " 'client backend' AND application_name <> $1",
                   {test_session}) == 0;
      },
      20s);
  REQUIRE(cut_off);
  const std::string key = fresh_key();
  for (int i = 0; i < 5; ++i) {
    const Answer answer = caller.pay(key, standing_payment());
    INFO("answer: ", answer.text());
    CHECK(answer.status == 503);
    CHECK(answer.json().at("retryable") == true);
  }
  CHECK(shop().instance.alive());
  crowd.clear();
  CHECK(eventually([&] { return caller.pay(key, standing_payment()).status == 201; }, 20s, 50ms));
  CHECK(shop().instance.pid() == before);
  CHECK(shop().payments_with_key(key) == 1);
  back_again();
  expect_recovered(shop());
}

TEST_CASE("three instances whose server restarts under load are all ready again by themselves") {
  // OPS-04
  Instance second(shop().database, {"--cleanup=off"});
  Instance third(shop().database, {"--cleanup=off"});
  const Payment payment = shop().payment_between_new_accounts(1, 1'000'000);
  std::atomic<int> faults{0};
  {
    std::vector<std::jthread> clients;
    for (const Instance* instance : {&shop().instance, &second, &third}) {
      clients.emplace_back([&, instance](const std::stop_token& stop) {
        Caller caller = shop().caller_at(*instance);
        while (!stop.stop_requested()) {
          const int status = answer_or_none(caller, fresh_key(), payment).status;
          faults += status == 201 || status == 503 ? 0 : 1;
        }
      });
    }
    cluster().stop();
    cluster().start();
    back_again();
    CHECK(eventually([&] { return second.ready() && third.ready(); }, 20s, 50ms));
  }
  CHECK(faults == 0);
  CHECK(second.alive());
  CHECK(third.alive());
  expect_recovered(shop(), second);
  expect_recovered(shop(), third);
}

// SIGTERM and SIGINT: readiness turns red, no new work is taken, running payments finish and are
// answered, the process ends with 0 within its grace. A rolling deploy loses nobody's payment.
#include <doctest/doctest.h>

#include <signal.h>

#include <atomic>
#include <mutex>
#include <thread>

#include "support/holds.hpp"
#include "support/names.hpp"
#include "support/problem.hpp"
#include "support/shop.hpp"

namespace {

using namespace support;

// One database for all; each case stops an instance of its own.
Shop& shop() {
  static Shop instance;
  return instance;
}

// An instance with one payment in the middle of its transaction.
struct Busy {
  explicit Busy(const Instance::Flags& more = {})
      : instance(shop().database, flags_with(more)),
        hold(shop().database, shop().tenant.id, payment.source),
        running(instance.port()) {
    running.connect();
    running.write(shop().caller().payment_request(key, payment).bytes());
    REQUIRE(hold.somebody_waits());
  }

  static Instance::Flags flags_with(Instance::Flags more) {
    more.emplace_back("--lock-timeout=15000");
    return more;
  }

  std::string key = fresh_key();
  Payment payment = shop().payment_between_new_accounts();
  Instance instance;
  AccountHold hold;
  Client running;
};

}  // namespace

TEST_CASE("SIGTERM with nothing to do ends the process with 0") {
  Instance instance(shop().database);
  CHECK(instance.terminate() == 0);
}

TEST_CASE("SIGTERM with idle keep-alive connections ends the process with 0, soon") {
  Instance instance(shop().database);
  std::vector<Caller> idle;
  for (int i = 0; i < 20; ++i) {
    idle.push_back(shop().caller_at(instance));
    CHECK(idle.back().get("/v1/payments?limit=1").status == 200);
  }
  const Stopwatch watch;
  CHECK(instance.terminate() == 0);
  CHECK(watch.elapsed() < 10s);
}

TEST_CASE("SIGTERM: a running payment finishes and is answered before the process ends with 0") {
  // OPS-01
  Busy busy;
  busy.instance.ask_to_stop();
  CHECK_FALSE(busy.instance.wait_for_exit(300ms).has_value());
  busy.hold.release();
  const Answer answer = busy.running.read();
  expect_succeeded(answer);
  // Nobody should send the next request into a process that leaves.
  CHECK(same_name(answer.header("Connection").value_or(""), "close"));
  CHECK(busy.instance.wait_for_exit() == 0);
  expect_replay_of(answer, shop().caller().replay(busy.key, busy.payment));
  CHECK(shop().payments_with_key(busy.key) == 1);
}

TEST_CASE("SIGINT does the same as SIGTERM") {
  Busy busy;
  ::kill(busy.instance.pid(), SIGINT);
  CHECK_FALSE(busy.instance.wait_for_exit(300ms).has_value());
  busy.hold.release();
  expect_succeeded(busy.running.read());
  CHECK(busy.instance.wait_for_exit() == 0);
}

TEST_CASE("SIGTERM: readiness turns 503 while the process is alive and finishes its work") {
  Busy busy;
  CHECK(busy.instance.ready());
  busy.instance.ask_to_stop();
  // A balancer probes with new connections, so the listener must still be there.
  CHECK(eventually([&] {
    Client probe(busy.instance.port());
    return probe.send({"GET", "/readyz", {}, ""}).status == 503;
  }));
  CHECK(Client(busy.instance.port()).send({"GET", "/healthz", {}, ""}).status == 200);
  busy.hold.release();
  expect_succeeded(busy.running.read());
  CHECK(busy.instance.wait_for_exit() == 0);
}

TEST_CASE("row 10: a draining instance answers a new payment 503 unavailable and claims nothing") {
  Busy busy;
  Caller early = shop().caller_at(busy.instance);
  CHECK(early.get("/v1/payments?limit=1").status == 200);
  busy.instance.ask_to_stop();
  REQUIRE(eventually([&] { return !busy.instance.ready(); }));
  const std::string key = fresh_key();
  Caller late = shop().caller_at(busy.instance);
  for (Caller* caller : {&early, &late}) {
    const Answer answer = caller->pay(key, shop().payment_between_new_accounts());
    expect_problem(answer, 503, problems::unavailable);
    expect_retry_after(answer);
  }
  CHECK(shop().key_rows(key) == 0);
  busy.hold.release();
  expect_succeeded(busy.running.read());
  CHECK(busy.instance.wait_for_exit() == 0);
}

TEST_CASE("a payment that cannot finish does not hold the process beyond --shutdown-grace") {
  Busy busy({"--shutdown-grace=1"});
  const Stopwatch watch;
  busy.instance.ask_to_stop();
  CHECK(busy.instance.wait_for_exit(15s) == 0);
  CHECK(watch.elapsed() < 5s);
  busy.hold.release();
  // Whatever its caller was told: the key tells the truth.
  const Answer settled = shop().caller().pay_waiting(busy.key, busy.payment, 20);
  CHECK(settled.status == 201);
  CHECK(shop().payments_with_key(busy.key) == 1);
}

TEST_CASE("a second SIGTERM ends the process at once with 0, and the key tells what became of it") {
  Busy busy;
  busy.instance.ask_to_stop();
  CHECK_FALSE(busy.instance.wait_for_exit(200ms).has_value());
  busy.instance.ask_to_stop();
  CHECK(busy.instance.wait_for_exit(5s) == 0);
  busy.hold.release();
  const Answer settled = shop().caller().pay_waiting(busy.key, busy.payment, 20);
  CHECK(settled.status == 201);
  CHECK(shop().payments_with_key(busy.key) == 1);
}

TEST_CASE("a rolling deploy under load loses no payment and repeats none") {
  // OPS-01: clients retry what was not answered on the other instance, with the same key.
  const Payment payment = shop().payment_between_new_accounts(1, 1'000'000);
  Instance leaving(shop().database);
  std::atomic<int> paid{0};
  std::mutex mutex;
  std::vector<std::string> failed;
  std::vector<std::string> keys;
  {
    std::vector<std::jthread> clients;
    for (int i = 0; i < 6; ++i) {
      clients.emplace_back([&](const std::stop_token& stop) {
        Caller first = shop().caller_at(leaving);
        Caller second = shop().caller();
        while (!stop.stop_requested()) {
          const std::string key = fresh_key();
          int status = 0;
          try {
            status = first.pay(key, payment).status;
          } catch (const std::runtime_error&) {
            first.client().close();  // refused or cut off: the retry decides
          }
          if (status != 201) {
            status = second.pay_waiting(key, payment, 20).status;
          }
          const std::lock_guard lock(mutex);
          keys.push_back(key);
          ++paid;
          if (status != 201) {
            failed.push_back(key + ": " + std::to_string(status));
          }
        }
      });
    }
    REQUIRE(eventually([&] { return paid > 200; }, 30s));
    leaving.ask_to_stop();
    CHECK(leaving.wait_for_exit() == 0);
    const int before = paid;
    REQUIRE(eventually([&] { return paid > before + 50; }, 30s));
  }
  CHECK(failed.size() == 0);
  CHECK(shop().caller().balance_of(payment.destination) == static_cast<std::int64_t>(keys.size()));
  expect_recovered(shop());
}

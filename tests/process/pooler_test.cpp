// Behind pgbouncer in transaction mode everything holds that holds without it: each transaction may
// run on another session of the server, settings of the session do not arrive, and nothing stays
// prepared. In statement mode no payment is possible, and the start says so.
#include <doctest/doctest.h>

#include "support/crowd.hpp"
#include "support/dying_backend.hpp"
#include "support/holds.hpp"
#include "support/pooler.hpp"
#include "support/problem.hpp"
#include "support/shop.hpp"

namespace {

using namespace support;

// As pgbouncer is usually set up for clients that send options; without the line it refuses them.
const std::string drop_options = "ignore_startup_parameters = extra_float_digits,options";

struct PooledShop {
  Database database;
  Pooler pooler;
  Instance instance;
  Tenant tenant;

  explicit PooledShop(const std::string& mode, std::vector<std::string> settings = {})
      : pooler(database, mode, std::move(settings)),
        instance(pooler.url(), {"--cleanup-interval=1", "--observe-interval=1"}),
        tenant(create_tenant(database)) {}

  Caller caller() const { return Caller(instance, tenant); }
};

PooledShop& shop() {
  static PooledShop instance("transaction", {drop_options});
  return instance;
}

Payment payment_at(Caller& caller, std::int64_t amount = 60, std::int64_t funds = 1'000'000) {
  return {amount, "EUR", caller.open_funded_account(funds), caller.open_account()};
}

void pay_replay_and_refuse(const Instance& instance, const Tenant& tenant) {
  Caller caller(instance, tenant);
  const Payment payment = payment_at(caller, 60, 100);
  const std::string key = fresh_key();
  expect_paid_once(caller, key, payment);
  CHECK(caller.get("/v1/idempotency-keys/" + key).status == 200);
  CHECK(caller.get("/v1/payments?limit=5&account=" + payment.source).status == 200);
  CHECK(caller.get("/v1/accounts/" + payment.source + "/entries").status == 200);
}

}  // namespace

TEST_CASE("a pooler in transaction mode, or in session mode, whether it drops or refuses options") {
  for (const std::string mode : {"transaction", "session"}) {
    for (const auto& settings : {std::vector<std::string>{}, {drop_options}}) {
      CAPTURE(mode);
      CAPTURE(settings.size());
      const std::string size = mode == "session" ? "default_pool_size = 30" : "";
      auto lines = settings;
      lines.push_back(size);
      const PooledShop pooled(mode, lines);
      pay_replay_and_refuse(pooled.instance, pooled.tenant);
      CHECK(pooled.instance.log().find("a pooler is in between") != std::string::npos);
      CHECK(broken_books(pooled.database) == "");
    }
  }
}

TEST_CASE("G1 many callers at two instances over four sessions of the server: each key pays once") {
  const Instance other(shop().pooler.url(), {});
  Caller opener = shop().caller();
  const Payment payment = payment_at(opener, 1);
  constexpr std::size_t callers = 12;
  constexpr int keys_each = 15;
  const std::string prefix = fresh_key();
  const auto answers = all_at_once(callers, [&](std::size_t number) {
    // Pairs of callers send the same keys, to different instances.
    Caller caller(number % 2 == 0 ? shop().instance : other, shop().tenant);
    int paid = 0;
    for (int i = 0; i < keys_each; ++i) {
      const std::string key = prefix + "-" + std::to_string(number / 2) + "-" + std::to_string(i);
      Answer answer;
      eventually([&] { return (answer = caller.pay(key, payment)).status != 409; });
      paid += answer.status == 201 ? 1 : 0;
    }
    return paid;
  });
  for (const int paid : answers) CHECK(paid == keys_each);
  CHECK(shop().database.sql().number("SELECT count(*) FROM payments WHERE idempotency_key LIKE $1",
                                     {prefix + "%"}) == callers / 2 * keys_each);
  CHECK(broken_books(shop().database) == "");
}

TEST_CASE("waits stay bounded: a locked account gives 409, 503 at the most, not a hanging call") {
  Caller caller = shop().caller();
  const Payment payment = payment_at(caller);
  const AccountHold hold(shop().database, shop().tenant.id, payment.source);
  const Stopwatch watch;
  const Answer answer = caller.pay(fresh_key(), payment);
  INFO(answer.text());
  CHECK((answer.status == 409 || answer.status == 503));
  CHECK(watch.elapsed() < 8s);
}

TEST_CASE("G6 a session of the server that dies inside COMMIT pays once, and the key tells") {
  Caller caller = shop().caller();
  const Payment payment = payment_at(caller);
  const std::string key = fresh_key();
  {
    DyingBackend backend(shop().database, DyingBackend::When::inside_commit, 1);
    Answer answer;
    CHECK(eventually([&] { return (answer = caller.pay(key, payment)).status == 201; }));
    CHECK(backend.deaths() >= 1);
  }
  CHECK(shop().database.payments_with_key(shop().tenant.id, key) == 1);
  CHECK(caller.replay(key, payment).replayed());
  CHECK(broken_books(shop().database) == "");
}

TEST_CASE("a pooler that dies and comes back is reconnected to, and keys replay") {
  Caller caller = shop().caller();
  const Payment payment = payment_at(caller);
  const std::string key = fresh_key();
  expect_succeeded(caller.pay(key, payment));
  shop().pooler.kill_hard();
  CHECK(eventually([&] { return !shop().instance.ready(); }));
  CHECK(caller.pay(fresh_key(), payment).status == 503);
  shop().pooler.start();
  CHECK(eventually([&] { return shop().instance.ready(); }));
  CHECK(eventually([&] { return caller.replay(key, payment).replayed(); }));
  expect_succeeded(caller.pay(fresh_key(), payment));
  CHECK(broken_books(shop().database) == "");
}

TEST_CASE("migrations, cleanup, status and verification work through a pooler") {
  const Database empty = Database::empty();
  const Pooler pooler(empty, "transaction", {drop_options}, "postgres");
  const Environment through{{"ONCEPAY_DATABASE_URL", pooler.url()}};
  const std::vector<std::vector<std::string>> commands{{"migrate", "up"},
                                                       {"migrate", "verify"},
                                                       {"tenant", "create", "pooled"},
                                                       {"migrate", "partition-keys"},
                                                       {"cleanup"},
                                                       {"status"},
                                                       {"verify"}};
  for (const auto& command : commands) {
    const Finished done = run(oncepay(command, through));
    INFO(command.front(), ": ", done.all());
    CHECK(done.exit_code == 0);
  }
}

TEST_CASE("a pooler in statement mode is refused at start with one sentence that says what to do") {
  const Database database;
  const Pooler pooler(database, "statement", {drop_options});
  const Finished refused = run(
      oncepay({"serve", "--listen", "127.0.0.1:0"}, {{"ONCEPAY_DATABASE_URL", pooler.url()}}), 30s);
  CHECK(refused.exit_code == 1);
  CHECK(refused.err.find("pooler in statement mode") != std::string::npos);
  CHECK(refused.err.find("set pool_mode to transaction or session") != std::string::npos);
  CHECK(std::count(refused.err.begin(), refused.err.end(), '\n') == 1);
}

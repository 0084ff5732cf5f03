// A primary and a synchronous standby: the primary dies under load and the standby takes over, or
// the standby goes away and commits wait. Instances know both servers and follow by themselves.
#include <doctest/doctest.h>

#include "fault/nemesis.hpp"
#include "fault/verdict.hpp"
#include "support/names.hpp"

namespace {

using namespace fault;
using support::Payment;

FieldSettings settings() {
  return {.posts = 2,
          .standby = true,
          .flags = {"--answer-deadline=2000", "--commit-resolve-deadline=2000",
                    "--statement-timeout=3000", "--lock-timeout=300"},
          .server = {"max_connections=60", "max_wal_senders=5"}};
}

std::int64_t waiting_for_standby(Field& field) {
  return field.database.sql().number(
      "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
      " AND query LIKE '%COMMIT%' AND application_name <> $1",
      {support::test_session});
}

}  // namespace

TEST_CASE("G3 failover under load: nothing acknowledged is lost or doubled, service goes on") {
  const std::uint32_t seed = 7;
  Field field(settings(), seed);
  Random random(seed);
  support::Stopwatch outage;
  std::chrono::milliseconds recovered{0};
  {
    Customers customers(field, {.count = 8}, seed);
    last(random, 2000ms, 2500ms);
    field.cluster.stop_at_once();
    outage = support::Stopwatch();
    field.standby->promote();
    field.expect_recovered(20s);
    recovered = outage.elapsed();
    last(random, 1500ms, 2000ms);
    customers.finish();
  }
  support::Database after = field.database.replica_on(field.standby->url());
  sweep(field, after, 1'000);
  const Verdict verdict = judge(field, after);
  MESSAGE("served again ", recovered.count(), " ms after the primary died\n", verdict.text());
  CHECK(verdict.violations.empty());
  CHECK(recovered < 10s);
  if (!verdict.violations.empty()) MESSAGE(keep(verdict.history));
}

TEST_CASE("row 14: with the standby gone commits wait; calls are answered in time, COMMIT stays") {
  Field field(settings(), 8);
  field.standby->stop();
  const Payment payment{1, "EUR", field.accounts()[0], field.accounts()[1]};
  const std::string key = support::fresh_key();
  support::Client client(field.post(0).to_service.port(), 10s);
  const auto pay = [&] {
    return pay_once(client, payment_request(field.tenant, key, payment),
                    {"a client", key, payment, field.post(0).name, 0, 0, std::nullopt, ""},
                    field.recorder);
  };
  const support::Stopwatch watch;
  const auto seen = pay();
  REQUIRE(seen);
  CHECK(seen->problem() == "outcome-unknown");
  CHECK(watch.elapsed() < 3s);
  // Longer than any statement may run: COMMIT is not a statement that may be cancelled, for what it
  // wrote would be seen by others while the standby does not have it.
  CHECK_FALSE(support::eventually(
      [&] { return field.database.payments_with_key(field.tenant.id, key) != 0; }, 4s, 100ms));
  CHECK(waiting_for_standby(field) >= 1);
  const auto meanwhile = pay();
  REQUIRE(meanwhile);
  CHECK_FALSE(meanwhile->decided());

  field.standby->start();
  field.expect_recovered();
  CHECK(support::eventually([&] {
    const auto settled = pay();
    return settled && settled->status == 201;
  }));
  CHECK(field.database.payments_with_key(field.tenant.id, key) == 1);
  const Verdict verdict = judge(field);
  INFO(verdict.text());
  CHECK(verdict.violations.empty());
}

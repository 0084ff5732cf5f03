// deploy/pg_cron/cleanup.sql with the real extension. A file of its own, because Debian has the
// extension for its own server alone: scripts/test-postgres-versions leaves it out.
#include <doctest/doctest.h>

#include "support/cluster.hpp"
#include "support/names.hpp"
#include "support/shop.hpp"

namespace {

using namespace support;

// pg_cron works in one database of its server, so this test has a server of its own.
class Scheduled {
 public:
  Scheduled() : cluster({"shared_preload_libraries=pg_cron", "cron.host=127.0.0.1"}) {
    REQUIRE(run_oncepay({"migrate", "up"}).exit_code == 0);
    run_deploy_file(cluster.url(), "pg_cron/cleanup.sql");
    run_deploy_file(cluster.url(), "pg_cron/cleanup.sql");  // changes nothing
  }

  Finished run_oncepay(std::vector<std::string> arguments) const {
    return run(oncepay(std::move(arguments), {{"ONCEPAY_DATABASE_URL", cluster.url()}}));
  }
  // Made two days ago; those that live on do so for three.
  void have_keys(int expired, int living) const {
    Sql sql(cluster.url());
    sql.run("DELETE FROM idempotency_keys");
    sql.run(
        "INSERT INTO idempotency_keys (tenant_id, key, fingerprint, fingerprint_version, status,"
        " answer_status, answer_content_type, answer_body, completed_at, created_at, expires_at)"
        " SELECT '01a228f2-fc5b-73e6-8546-4cee266102cf', 'key-' || n, sha256('x'), 1, 'completed',"
        " 201, 'application/json', 'x', now(), now() - interval '2 days',"
        " now() + CASE WHEN n <= $1::int THEN -1 ELSE 1 END * interval '1 day'"
        " FROM generate_series(1, $1::int + $2::int) AS n",
        {std::to_string(expired), std::to_string(living)});
  }
  std::int64_t keys() const {
    return Sql(cluster.url()).number("SELECT count(*) FROM idempotency_keys");
  }

  Cluster cluster;
};

}  // namespace

TEST_CASE("G7 pg_cron removes what is expired and nothing else, every minute and after a restart") {
  Scheduled scheduled;
  scheduled.have_keys(2'500, 10);
  {
    Sql sql(scheduled.cluster.url());
    CHECK(sql.number("SELECT count(*) FROM cron.job WHERE schedule = '* * * * *'") == 1);
    // The same call, due at once: the minute is not worth waiting for.
    sql.run("SELECT cron.schedule('at start', '@reboot', 'CALL oncepay_cleanup()')");
  }
  scheduled.cluster.stop();
  scheduled.cluster.start();
  CHECK(eventually([&] { return scheduled.keys() == 10; }, 90s, 50ms));
  Sql sql(scheduled.cluster.url());
  CHECK(eventually([&sql] {
    return sql.number("SELECT count(*) FROM cron.job_run_details WHERE status = 'succeeded'") >= 1;
  }));
  CHECK(sql.number("SELECT count(*) FROM cron.job_run_details WHERE status = 'failed'") == 0);

  // Beside other cleaners it is harmless, and whoever comes second leaves.
  scheduled.have_keys(5'000, 10);
  std::vector<Child> cleaners;
  for (int i = 0; i < 3; ++i) {
    cleaners.push_back(start(oncepay({"cleanup", "--batch-size=100"},
                                     {{"ONCEPAY_DATABASE_URL", scheduled.cluster.url()}})));
    sql.run("CALL oncepay_cleanup(100, 0)");
  }
  for (Child& cleaner : cleaners) CHECK(cleaner.wait_for(60s) == 0);
  sql.run("CALL oncepay_cleanup()");
  CHECK(scheduled.keys() == 10);

  // From here on the test alone calls: a run of the schedule in between would take what is awaited.
  sql.run("SELECT cron.unschedule(jobid) FROM cron.job");
  CHECK(eventually([&sql] {
    return sql.number(
               "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'CALL oncepay_cleanup%'"
               " AND state = 'active' AND pid <> pg_backend_pid()") == 0;
  }));
  Sql other(scheduled.cluster.url());
  scheduled.have_keys(5, 10);
  other.run("BEGIN; SELECT pg_advisory_xact_lock(1869505381, 2)");
  sql.run("CALL oncepay_cleanup()");
  CHECK(scheduled.keys() == 15);
  other.run("COMMIT");

  // Keys in periods: the partition goes with the last key that lived in it.
  REQUIRE(scheduled.run_oncepay({"migrate", "partition-keys"}).exit_code == 0);
  const auto periods = [&sql] {
    return sql.text(
        "SELECT string_agg(state, ' ' ORDER BY starts_at) FROM idempotency_key_periods");
  };
  sql.run("CALL oncepay_cleanup()");
  CHECK(scheduled.keys() == 15);
  CHECK(periods() == "past current next");
  sql.run("UPDATE idempotency_keys SET expires_at = now() - interval '1 hour'");
  sql.run("CALL oncepay_cleanup()");
  CHECK(scheduled.keys() == 0);
  CHECK(periods() == "current next");
}

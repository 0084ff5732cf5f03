// The roles of deploy/postgresql: the owner migrates and makes tenants, the runtime role serves. It
// can do all that serving takes, and neither change what was paid nor define anything.
#include <doctest/doctest.h>

#include <regex>

#include "support/cluster.hpp"
#include "support/names.hpp"
#include "support/problem.hpp"
#include "support/scrape.hpp"
#include "support/shop.hpp"

namespace {

using namespace support;

// A database that was set up as deploy/postgresql says, by its roles alone.
class Guarded {
 public:
  Guarded() {
    Sql(cluster_.url()).run("CREATE DATABASE guarded");
    run_deploy_file(url("postgres"), "postgresql/roles.sql");
    run_deploy_file(url("postgres"), "postgresql/roles.sql");  // changes nothing
    migrated = run_as(owner_role, {"migrate", "up"});
    run_deploy_file(url(owner_role), "postgresql/grants.sql");
    run_deploy_file(url(owner_role), "postgresql/grants.sql");
    run_as(owner_role, {"tenant", "create", "guarded"});
    const Finished made =
        run_as(owner_role, {"apikey", "create", "--tenant", "guarded", "--scopes", "read,write"});
    std::smatch key;
    REQUIRE(std::regex_search(made.out, key, std::regex("opk_[A-Za-z0-9_.-]+")));
    tenant = {"guarded", Sql(url("postgres")).text("SELECT id FROM tenants"), key.str()};
  }

  std::string url(const std::string& role) const {
    return as_role(with_database(cluster_.url(), "guarded"), role);
  }
  Finished run_as(const std::string& role, std::vector<std::string> arguments) const {
    return run(oncepay(std::move(arguments), {{"ONCEPAY_DATABASE_URL", url(role)}}));
  }

  Finished migrated;
  Tenant tenant;

 private:
  Cluster cluster_;
};

Guarded& guarded() {
  static Guarded instance;
  return instance;
}

constexpr const char* runtime = runtime_role;
constexpr const char* privilege_missing = "42501";

}  // namespace

TEST_CASE("the owner migrates and makes tenants, without being a superuser") {
  CHECK(guarded().migrated.exit_code == 0);
  CHECK(guarded().run_as(owner_role, {"migrate", "verify"}).exit_code == 0);
  CHECK_FALSE(Sql(guarded().url(owner_role))
                  .holds("SELECT rolsuper OR rolcreaterole OR rolcreatedb FROM pg_roles"
                         " WHERE rolname = current_user"));
}

TEST_CASE("as the runtime role everything is served: payments, replays, reads, expiry, cleanup") {
  const Instance instance(guarded().url(runtime), {"--cleanup-interval=1", "--observe-interval=1"});
  Caller caller(instance, guarded().tenant);
  const Payment payment{60, "EUR", caller.open_funded_account(100), caller.open_account()};
  const std::string key = fresh_key();
  expect_paid_once(caller, key, payment);
  Payment unknown = payment;
  unknown.destination = fresh_name("nowhere:");
  CHECK(caller.pay(fresh_key(), unknown).status == 422);
  CHECK(caller.get("/v1/idempotency-keys/" + key).status == 200);
  CHECK(caller.get("/v1/payments?limit=5&account=" + payment.source).status == 200);
  CHECK(caller.get("/v1/payments?status=declined").status == 200);
  CHECK(caller.get("/v1/accounts/" + payment.source + "/entries").status == 200);

  // A key past its expiry is claimed again, whether cleanup came first or not.
  Sql owner(guarded().url(owner_role));
  owner.run(
      "UPDATE idempotency_keys SET created_at = created_at - interval '2 days',"
      " expires_at = expires_at - interval '2 days'");
  CHECK(caller.pay(key, payment.of(5)).status == 201);
  CHECK(eventually([&owner] {
    return owner.number("SELECT count(*) FROM idempotency_keys WHERE expires_at < now()") == 0;
  }));
  CHECK(eventually([&instance] {
    const Scrape scrape(instance);
    return scrape.value("oncepay_cleanup_removed_keys_total") > 0 &&
           scrape.value("oncepay_observation_success_timestamp_seconds") > 0;
  }));
  const Scrape scrape(instance);
  CHECK(scrape.value("oncepay_observation_failures_total") == 0);
  CHECK(scrape.value("oncepay_cleanup_failures_total") == 0);
  CHECK(scrape.value("oncepay_operations_failed_total") == 0);
  for (const char* command : {"cleanup", "verify", "status"}) {
    const Finished done = guarded().run_as(runtime, {command});
    INFO(command, " said: ", done.all());
    CHECK(done.exit_code == 0);
  }
}

TEST_CASE("a commit in doubt is resolved by the runtime role as well") {
  Sql runtime_session(guarded().url(runtime));
  // What sql/once/write_commit_record.sql needs beyond tables.
  CHECK(runtime_session.sqlstate_of("SELECT pg_logical_emit_message(true, 'oncepay', '')") ==
        "00000");
}

TEST_CASE("the runtime role cannot change what was paid, raise a limit, or define anything") {
  Sql session(guarded().url(runtime));
  for (const char* statement : {
           "UPDATE transfers SET amount = 1",
           "DELETE FROM transfers",
           "TRUNCATE transfers",
           "UPDATE payments SET status = 'declined'",
           "DELETE FROM payments",
           "UPDATE accounts SET overdraft_limit = NULL",
           "UPDATE accounts SET currency = 'USD'",
           "DELETE FROM accounts",
           "INSERT INTO tenants (id, name) VALUES (gen_random_uuid(), 'mine')",
           "UPDATE api_keys SET revoked_at = NULL",
           "DELETE FROM api_keys",
           "DELETE FROM schema_migrations",
           "ALTER TABLE transfers DISABLE TRIGGER ALL",
           "DROP TRIGGER transfers_append_only ON transfers",
           "DROP TABLE idempotency_keys",
           "CREATE TABLE mine (id int)",
           "CREATE TEMPORARY TABLE mine (id int)",
           "CREATE FUNCTION mine() RETURNS int LANGUAGE sql AS 'SELECT 1'",
           "CREATE OR REPLACE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS"
           " 'BEGIN RETURN NULL; END'",
           "SET session_replication_role = replica",
           "CREATE SCHEMA mine",
           "SET ROLE oncepay_owner",
       }) {
    INFO(statement);
    CHECK(session.sqlstate_of(statement) == privilege_missing);
  }
}

TEST_CASE("every table has its line in grants.sql: the runtime role reads all of them") {
  const auto unread =
      Sql(guarded().url("postgres"))
          .column(
              "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace"
              " AND relkind IN ('r', 'p')"
              " AND NOT has_table_privilege('oncepay_runtime', oid, 'SELECT')");
  for (const std::string& table : unread) {
    INFO(table);
    CHECK(false);
  }
}

TEST_CASE("the runtime role is told by name which privilege a migration would need") {
  const Finished refused = guarded().run_as(runtime, {"tenant", "create", "mine"});
  CHECK(refused.exit_code == 1);
  CHECK(refused.err.find("HINT: grant the missing privilege") != std::string::npos);
}

TEST_CASE("the owner puts the keys into periods while the runtime role serves, and it keeps them") {
  const Instance instance(guarded().url(runtime), {"--cleanup=off"});
  Caller caller(instance, guarded().tenant);
  const Payment payment{1, "EUR", caller.open_funded_account(100), caller.open_account()};
  const std::string before = fresh_key();
  const Answer paid = caller.pay(before, payment);
  expect_succeeded(paid);

  CHECK(guarded().run_as(runtime, {"migrate", "partition-keys"}).exit_code == 1);
  const Finished done =
      guarded().run_as(owner_role, {"migrate", "partition-keys", "--key-period=3600"});
  CHECK(done.out == "idempotency keys are kept in periods of 3600 seconds from now on\n");
  CHECK(guarded().run_as(owner_role, {"migrate", "partition-keys"}).out ==
        "idempotency keys were kept in periods before; nothing was changed\n");
  expect_replay_of(paid, caller.replay(before, payment));
  expect_succeeded(caller.pay(fresh_key(), payment));

  // A period's end, and of the keys in it, as the runtime role sees to it.
  Sql owner(guarded().url(owner_role));
  owner.run(
      "UPDATE idempotency_keys SET created_at = created_at - interval '2 days',"
      " expires_at = expires_at - interval '2 days'");
  CHECK(guarded().run_as(runtime, {"cleanup"}).exit_code == 0);
  CHECK(owner.text("SELECT string_agg(state, ' ' ORDER BY starts_at)"
                   " FROM idempotency_key_periods") == "current next");
  Sql sql(guarded().url(runtime));
  CHECK_FALSE(sql.holds("SELECT advance_key_period()"));
  CHECK(owner.holds("SELECT advance_key_period('infinity')"));
  const Finished cleaned = guarded().run_as(runtime, {"cleanup"});
  INFO(cleaned.all());
  CHECK(cleaned.out.find(R"({"deleted":1,"batches":1,"remaining":0,)") == 0);
  const std::string status = guarded().run_as(runtime, {"status"}).out;
  CHECK(status.find(": current, ") != std::string::npos);
  CHECK(status.find(": next, ") != std::string::npos);
  expect_paid_once(caller, fresh_key(), payment.of(60));

  for (const char* forbidden :
       {"SELECT partition_idempotency_keys('1 hour')", "SELECT advance_key_period('infinity')",
        "SELECT prepare_key_period('infinity')", "DELETE FROM idempotency_key_periods",
        "UPDATE idempotency_key_periods SET table_name = 'payments'",
        "DROP TABLE idempotency_keys"}) {
    INFO(forbidden);
    CHECK(sql.sqlstate_of(forbidden) == privilege_missing);
  }
  // Nor is the functions' owner led to other tables by one that hides theirs.
  CHECK(
      owner.holds("SELECT bool_and(proconfig::text LIKE '%search_path=public, pg_temp%')"
                  " FROM pg_proc WHERE prosecdef AND proname LIKE '%key_period'"));
  CHECK(guarded().run_as(runtime, {"verify"}).exit_code == 0);
}

TEST_CASE("a role that was granted less than this release needs is told so at start") {
  Sql owner(guarded().url(owner_role));
  owner.run("REVOKE SELECT ON idempotency_key_periods FROM oncepay_runtime");
  const Finished refused = guarded().run_as(runtime, {"serve", "--listen", "127.0.0.1:0"});
  run_deploy_file(guarded().url(owner_role), "postgresql/grants.sql");
  CHECK(refused.exit_code == 1);
  CHECK(refused.err.find("42501") != std::string::npos);
  CHECK(refused.err.find("grant the missing privilege") != std::string::npos);
  const Instance instance(guarded().url(runtime), {"--cleanup=off"});
  CHECK(instance.ready());
}

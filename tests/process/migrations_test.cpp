// Migrations: applied once by however many start at once, as a whole or not at all, and refused by
// name when what the database has is not what this binary knows. A refusal changes nothing.
#include <doctest/doctest.h>

#include <algorithm>

#include "support/names.hpp"
#include "support/shop.hpp"

namespace {

using namespace support;

// Everything in the schema that a migration could have touched, as one text.
std::string schema_of(Database& database) {
  std::string out;
  for (const char* statement :
       {"SELECT table_name || '.' || column_name || ' ' || data_type || ' ' ||"
        " coalesce(column_default, '') FROM information_schema.columns"
        " WHERE table_schema = 'public' ORDER BY 1",
        "SELECT conname || ' ' || pg_get_constraintdef(oid) FROM pg_constraint"
        " WHERE connamespace = 'public'::regnamespace ORDER BY 1",
        "SELECT indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY 1",
        "SELECT tgname FROM pg_trigger WHERE NOT tgisinternal ORDER BY 1"}) {
    for (const std::string& line : database.sql().column(statement)) {
      out += line + "\n";
    }
  }
  return out;
}

std::string history_of(Database& database) {
  std::string out;
  for (const std::string& line :
       database.sql().column("SELECT m::text FROM schema_migrations m ORDER BY m::text")) {
    out += line + "\n";
  }
  return out;
}

std::string newest_version(Database& database) {
  return database.sql().text("SELECT max(version)::text FROM schema_migrations");
}

std::string name_of(Database& database, const std::string& version) {
  return database.sql().text("SELECT name FROM schema_migrations WHERE version::text = $1",
                             {version});
}

// Runs a command that must refuse: non-zero, naming `named`, with schema and history as before.
void expect_refused(Database& database, const std::vector<std::string>& arguments,
                    const std::vector<std::string>& named) {
  const std::string schema = schema_of(database);
  const std::string history = history_of(database);
  const Finished refused = database.run_oncepay(arguments);
  INFO(arguments.back(), " said: ", refused.all());
  CHECK(refused.exit_code != 0);
  for (const std::string& name : named) {
    INFO("must name: ", name);
    CHECK(refused.all().find(name) != std::string::npos);
  }
  CHECK(schema_of(database) == schema);
  CHECK(history_of(database) == history);
}

void expect_serve_refuses(Database& database, const std::vector<std::string>& named) {
  expect_refused(database, {"serve", "--listen", "127.0.0.1:0"}, named);
}

// Whatever type the checksum has: another value of the same shape.
void change_checksum(Database& database, const std::string& version) {
  const std::string type = database.sql().text(
      "SELECT data_type FROM information_schema.columns WHERE table_schema = 'public'"
      " AND table_name = 'schema_migrations' AND column_name = 'checksum'");
  const std::string other =
      type == "bytea" ? "sha256(checksum)" : "encode(sha256(checksum::text::bytea), 'hex')";
  database.sql().run(
      "UPDATE schema_migrations SET checksum = " + other + " WHERE version::text = $1", {version});
}

// A row as a later, or another, release would have left it. `version` is an SQL expression on the
// newest row m.
void pretend_applied(Database& database, const std::string& version, const std::string& name) {
  database.sql().run(
      "INSERT INTO schema_migrations SELECT (copy).* FROM (SELECT jsonb_populate_record(m,"
      " jsonb_build_object('version', " +
          version +
          ", 'name', $1::text)) AS copy"
          " FROM schema_migrations m ORDER BY m.version DESC LIMIT 1) copies",
      {name});
}

}  // namespace

TEST_CASE("eight migrators at once on an empty database all succeed and apply each once") {
  // MIG-01
  Database database = Database::empty();
  std::vector<Child> migrators;
  for (int i = 0; i < 8; ++i) {
    migrators.push_back(start(database.oncepay({"migrate", "up"})));
  }
  for (Child& migrator : migrators) {
    const std::optional<int> exit_code = migrator.wait_for(60s);
    INFO(migrator.err());
    CHECK(exit_code == 0);
  }
  Sql& sql = database.sql();
  CHECK(sql.number("SELECT count(*) FROM schema_migrations") >= 1);
  CHECK(sql.holds("SELECT count(*) = count(DISTINCT version) FROM schema_migrations"));
  const std::string history = history_of(database);
  CHECK(database.run_oncepay({"migrate", "up"}).exit_code == 0);
  CHECK(history_of(database) == history);
  Database reference;
  CHECK(schema_of(database) == schema_of(reference));
}

TEST_CASE("serve --migrate, many at once on an empty database: all become ready") {
  // MIG-01
  Database database = Database::empty();
  std::vector<Child> instances;
  for (int i = 0; i < 4; ++i) {
    instances.push_back(start(database.oncepay({"serve", "--migrate", "--listen", "127.0.0.1:0"})));
  }
  for (Child& instance : instances) {
    CHECK(
        eventually([&] { return instance.err().find("\"listening\"") != std::string::npos; }, 30s));
    CHECK(instance.alive());
  }
  CHECK(database.sql().holds("SELECT count(*) = count(DISTINCT version) FROM schema_migrations"));
}

TEST_CASE("a migrator that is killed while it holds the lock leaves nothing that stops the next") {
  // MIG-01
  Database database = Database::empty();
  Sql blocker = database.connect();
  blocker.run("BEGIN; CREATE TABLE tenants ()");  // the migrator waits here, lock in hand
  Child first = start(database.oncepay({"migrate", "up"}));
  REQUIRE(eventually([&] {
    return database.sql().number(
               "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
               " AND datname = current_database()") > 0;
  }));
  first.kill_hard();
  blocker.run("ROLLBACK");
  const Finished second = database.run_oncepay({"migrate", "up"});
  INFO(second.all());
  CHECK(second.exit_code == 0);
  CHECK(database.run_oncepay({"verify"}).exit_code == 0);
}

TEST_CASE(
    "a migration does not queue in front of everybody: it gives up after lock_timeout, retries") {
  // MIG-06
  Database database = Database::empty();
  Sql blocker = database.connect();
  blocker.run("BEGIN; CREATE TABLE tenants ()");
  Child migrator = start(database.oncepay({"migrate", "up"}));
  const auto waits = [&] {
    return database.sql().number(
               "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
               " AND datname = current_database()") > 0;
  };
  REQUIRE(eventually(waits));
  CHECK(eventually([&] { return !waits(); }, 15s));  // and the blocker has not moved
  CHECK(migrator.alive());
  blocker.run("ROLLBACK");
  CHECK(migrator.wait_for(60s) == 0);
  CHECK(database.sql().number("SELECT count(*) FROM tenants") == 0);
}

TEST_CASE("a migration that fails is rolled back as a whole, named, and works after the repair") {
  // MIG-06
  Database database = Database::empty();
  database.sql().run("CREATE TABLE transfers (left_here_by_somebody int)");
  const Finished failed = database.run_oncepay({"migrate", "up"});
  INFO(failed.all());
  CHECK(failed.exit_code != 0);
  // The one that fails is not in the history, and none of its tables are there.
  CHECK(database.sql().number("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'"
                              " AND tablename IN ('payments', 'idempotency_keys')") == 0);
  const std::string history = history_of(database);
  CHECK(database.run_oncepay({"migrate", "up"}).exit_code != 0);
  CHECK(history_of(database) == history);
  database.sql().run("DROP TABLE transfers");
  CHECK(database.run_oncepay({"migrate", "up"}).exit_code == 0);
  // Named: the first migration that had not been there.
  const std::string name = database.sql().text(
      "SELECT name FROM schema_migrations m WHERE strpos($1, m.name) > 0 ORDER BY version DESC"
      " LIMIT 1",
      {failed.all()});
  CHECK_FALSE(name.empty());
}

TEST_CASE("a changed migration is refused by name and changes nothing") {
  // MIG-04
  Database database;
  const std::string version = newest_version(database);
  change_checksum(database, version);
  const std::string name = name_of(database, version);
  expect_refused(database, {"migrate", "up"}, {name});
  expect_refused(database, {"migrate", "verify"}, {name});
  expect_refused(database, {"serve", "--migrate", "--listen", "127.0.0.1:0"}, {name});
}

TEST_CASE("a migration that this binary does not know is refused by name") {
  Database database;
  pretend_applied(database, "m.version + 1", "from_the_future");
  expect_refused(database, {"migrate", "up"}, {"from_the_future"});
  expect_refused(database, {"serve", "--migrate", "--listen", "127.0.0.1:0"}, {});
}

TEST_CASE("a migration that is missing in the middle is refused by name") {
  Database database;
  REQUIRE(database.sql().number("SELECT count(*) FROM schema_migrations") >= 2);
  const std::string first = database.sql().text("SELECT min(version)::text FROM schema_migrations");
  const std::string name = name_of(database, first);
  database.sql().run("DELETE FROM schema_migrations WHERE version::text = $1", {first});
  expect_refused(database, {"migrate", "up"}, {name});
}

TEST_CASE("serve refuses an older and a newer schema, naming both versions") {
  Database database;
  const std::string known = newest_version(database);
  pretend_applied(database, "m.version + 1", "from_the_future");
  expect_serve_refuses(database, {known, newest_version(database)});
  database.sql().run("DELETE FROM schema_migrations WHERE name = 'from_the_future'");
  database.sql().run("DELETE FROM schema_migrations WHERE version::text = $1", {known});
  expect_serve_refuses(database, {known, newest_version(database)});
}

TEST_CASE("serve on an empty database says that it must be migrated, and does not do it unasked") {
  Database database = Database::empty();
  const Finished refused = database.run_oncepay({"serve", "--listen", "127.0.0.1:0"});
  INFO(refused.all());
  CHECK(refused.exit_code != 0);
  CHECK(refused.all().find("migrate") != std::string::npos);
  CHECK(database.sql().number("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'") == 0);
}

TEST_CASE("--dry-run prints the SQL and changes nothing; status lists; verify compares") {
  Database database = Database::empty();
  const Finished dry = database.run_oncepay({"migrate", "up", "--dry-run"});
  CHECK(dry.exit_code == 0);
  CHECK(dry.out.find("CREATE TABLE") != std::string::npos);
  CHECK(dry.out.find("idempotency_keys") != std::string::npos);
  CHECK(database.sql().number("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'"
                              " AND tablename <> 'schema_migrations'") == 0);
  CHECK(database.run_oncepay({"migrate", "status"}).exit_code == 0);

  CHECK(database.run_oncepay({"migrate", "up"}).exit_code == 0);
  const Finished status = database.run_oncepay({"migrate", "status"});
  CHECK(status.exit_code == 0);
  for (const std::string& name : database.sql().column("SELECT name FROM schema_migrations")) {
    CHECK(status.out.find(name) != std::string::npos);
  }
  CHECK(database.run_oncepay({"migrate", "verify"}).exit_code == 0);
  const Finished nothing = database.run_oncepay({"migrate", "up", "--dry-run"});
  CHECK(nothing.exit_code == 0);
  CHECK(nothing.out.find("CREATE TABLE") == std::string::npos);
}

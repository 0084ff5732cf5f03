#include "db/migrations.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "db/fixture.hpp"
#include "migrations/embedded.hpp"
#include "support/crowd.hpp"
#include "support/waiting.hpp"

using namespace oncepay::db;
using namespace oncepay::test;
using namespace std::chrono_literals;

namespace {

constexpr Migration first{1, "first",
                          "CREATE TABLE first (n integer);\nINSERT INTO first VALUES (1);\n"};
constexpr Migration second{2, "second", "ALTER TABLE first ADD COLUMN more text;\n"};
constexpr Migration third{3, "third", "CREATE TABLE third (n integer);\n"};

using Migrations = std::vector<Migration>;

const Migrator::Settings impatient{
    .lock_timeout = 50ms, .retry_pause = 10ms, .attempts_max = 3, .advisory_wait = 200ms};

int migrate(const ConnectionSettings& settings, std::span<const Migration> known,
            Migrator::Settings how = {}) {
  Connection connection(settings);
  return Migrator(connection, known, how).up([](const Migration&) {});
}

// What `up` refuses to do, and what it then says.
std::string refusal_of(EmptyDatabase& database, const Migrations& known,
                       Migrator::Settings how = {}) {
  try {
    migrate(database.settings(), known, how);
  } catch (const SchemaError& error) {
    CHECK_FALSE(error.hint().empty());
    return error.what();
  }
  return "nothing refused";
}

// All that a migration could have changed.
std::string picture_of(EmptyDatabase& database) {
  std::string picture;
  for (const char* query :
       {"SELECT string_agg(c.relname || '.' || coalesce(a.attname, ''), ' ' ORDER BY 1) FROM "
        "pg_class c LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 WHERE "
        "c.relnamespace = 'public'::regnamespace",
        "SELECT string_agg(m::text, ' ' ORDER BY version) FROM schema_migrations m"}) {
    picture += database.sql().column(query).at(0) + "\n";
  }
  return picture;
}

std::string states_of(EmptyDatabase& database, const Migrations& known) {
  Connection connection(database.settings());
  std::string states;
  for (const auto& one : Migrator(connection, known, {}).status()) {
    states += (states.empty() ? "" : " ") + one.name + ":" + std::string(name_of(one.state));
  }
  return states;
}

}  // namespace

TEST_CASE("migrations are applied in order, once, and noted with their checksums") {
  EmptyDatabase database;
  const Migrations known{first, second};

  CHECK(migrate(database.settings(), known) == 2);
  CHECK(migrate(database.settings(), known) == 0);

  const auto rows =
      database.sql().rows("SELECT version, name, checksum FROM schema_migrations ORDER BY version");
  REQUIRE(rows.size() == 2);
  CHECK(rows[0][1] == "first");
  CHECK(rows[1][2] == checksum_of(second.text));
  CHECK(database.sql().number("SELECT count(*) FROM first") == 1);
}

TEST_CASE("MIG-01 eight migrators at once on an empty database all succeed and apply each once") {
  EmptyDatabase database;
  const std::span<const Migration> known = embedded_migrations;
  const auto applied =
      support::all_at_once(8, [&](std::size_t) { return migrate(database.settings(), known); });

  int sum = 0;
  for (const int count : applied) sum += count;
  CHECK(sum == static_cast<int>(known.size()));
  CHECK(database.sql().number("SELECT count(*) FROM schema_migrations") == sum);
}

TEST_CASE("MIG-01 the same with one migration pending") {
  EmptyDatabase database;
  migrate(database.settings(), Migrations{first});
  const Migrations known{first, second};
  const auto applied =
      support::all_at_once(8, [&](std::size_t) { return migrate(database.settings(), known); });

  int sum = 0;
  for (const int count : applied) sum += count;
  CHECK(sum == 1);
  CHECK(database.sql().number("SELECT count(*) FROM schema_migrations") == 2);
}

TEST_CASE("MIG-01 when the migrator that holds the lock is killed, another one takes over") {
  EmptyDatabase database;
  database.sql().run("CREATE TABLE held (n integer); INSERT INTO held VALUES (1)");
  const Migrations known{first,
                         {2, "slow",
                          "CREATE TABLE slow (n integer);"
                          "SELECT pg_sleep(30) FROM held;"
                          "INSERT INTO slow VALUES (1);"}};
  auto killed = std::async(std::launch::async, [&] { return migrate(database.settings(), known); });
  const std::string asleep =
      "SELECT pid FROM pg_stat_activity WHERE datname = $1 AND wait_event = 'PgSleep'";
  std::vector<std::string> backend;
  REQUIRE(support::eventually([&] {
    backend = database.sql().column(asleep, {database.name()});
    return backend.size() == 1;
  }));
  auto waiting =
      std::async(std::launch::async, [&] { return migrate(database.settings(), known); });

  database.sql().run("DELETE FROM held");
  database.sql().run("SELECT pg_terminate_backend($1::integer)", {backend[0]});

  CHECK_THROWS_AS(killed.get(), TransientError);
  CHECK(waiting.get() == 1);
  CHECK(database.sql().number("SELECT count(*) FROM slow") == 1);
  CHECK(database.sql().number("SELECT count(*) FROM schema_migrations") == 2);
}

TEST_CASE("a lock that another migrator does not let go of is given up in time") {
  EmptyDatabase database;
  auto other = database.connect();
  other.run("SELECT pg_advisory_lock(1869505381, 1)");
  CHECK(refusal_of(database, {first}, impatient).find("another migrator") == 0);
  CHECK(database.sql().holds("SELECT to_regclass('schema_migrations') IS NULL"));
}

TEST_CASE("MIG-04 line ends and a byte order mark do not change a migration") {
  const std::string lf = "CREATE TABLE a (\n  n integer\n);\n";
  const std::string crlf = "CREATE TABLE a (\r\n  n integer\r\n);\r\n";
  const std::string bom = "\xef\xbb\xbf";
  CHECK(checksum_of(crlf) == checksum_of(lf));
  CHECK(checksum_of(bom + crlf) == checksum_of(lf));
  CHECK(checksum_of(bom + lf) == checksum_of(lf));
  CHECK(checksum_of("CREATE TABLE a (\n  n bigint\n);\n") != checksum_of(lf));
  CHECK(checksum_of(lf + "\n") != checksum_of(lf));
  CHECK(checksum_of("a\rb") != checksum_of("ab"));  // a lone CR is no line end

  EmptyDatabase database;
  migrate(database.settings(), Migrations{{1, "a", lf}});
  const std::string other_checkout = bom + crlf;
  CHECK(migrate(database.settings(), Migrations{{1, "a", other_checkout}}) == 0);
  EmptyDatabase fresh;
  CHECK(migrate(fresh.settings(), Migrations{{1, "a", other_checkout}}) == 1);
  CHECK(migrate(fresh.settings(), Migrations{{1, "a", lf}}) == 0);
}

TEST_CASE(
    "MIG-04 what is changed, missing, skipped or newer is refused by name, changing nothing") {
  constexpr Migration changed{1, "first", "CREATE TABLE first (n bigint);\n"};
  struct Row {
    const char* why;
    Migrations applied;
    Migrations known;
    const char* states;
    const char* says;
  };
  const std::vector<Row> rows{
      {"changed",
       {first, second},
       {changed, second, third},
       "first:changed second:applied third:pending",
       "migration 0001_first.sql was changed after it had been applied"},
      {"missing",
       {first, second},
       {first, third},
       "first:applied second:missing third:pending",
       "migration 0002_second.sql was applied, but this release does not have it"},
      {"newer",
       {first, second, third},
       {first, second},
       "first:applied second:applied third:newer",
       "the schema is at version 3 (migration 0003_third.sql), this release knows version 2 only"},
      {"skipped",
       {first, third},
       {first, second, third},
       "first:applied second:skipped third:applied",
       "migration 0002_second.sql was not applied, although later ones were"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.why);
    EmptyDatabase database;
    migrate(database.settings(), row.applied);
    const std::string before = picture_of(database);

    CHECK(states_of(database, row.known) == row.states);
    CHECK(refusal_of(database, row.known) == row.says);
    CHECK(picture_of(database) == before);

    Connection connection(database.settings());
    CHECK_THROWS_AS(Migrator(connection, row.known, {}).verify(), SchemaError);
  }
}

TEST_CASE("verify accepts exactly what is applied and known") {
  EmptyDatabase database;
  const Migrations known{first, second};
  Connection connection(database.settings());
  Migrator migrator(connection, known, {});
  CHECK_THROWS_AS(migrator.verify(), SchemaError);
  CHECK(migrator.applied_version() == 0);
  migrate(database.settings(), Migrations{first});
  CHECK_THROWS_AS(migrator.verify(), SchemaError);
  CHECK(migrator.applied_version() == 1);
  migrate(database.settings(), known);
  CHECK_NOTHROW(migrator.verify());
  CHECK(migrator.applied_version() == 2);
  CHECK(migrator.known_version() == 2);
}

TEST_CASE("looking at the schema writes nothing") {
  EmptyDatabase database;
  CHECK(states_of(database, {first, second}) == "first:pending second:pending");
  CHECK(database.sql().holds("SELECT to_regclass('schema_migrations') IS NULL"));
}

TEST_CASE("MIG-06 a migration whose second statement fails is rolled back as a whole") {
  EmptyDatabase database;
  migrate(database.settings(), Migrations{first});
  const std::string before = picture_of(database);
  const Migration broken{
      2, "broken", "CREATE TABLE half (n integer);\nALTER TABLE nowhere ADD COLUMN n integer;"};

  const std::string says = refusal_of(database, {first, broken, third});
  CHECK(says.find("migration 0002_broken.sql failed and was rolled back: ") == 0);
  CHECK(says.find("42P01") != std::string::npos);
  CHECK(says.find("relation \"nowhere\" does not exist") != std::string::npos);
  CHECK(picture_of(database) == before);

  const Migration fixed{2, "broken", "CREATE TABLE half (n integer);\n"};
  CHECK(migrate(database.settings(), Migrations{first, fixed, third}) == 2);
}

TEST_CASE("MIG-06 DDL that waits for a long transaction gives up, pauses and tries again") {
  EmptyDatabase database;
  migrate(database.settings(), Migrations{first});
  auto long_reader = database.connect();
  long_reader.run("BEGIN");
  long_reader.run("SELECT count(*) FROM first");

  Migrator::Settings how;
  how.lock_timeout = 100ms;
  how.retry_pause = 20ms;
  how.attempts_max = 1000;
  auto migrating = std::async(std::launch::async, [&] {
    return migrate(database.settings(), Migrations{first, second}, how);
  });

  // Whoever comes meanwhile waits behind the DDL for its lock_timeout at most.
  std::chrono::milliseconds longest{0};
  for (int round = 0; round < 20; ++round) {
    const support::Stopwatch watch;
    database.sql().run("SELECT count(*) FROM first");
    longest = std::max(longest, watch.elapsed());
  }
  CHECK(longest < 2s);
  CHECK(migrating.wait_for(0s) == std::future_status::timeout);

  long_reader.run("COMMIT");
  CHECK(migrating.get() == 1);
}

TEST_CASE("MIG-06 DDL that never gets its lock is given up by name, and nothing is changed") {
  EmptyDatabase database;
  migrate(database.settings(), Migrations{first});
  const std::string before = picture_of(database);
  auto long_reader = database.connect();
  long_reader.run("BEGIN");
  long_reader.run("SELECT count(*) FROM first");

  CHECK(refusal_of(database, {first, second}, impatient) ==
        "migration 0002_second.sql did not get its locks in 3 attempts");
  long_reader.run("COMMIT");
  CHECK(picture_of(database) == before);
}

TEST_CASE("a migration may take longer than statements usually may") {
  EmptyDatabase database;
  auto settings = database.settings();
  settings.statement_timeout = 50ms;
  CHECK(migrate(settings, Migrations{{1, "slow", "SELECT pg_sleep(0.2);"}}) == 1);
}

TEST_CASE("a migration that ends its own transaction is found out") {
  EmptyDatabase database;
  const Migrations known{{1, "commits", "CREATE TABLE a (n integer); COMMIT;"}};
  CHECK_THROWS_AS(migrate(database.settings(), known), std::logic_error);
}

TEST_CASE(
    "CLN-03 CLN-08 this release's schema: times have zones, indexes are valid, tables say why") {
  EmptyDatabase database;
  migrate(database.settings(), embedded_migrations);
  auto& sql = database.sql();
  CHECK(sql.number("SELECT count(*) FROM information_schema.columns WHERE table_schema = 'public' "
                   "AND data_type LIKE '%without time zone'") == 0);
  CHECK(sql.number("SELECT count(*) FROM pg_index WHERE NOT indisvalid") == 0);
  CHECK(sql.column("SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND "
                   "relkind = 'r' AND obj_description(oid, 'pg_class') IS NULL")
            .empty());
}

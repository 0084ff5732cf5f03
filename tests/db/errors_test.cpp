// What PostgreSQL says, produced for real, and the kind of error that it becomes.
#include "db/errors.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <future>
#include <pqxx/except>
#include <string>

#include "db/connection.hpp"
#include "db/fixture.hpp"
#include "db/translate.hpp"

using namespace oncepay::db;
using namespace oncepay::test;
using support::Sql;

namespace {

// The reason of the TransientError that `work` throws.
std::string reason_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const TransientError& error) {
    return std::string(name_of(error.reason()));
  } catch (const std::exception& error) {
    return std::string("not transient: ") + error.what();
  }
  return "nothing thrown";
}

// "SQLSTATE constraint" of the StatementError that `work` throws.
std::string refusal_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const StatementError& error) {
    return error.sqlstate() + (error.constraint().empty() ? "" : " " + error.constraint());
  } catch (const std::exception& error) {
    return std::string("no statement error: ") + error.what();
  }
  return "nothing thrown";
}

constexpr Statement take_row{"test.take_row", "UPDATE things SET n = n + 1 WHERE id = $1"};
constexpr Statement insert_thing{"test.insert_thing", "INSERT INTO things (id, n) VALUES ($1, $2)"};
constexpr Statement sleep_long{"test.sleep_long", "SELECT pg_sleep(30)"};
constexpr Statement divide{"test.divide", "SELECT 1 / $1::integer"};
constexpr Statement whole_things{"test.whole_things", "SELECT * FROM things"};
constexpr Statement forget_prepared{"test.forget_prepared", "DEALLOCATE ALL"};
constexpr Statement without_rights{"test.without_rights",
                                   "SELECT set_config('role', 'pg_monitor', true)"};

class Things : public EmptyDatabase {
 public:
  Things() {
    sql().run(
        "CREATE TABLE things (id text CONSTRAINT things_pkey PRIMARY KEY,"
        " n bigint NOT NULL CONSTRAINT things_n_positive CHECK (n > 0));"
        "INSERT INTO things VALUES ('a', 1), ('b', 1)");
  }
};

}  // namespace

TEST_CASE("CMT-04 a deadlock is a reason to run the whole transaction again") {
  Things things;
  const auto take_both = [&](const char* first, const char* second, std::promise<void>& has_first,
                             const std::shared_future<void>& other_has_first) {
    auto settings = things.settings();
    settings.lock_timeout = std::chrono::seconds(20);  // PostgreSQL looks for deadlocks after one
    Connection connection(settings);
    Transaction transaction(connection);
    transaction.run(take_row, Params().add(first));
    has_first.set_value();
    other_has_first.wait();
    transaction.run(take_row, Params().add(second));
    transaction.commit();
  };
  std::promise<void> a_taken;
  std::promise<void> b_taken;
  const auto a_is_taken = a_taken.get_future().share();
  const auto b_is_taken = b_taken.get_future().share();
  auto forth = std::async(std::launch::async, [&] {
    return reason_of([&] { take_both("a", "b", a_taken, b_is_taken); });
  });
  auto back = std::async(std::launch::async, [&] {
    return reason_of([&] { take_both("b", "a", b_taken, a_is_taken); });
  });

  const std::string outcomes = forth.get() + ", " + back.get();
  CHECK(
      (outcomes == "serialization, nothing thrown" || outcomes == "nothing thrown, serialization"));
}

TEST_CASE("a lock that somebody else holds too long is a lock_timeout") {
  Things things;
  Sql holder = things.connect();
  holder.run("BEGIN");
  holder.run("UPDATE things SET n = 2 WHERE id = 'a'");
  auto settings = things.settings();
  settings.lock_timeout = std::chrono::milliseconds(50);
  Connection connection(settings);

  CHECK(reason_of([&] {
          Transaction transaction(connection);
          transaction.run(take_row, Params().add("a"));
        }) == "lock_timeout");
  CHECK(connection.usable());
}

TEST_CASE("a statement that runs too long is cancelled") {
  Things things;
  auto settings = things.settings();
  settings.statement_timeout = std::chrono::milliseconds(50);
  Connection connection(settings);

  CHECK(reason_of([&] { Transaction(connection).run(sleep_long); }) == "cancelled");
  CHECK(connection.usable());
}

TEST_CASE("CMT-06 a write where only reads are allowed gives the connection up") {
  Things things;
  Connection connection(things.settings());

  CHECK(reason_of([&] {
          Transaction transaction(connection, Access::read_only);
          transaction.run(take_row, Params().add("a"));
        }) == "read_only");
  CHECK_FALSE(connection.usable());
}

TEST_CASE("CMT-06 a server that became read-only is not connected to") {
  Things things;
  things.sql().run("ALTER DATABASE " + things.name() + " SET default_transaction_read_only = on");

  CHECK(reason_of([&] { Connection connection(things.settings()); }) == "read_only");
}

TEST_CASE("OPS-04 a server without free connections is out of capacity") {
  Things things;
  const std::string role = support::fresh_name("limited_");
  things.sql().run("CREATE ROLE " + role + " LOGIN CONNECTION LIMIT 1");
  {
    auto settings = things.settings();
    settings.url = things.url_as(role);
    Connection only_one(settings);
    CHECK(reason_of([&] { Connection one_more(settings); }) == "out_of_capacity");
  }
  REQUIRE(support::eventually([&] {
    return things.sql().number("SELECT count(*) FROM pg_stat_activity WHERE usename = $1",
                               {role}) == 0;
  }));
  things.sql().run("DROP ROLE " + role);
}

TEST_CASE("a database that is not there, or a user, is refused for good") {
  Things things;
  auto settings = things.settings();
  settings.url = support::with_database(things.url(), "no_such_database");
  CHECK(refusal_of([&] { Connection connection(settings); }) == "3D000");
  settings.url = things.url_as("no_such_role");
  CHECK(refusal_of([&] { Connection connection(settings); }) == "28000");
}

TEST_CASE("a database in another encoding is refused for good") {
  Things things;
  const std::string name = support::fresh_name("latin1_");
  things.sql().run("CREATE DATABASE " + name + " ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0");
  auto settings = things.settings();
  settings.url = support::with_database(things.url(), name);
  CHECK(refusal_of([&] { Connection connection(settings); }) == "0A000");
  things.sql().run("DROP DATABASE " + name);
}

TEST_CASE("where nobody listens the connection is lost, and no error names the host") {
  ConnectionSettings settings;
  for (const char* url : {"postgresql://someone:geheim@127.0.0.1:1/name",
                          "postgresql://someone:geheim@host.invalid/name",
                          "host=/no/such/folder user=someone password=geheim"}) {
    settings.url = url;
    CAPTURE(url);
    std::string what;
    try {
      Connection connection(settings);
    } catch (const TransientError& error) {
      what = error.what();
      CHECK(error.reason() == TransientReason::connection_lost);
    }
    CHECK(what.starts_with("cannot connect to the database: "));
    for (const char* secret : {"geheim", "127.0.0.1", "host.invalid", "someone", "/no/such"}) {
      CHECK(what.find(secret) == std::string::npos);
    }
  }
}

TEST_CASE("a URL that cannot be read is refused without repeating it") {
  ConnectionSettings settings;
  settings.url = "postgresql://someone:ge%zzheim@host/name";
  CHECK_FALSE(is_connection_url(settings.url));
  std::string what;
  try {
    Connection connection(settings);
  } catch (const StatementError& error) {
    what = error.what();
  }
  CHECK_FALSE(what.empty());
  CHECK(what.find("heim") == std::string::npos);
}

TEST_CASE("a constraint that is broken is a statement error with its name and without the values") {
  Things things;
  Connection connection(things.settings());
  const auto insert = [&](const std::string& id, std::int64_t n) {
    Transaction transaction(connection);
    transaction.run(insert_thing, Params().add(id).add(n));
  };
  CHECK(refusal_of([&] { insert("a", 1); }) == "23505 things_pkey");
  CHECK(refusal_of([&] { insert("c", -4711); }) == "23514 things_n_positive");
  CHECK(refusal_of([&] {
          Transaction transaction(connection);
          transaction.run(divide, Params().add(0));
        }) == "22012");

  // A value that looks like the server's own line about the constraint.
  const std::string forged = "x\nCONSTRAINT NAME:  forged\nLOCATION:  here";
  things.sql().run("INSERT INTO things VALUES ($1, 1)", {forged});
  CHECK(refusal_of([&] { insert(forged, 1); }) == "23505 things_pkey");
  try {
    insert("c", -4711);
  } catch (const StatementError& error) {
    CHECK(std::string(error.what()).find("4711") == std::string::npos);
    CHECK(std::string(error.what()).find("INSERT") == std::string::npos);
  }
  CHECK(connection.usable());
}

TEST_CASE("a missing privilege is a statement error") {
  Things things;
  Connection connection(things.settings());
  CHECK(refusal_of([&] {
          Transaction transaction(connection);
          transaction.run(without_rights);
          transaction.run(whole_things);
        }) == "42501");
}

TEST_CASE("parameters that do not fit the statement are a bug") {
  Things things;
  Connection connection(things.settings());
  CHECK_THROWS_AS(Transaction(connection).run(insert_thing, Params().add("only one")),
                  std::logic_error);
}

TEST_CASE("a statement whose table was changed under it needs a new session") {
  Things things;
  Connection connection(things.settings());
  Transaction(connection).run(whole_things);
  things.sql().run("ALTER TABLE things ADD COLUMN more text");

  CHECK(reason_of([&] { Transaction(connection).run(whole_things); }) == "connection_lost");
  CHECK_FALSE(connection.usable());
}

TEST_CASE("a session that lost its prepared statements is replaced") {
  Things things;
  Connection connection(things.settings());
  Transaction(connection).run(whole_things);
  Transaction(connection).run(forget_prepared);

  CHECK(reason_of([&] { Transaction(connection).run(whole_things); }) == "connection_lost");
  CHECK_FALSE(connection.usable());
}

TEST_CASE("a lost connection is certain at COMMIT only if the server itself has said so") {
  // Thrown by hand: libpq gives up like that when the machine is out of memory.
  const auto kind_of = [](const std::string& words) -> std::string {
    try {
      try {
        throw pqxx::broken_connection(words);
      } catch (const std::exception&) {
        throw_commit_failure(true);
      }
    } catch (const TransientError&) {
      return "certain";
    } catch (const InDoubtError&) {
      return "in doubt";
    }
  };
  CHECK(kind_of("Failure during 'COMMIT': ERROR:  08006: no") == "certain");
  CHECK(kind_of("FEHLER:  08000: nein\nLOCATION:  strike") == "certain");
  for (const char* words : {"", "out of memory", "poll() failed: Bad address", "ERROR:  08",
                            ":  08", "ERROR:  080", "ERROR:  57P01: no"}) {
    CAPTURE(words);
    CHECK(kind_of(words) == "in doubt");
  }
}

// What may be said after COMMIT: that it happened, that it did not, or that nobody knows.
#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <thread>

#include "db/connection.hpp"
#include "db/fixture.hpp"
#include "support/cluster.hpp"
#include "support/waiting.hpp"

using namespace oncepay::db;
using namespace oncepay::test;

namespace {

constexpr Statement note{"test.note", "INSERT INTO notes (n) VALUES ($1)"};
constexpr Statement break_down{"test.break_down", "SELECT 1 / 0"};
constexpr Statement show_session{
    "test.show_session",
    "SELECT current_setting('synchronous_commit'), current_setting('transaction_isolation'),"
    " current_setting('TimeZone'), current_setting('DateStyle'), current_setting('bytea_output'),"
    " current_setting('search_path'), current_setting('client_encoding'),"
    " current_setting('application_name')"};

class Notes : public EmptyDatabase {
 public:
  Notes() { sql().run("CREATE TABLE notes (n bigint)"); }

  std::int64_t count() { return sql().number("SELECT count(*) FROM notes"); }

  // Runs plpgsql inside COMMIT: deferred constraints are checked there.
  void at_commit(const std::string& plpgsql) {
    sql().run("CREATE FUNCTION strike() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN " + plpgsql +
              " RETURN NULL; END $$;"
              "CREATE CONSTRAINT TRIGGER strike AFTER INSERT ON notes DEFERRABLE INITIALLY "
              "DEFERRED FOR EACH ROW EXECUTE FUNCTION strike()");
  }
  void no_longer_at_commit() { sql().run("DROP FUNCTION strike CASCADE"); }
};

}  // namespace

TEST_CASE("G3 a commit that returns is there for everybody") {
  Notes notes;
  Connection connection(notes.settings());
  Transaction transaction(connection);
  transaction.run(note, Params().add(1));
  CHECK(notes.count() == 0);
  transaction.commit();
  CHECK(notes.count() == 1);
  CHECK(connection.usable());
}

TEST_CASE("what is run and undone leaves neither rows nor locks, and the rest is committed") {
  constexpr Statement lock_all{"test.lock_all", "SELECT n FROM notes FOR UPDATE"};
  constexpr Statement note_and_count{
      "test.note_and_count",
      "WITH made AS (INSERT INTO notes (n) VALUES ($1) RETURNING n) SELECT count(*) FROM made"};
  Notes notes;
  notes.sql().run("INSERT INTO notes VALUES (1)");
  Connection connection(notes.settings());
  Transaction transaction(connection);
  transaction.run(note, Params().add(2));
  CHECK(transaction.run_and_undo(note_and_count, Params().add(3)).number(0, 0) == 1);
  CHECK(transaction.run_and_undo(lock_all).size() == 2);
  CHECK(notes.sql().column("SELECT n FROM notes FOR UPDATE NOWAIT").size() == 1);
  transaction.commit();
  CHECK(notes.sql().column("SELECT n FROM notes ORDER BY n") == std::vector<std::string>{"1", "2"});
}

TEST_CASE("a transaction may begin with its first statement and end with its last") {
  constexpr Statement count{"test.count", "SELECT count(*) FROM notes"};
  Notes notes;
  Connection connection(notes.settings());
  for (const std::size_t length :
       {std::size_t{1}, std::size_t{100'000}}) {  // in one message, and too long for that
    notes.sql().run("TRUNCATE notes");
    const std::string text = "it's \\ \"" + std::string(length, 'x');
    constexpr Statement echo{"test.echo", "SELECT $1::text, $2::text"};
    constexpr Statement note_length{"test.note_length",
                                    "INSERT INTO notes (n) VALUES (length($1::text))"};
    {
      Transaction transaction(connection, Access::read_write, Begin::with_first_statement);
      const Rows rows = transaction.run(echo, Params().add(text).add_null());
      CHECK(rows.text(0, 0) == text);
      CHECK(rows.is_null(0, 1));
      transaction.defer(note_length, Params().add(text));
      CHECK(notes.count() == 0);
      transaction.commit();
    }
    CHECK(notes.sql().column("SELECT n FROM notes") ==
          std::vector<std::string>{std::to_string(text.size())});
    {
      Transaction transaction(connection, Access::read_write, Begin::with_first_statement);
      transaction.run(count);
      transaction.defer(note, Params().add(1));
      // What was deferred comes before what is run.
      CHECK(transaction.run(count).number(0, 0) == 2);
    }
    CHECK(notes.count() == 1);  // rolled back
  }
  Transaction nothing(connection, Access::read_write, Begin::with_first_statement);
  nothing.commit();
  CHECK(connection.usable());
}

TEST_CASE("a deferred statement that fails takes its COMMIT with it, and that is certain") {
  Notes notes;
  Connection connection(notes.settings());
  {
    Transaction transaction(connection, Access::read_write, Begin::with_first_statement);
    transaction.run(note, Params().add(1));
    transaction.defer(break_down, {});
    try {
      transaction.commit();
      FAIL("committed");
    } catch (const StatementError& error) {
      CHECK(error.sqlstate() == "22012");
    }
  }
  CHECK(notes.count() == 0);
  CHECK(connection.usable());
  Transaction transaction(connection, Access::read_write, Begin::with_first_statement);
  CHECK_THROWS_AS(transaction.run(break_down), StatementError);
}

TEST_CASE("a transaction of deferred statements alone is all there or fails for certain") {
  Notes notes;
  Connection connection(notes.settings());
  for (const bool breaks : {false, true, false}) {
    Transaction transaction(connection, Access::read_write, Begin::with_first_statement);
    transaction.defer(note, Params().add(1));
    if (breaks) transaction.defer(break_down, {});
    transaction.defer(note, Params().add(2));
    const auto before = notes.count();
    if (breaks) {
      CHECK_THROWS_AS(transaction.commit(), StatementError);
      CHECK(notes.count() == before);
    } else {
      transaction.commit();
      CHECK(notes.count() == before + 2);
      CHECK(transaction.times().size() == 1);  // one round trip
    }
    CHECK(connection.usable());
  }
}

TEST_CASE("an idle session that died takes no transaction with it, not even one of one message") {
  Notes notes;
  Connection connection(notes.settings());
  {
    Transaction transaction(connection);
    transaction.run(note, Params().add(1));  // prepared from here on
  }
  // Returns when the process is gone, and with it its end of the connection.
  CHECK(notes.sql().holds("SELECT pg_terminate_backend($1::integer, 10000)",
                          {std::to_string(connection.backend_pid())}));
  Transaction transaction(connection, Access::read_write, Begin::with_first_statement);
  transaction.defer(note, Params().add(1));
  try {
    transaction.commit();
    FAIL("a dead session answered");
  } catch (const TransientError& error) {
    CHECK(error.reason() == TransientReason::connection_lost);
  }
  CHECK(notes.count() == 0);
}

TEST_CASE("a session that dies under a deferred statement and its COMMIT leaves them in doubt") {
  constexpr Statement die{"test.die", "SELECT pg_terminate_backend(pg_backend_pid())"};
  Notes notes;
  Connection connection(notes.settings());
  Transaction transaction(connection, Access::read_write, Begin::with_first_statement);
  transaction.run(note, Params().add(1));
  transaction.defer(die, {});
  CHECK_THROWS_AS(transaction.commit(), InDoubtError);
  CHECK(!connection.usable());
}

TEST_CASE("without commit nothing is kept and the connection goes on") {
  Notes notes;
  Connection connection(notes.settings());
  {
    Transaction transaction(connection);
    transaction.run(note, Params().add(1));
  }
  CHECK(notes.count() == 0);
  CHECK(connection.usable());
  Transaction again(connection);
  again.run(note, Params().add(2));
  again.commit();
  CHECK(notes.count() == 1);
}

TEST_CASE("CMT-02 COMMIT of an aborted transaction is never reported as success") {
  Notes notes;
  Connection connection(notes.settings());
  {
    Transaction transaction(connection);
    transaction.run(note, Params().add(1));
    CHECK_THROWS_AS(transaction.run(break_down), StatementError);
    CHECK_THROWS_AS(transaction.run(note, Params().add(2)), std::logic_error);
    CHECK_THROWS_AS(transaction.commit(), std::logic_error);
  }
  CHECK(notes.count() == 0);
  CHECK(connection.usable());
}

TEST_CASE("CMT-02 COMMIT is sent once: a second one is a bug") {
  Notes notes;
  Connection connection(notes.settings());
  Transaction transaction(connection);
  transaction.run(note, Params().add(1));
  transaction.commit();
  CHECK_THROWS_AS(transaction.commit(), std::logic_error);
  CHECK_THROWS_AS(transaction.run(note, Params().add(2)), std::logic_error);
  CHECK(notes.count() == 1);
}

TEST_CASE("a session killed between two statements is lost, and nothing was committed") {
  Notes notes;
  Connection connection(notes.settings());
  {
    Transaction transaction(connection);
    transaction.run(note, Params().add(1));
    notes.kill_backend(connection);
    try {
      transaction.run(note, Params().add(2));
      FAIL("a dead session answered");
    } catch (const TransientError& error) {
      CHECK(error.reason() == TransientReason::connection_lost);
    }
    CHECK_THROWS_AS(transaction.commit(), TransientError);
  }
  CHECK_FALSE(connection.usable());
  CHECK(notes.count() == 0);
}

TEST_CASE("an idle session that died is lost at BEGIN") {
  Notes notes;
  Connection connection(notes.settings());
  notes.kill_backend(connection);
  CHECK_THROWS_AS(Transaction{connection}, TransientError);
  CHECK_FALSE(connection.usable());
  CHECK_THROWS_AS(Transaction{connection}, TransientError);
}

TEST_CASE("G6 a session killed before COMMIT reached it leaves the commit in doubt") {
  Notes notes;
  Connection connection(notes.settings());
  {
    Transaction transaction(connection);
    transaction.run(note, Params().add(1));
    notes.kill_backend(connection);
    CHECK_THROWS_AS(transaction.commit(), InDoubtError);
  }
  CHECK_FALSE(connection.usable());
  CHECK(notes.count() == 0);
}

TEST_CASE("G6 a session that dies inside COMMIT leaves the commit in doubt") {
  Notes notes;
  notes.at_commit("PERFORM pg_terminate_backend(pg_backend_pid()); PERFORM pg_sleep(5);");
  Connection connection(notes.settings());
  {
    Transaction transaction(connection);
    transaction.run(note, Params().add(1));
    CHECK_THROWS_AS(transaction.commit(), InDoubtError);
  }
  CHECK_FALSE(connection.usable());
  CHECK(notes.count() == 0);
}

TEST_CASE("an error that the server reports at COMMIT is certain: nothing was committed") {
  struct Row {
    const char* at_commit;
    const char* kind;
  };
  // A standing connection that says ERROR has rolled back, whatever the class of the error.
  for (const auto& [at_commit, kind] : {
           Row{"RAISE EXCEPTION 'no' USING ERRCODE = '23514', CONSTRAINT = 'late';",
               "statement 23514 late"},
           Row{"RAISE EXCEPTION 'no' USING ERRCODE = '40001';", "transient serialization"},
           Row{"RAISE EXCEPTION 'no' USING ERRCODE = '08006';", "transient connection_lost"},
           Row{"RAISE EXCEPTION 'no' USING ERRCODE = '53300';", "transient out_of_capacity"},
           Row{"RAISE EXCEPTION 'no' USING ERRCODE = '57014';", "transient cancelled"},
           Row{"RAISE EXCEPTION 'no' USING ERRCODE = '42501';", "statement 42501 "},
       }) {
    Notes notes;
    notes.at_commit(at_commit);
    Connection connection(notes.settings());
    std::string seen = "committed";
    try {
      Transaction transaction(connection);
      transaction.run(note, Params().add(1));
      transaction.commit();
    } catch (const TransientError& error) {
      seen = "transient " + std::string(name_of(error.reason()));
    } catch (const StatementError& error) {
      seen = "statement " + error.sqlstate() + " " + error.constraint();
    } catch (const InDoubtError&) {
      seen = "in doubt";
    }
    CHECK(seen == kind);
    CHECK(notes.count() == 0);

    // Proof of recovery: the same connection pays on.
    notes.no_longer_at_commit();
    REQUIRE(connection.usable());
    Transaction again(connection);
    again.run(note, Params().add(2));
    again.commit();
    CHECK(notes.count() == 1);
  }
}

TEST_CASE("G3 a commit that its synchronous standby never confirmed is in doubt, not done") {
  // No standby has this name, so each commit waits for it until somebody cancels the wait.
  // PostgreSQL then warns and acknowledges the COMMIT all the same.
  const support::Cluster cluster({"synchronous_standby_names=nobody"});
  support::Sql watcher(cluster.url());
  watcher.run("SET synchronous_commit = local");
  watcher.run("CREATE TABLE notes (n bigint)");
  ConnectionSettings settings;
  settings.url = cluster.url();
  Connection connection(settings);
  const std::jthread canceller([&watcher, backend = std::to_string(connection.backend_pid())] {
    support::eventually([&] {
      const auto waiting = watcher.column(
          "SELECT pid FROM pg_stat_activity WHERE pid = $1::integer AND wait_event = 'SyncRep'",
          {backend});
      return !waiting.empty() && watcher.holds("SELECT pg_cancel_backend($1::integer)", {backend});
    });
  });

  Transaction transaction(connection);
  transaction.run(note, Params().add(1));
  CHECK_THROWS_AS(transaction.commit(), InDoubtError);
}

TEST_CASE("CLN-03 no setting of the server, the database or the role reaches a transaction") {
  Notes notes;
  const std::string alter = "ALTER DATABASE " + notes.name() + " SET ";
  notes.sql().run(alter + "synchronous_commit = off");
  notes.sql().run(alter + "default_transaction_isolation = 'serializable'");
  notes.sql().run(alter + "timezone = 'America/New_York'");
  notes.sql().run(alter + "datestyle = 'SQL, DMY'");
  notes.sql().run(alter + "bytea_output = 'escape'");
  auto settings = notes.settings();
  settings.url += "?options=-c%20search_path%3Delsewhere%20-c%20timezone%3DAsia/Shanghai";
  settings.application_name = "oncepay lane";
  Connection connection(settings);

  Transaction transaction(connection);
  const Rows session = transaction.run(show_session);
  CHECK(session.text(0, 0) == "on");  // off would answer before it is on disk
  CHECK(session.text(0, 1) == "read committed");
  CHECK(session.text(0, 2) == "UTC");
  CHECK(session.text(0, 3).starts_with("ISO"));
  CHECK(session.text(0, 4) == "hex");
  CHECK(session.text(0, 5) == "elsewhere");  // the URL's own options stay
  CHECK(session.text(0, 6) == "UTF8");
  CHECK(session.text(0, 7) == "oncepay lane");
}

TEST_CASE("a stricter synchronous_commit is the operator's choice and stays") {
  Notes notes;
  notes.sql().run("ALTER DATABASE " + notes.name() + " SET synchronous_commit = remote_apply");
  Connection connection(notes.settings());
  Transaction transaction(connection);
  CHECK(transaction.run(show_session).text(0, 0) == "remote_apply");
}

TEST_CASE("a snapshot sees one moment, and READ COMMITTED sees what was committed meanwhile") {
  Notes notes;
  constexpr Statement count{"test.count", "SELECT count(*) FROM notes"};
  for (const auto& [access, later] : {std::pair(Access::snapshot, 0), {Access::read_only, 1}}) {
    Notes mine;
    Connection connection(mine.settings());
    Transaction transaction(connection, access);
    CHECK(transaction.run(count).number(0, 0) == 0);
    mine.sql().run("INSERT INTO notes VALUES (1)");
    CHECK(transaction.run(count).number(0, 0) == later);
  }
}

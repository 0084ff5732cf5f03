// A connection to the primary and a transaction on it: the only way any other module reaches
// PostgreSQL.
//
// There is no function that takes SQL text: only named statements from sql/ run here (migrations
// have a door of their own in migrations.cpp). Session settings go into the connection string, so a
// session without them cannot exist; it always asks for a read-write server, so several hosts in
// the URL follow the primary. What a transaction relies on (isolation, a commit that is on disk) is
// said with each BEGIN. Behind a pooler that drops options (pgbouncer) all settings are, and
// nothing is prepared: transaction mode works, statement mode is refused.
//
// Threads: a connection and its transaction belong to one thread at a time.
// Errors: TransientError, InDoubtError, StatementError (errors.hpp); std::logic_error for a call
// that makes no sense, such as COMMIT after a failed statement.
// Source: libpqxx 7.10; PostgreSQL "Database Connection Control Functions", "Client Connection
// Defaults".
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "db/errors.hpp"
#include "db/statement.hpp"
#include "db/values.hpp"

namespace oncepay::db {

// by_use: the planner looks at each statement's parameters, and at how large tables are.
// by_index: it plans a statement once in a session, and always through indexes. For statements that
// reach their rows by primary key alone: planning them each time costs more than running them, and
// a plan made while a table was empty must still be right when it has grown.
enum class Plans { by_use, by_index };

struct ConnectionSettings {
  std::string url;  // postgresql://… or key=value; may hold a password: never log it
  std::string application_name = "oncepay";
  // For reads a primary that is set read-only will do; never a standby.
  bool read_only_will_do = false;
  Plans plans = Plans::by_use;
  std::chrono::milliseconds connect_timeout{3000};     // of each host; rounded up to whole seconds
  std::chrono::milliseconds statement_timeout{10000};  // 0 = none
  std::chrono::milliseconds lock_timeout{1000};        // 0 = none
  std::chrono::milliseconds idle_in_transaction_timeout{15000};
  std::chrono::milliseconds tcp_user_timeout{10000};  // unacknowledged bytes: the network is gone
};

// Whether it can be read as a connection URL or string. Says nothing about a server.
bool is_connection_url(const std::string& url);

// Throws TransientError(connection_lost | out_of_capacity | read_only) when it cannot be opened
// now, StatementError when the server refuses it for good (28xxx authentication, 3D000 no such
// database, 0A000 a server older than PostgreSQL 15 or an encoding other than UTF8, 08001 an
// unreadable URL).
class Connection {
 public:
  explicit Connection(const ConnectionSettings& settings);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // False once the session is gone, not known to be clean, or on a server that is no primary any
  // more: destroy the object then. A session that died unnoticed is found out by its next
  // statement.
  [[nodiscard]] bool usable() const;
  [[nodiscard]] int backend_pid() const;
  [[nodiscard]] int server_version() const;  // 150018 is 15.18
  // A pooler is in between that drops what belongs to a session. All works, but each statement is
  // parsed and planned anew.
  [[nodiscard]] bool pooled() const;

 private:
  friend class Transaction;
  struct Session;
  std::unique_ptr<Session> session_;
};

// snapshot: read-only, and all statements see the same moment (REPEATABLE READ).
enum class Access { read_write, read_only, snapshot };

// with_first_statement saves a round trip; a connection that is dead is found out by it then. If
// that statement goes along with COMMIT, a death that the server has not told leaves it in doubt.
enum class Begin { at_once, with_first_statement };

// What a transaction does before anything else, in the same message as BEGIN: a statement without
// parameters, whose rows nobody sees.
using Opening = const Statement*;

// A statement with what is bound to it.
struct Call {
  Statement statement;
  Params params;
};

// Without commit() it is rolled back at destruction. READ COMMITTED, unless it is a snapshot.
class Transaction {
 public:
  explicit Transaction(Connection& connection, Access access = Access::read_write,
                       Begin begin = Begin::at_once, Opening opening = nullptr);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  // Prepared on first use per connection under the statement's name, unless it is pooled. After an
  // error the transaction can only be destroyed.
  Rows run(const Statement& statement, const Params& params = {});

  // Runs a statement together with whatever comes next, in one round trip if that is COMMIT. Nobody
  // sees what it returns, so it fails by itself unless it does exactly what it was asked to. A
  // transaction of nothing but deferred statements is one round trip, BEGIN and COMMIT included.
  void defer(const Statement& statement, Params params);

  // Runs a statement for what it returns and takes back what it did, row locks included.
  Rows run_and_undo(const Statement& statement, const Params& params = {});

  // The statements that were run, in their order, and how long each took; those that went along
  // with COMMIT, under the name of the last of them.
  struct Took {
    std::string_view statement;
    std::chrono::nanoseconds time;
  };
  [[nodiscard]] const std::vector<Took>& times() const { return times_; }

  // Returns only after the server acknowledged the COMMIT of a transaction that had not failed.
  // Throws InDoubtError when COMMIT was sent and its outcome is not known, TransientError or
  // StatementError when it is certain that nothing was committed.
  void commit();

 private:
  friend class Migrator;
  void begin();
  void run_deferred();
  std::string with_deferred();
  // SAVEPOINT and its like.
  void control(std::string_view command);
  // A whole migration, of several statements. A StatementError says what the server objects to.
  void run_migration_text(const std::string& text);

  Connection& connection_;
  struct Work;
  std::unique_ptr<Work> work_;
  std::vector<Took> times_;
};

}  // namespace oncepay::db

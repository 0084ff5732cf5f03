#include "db/connection.hpp"

#include <pqxx/nontransaction>
#include <pqxx/params>
#include <pqxx/prepared_statement>
#include <stdexcept>

#include "db/rows_data.hpp"
#include "db/session.hpp"
#include "db/translate.hpp"

namespace oncepay::db {

Connection::Connection(const ConnectionSettings& settings)
    : session_(std::make_unique<Session>(settings)) {}

Connection::~Connection() = default;

bool Connection::usable() const { return !session_->unusable && session_->connected(); }

int Connection::backend_pid() const { return PQbackendPID(session_->raw); }

int Connection::server_version() const { return PQserverVersion(session_->raw); }

// libpqxx's `work` would send a plain BEGIN, whose isolation is whatever the role's default is, and
// would let COMMIT of an aborted transaction depend on its own bookkeeping. So BEGIN, COMMIT and
// ROLLBACK are sent here, and what the server says of the transaction's state is what counts.
struct Transaction::Work {
  explicit Work(Connection::Session& opened) : session(opened), work(opened.connection) {}
  ~Work() { roll_back(); }
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;

  void roll_back() {
    if (ended) return;
    ended = true;
    try {
      if (session.connected()) work.exec("ROLLBACK");
    } catch (const std::exception&) {
      session.unusable = true;
    }
    if (session.transaction_status() != PQTRANS_IDLE) session.unusable = true;
  }

  Connection::Session& session;
  pqxx::nontransaction work;
  std::int64_t began_at_us = 0;
  bool failed = false;
  bool ended = false;
};

Transaction::Transaction(Connection& connection, Access access) : connection_(connection) {
  Connection::Session& session = *connection_.session_;
  if (!connection_.usable()) {
    throw TransientError(TransientReason::connection_lost, "the connection is not usable any more");
  }
  work_ = std::make_unique<Work>(session);
  try {
    const pqxx::result begun = work_->work.exec(session.begin(access));
    if (access == Access::read_write) work_->began_at_us = begun.one_field().as<std::int64_t>();
  } catch (const std::exception&) {
    session.unusable = true;
    throw_statement_failure("BEGIN", session.connected());
  }
}

Transaction::~Transaction() = default;

std::int64_t Transaction::began_at_us() const { return work_->began_at_us; }

Rows Transaction::run(const Statement& statement, const Params& params) {
  if (work_->ended || work_->failed) {
    throw std::logic_error("a statement after the end of its transaction");
  }
  Connection::Session& session = *connection_.session_;
  try {
    const std::string name(statement.name);
    if (!session.prepared.contains(name)) {
      session.connection.prepare(name, std::string(statement.text));
      session.prepared.insert(name);
    }
    pqxx::params bound;
    bound.reserve(params.texts().size());
    for (const auto& text : params.texts()) {
      if (text) {
        bound.append(pqxx::zview(*text));
      } else {
        bound.append();
      }
    }
    return Rows(std::make_shared<const Rows::Data>(
        Rows::Data{work_->work.exec(pqxx::prepped{name}, bound)}));
  } catch (const std::exception&) {
    work_->failed = true;
    try {
      throw_statement_failure(statement.name, session.connected());
    } catch (const TransientError& error) {
      // Also when the session still stands, but with stale statements or on a demoted primary.
      if (error.reason() == TransientReason::connection_lost ||
          error.reason() == TransientReason::read_only) {
        session.unusable = true;
      }
      throw;
    }
  }
}

void Transaction::control(std::string_view command) {
  try {
    work_->work.exec(command);
  } catch (const std::exception&) {
    work_->failed = true;
    throw_statement_failure(command, connection_.session_->connected());
  }
}

Rows Transaction::run_and_undo(const Statement& statement, const Params& params) {
  control("SAVEPOINT undo");
  Rows rows = run(statement, params);
  control("ROLLBACK TO SAVEPOINT undo");
  control("RELEASE SAVEPOINT undo");
  return rows;
}

void Transaction::run_migration_text(const std::string& text) {
  try {
    work_->work.exec(text);
  } catch (const std::exception&) {
    work_->failed = true;
    throw_migration_failure(connection_.session_->connected());
  }
  if (connection_.session_->transaction_status() != PQTRANS_INTRANS) {
    work_->failed = true;
    throw std::logic_error("a migration ended its own transaction");
  }
}

void Transaction::commit() {
  Connection::Session& session = *connection_.session_;
  if (work_->ended) throw std::logic_error("COMMIT after the end of the transaction");
  if (!session.connected()) {
    session.unusable = true;
    throw TransientError(TransientReason::connection_lost,
                         "the connection was lost before COMMIT was sent");
  }
  // COMMIT of an aborted transaction, or of none, is no error for the server: it answers ROLLBACK.
  if (work_->failed || session.transaction_status() != PQTRANS_INTRANS) {
    throw std::logic_error("COMMIT of a transaction in which a statement failed");
  }
  work_->ended = true;
  session.replication_wait_cancelled = false;
  try {
    work_->work.exec("COMMIT");
  } catch (const std::exception&) {
    if (session.transaction_status() != PQTRANS_IDLE) session.unusable = true;
    throw_commit_failure(session.connected());
  }
  if (session.transaction_status() != PQTRANS_IDLE) {
    session.unusable = true;
    throw InDoubtError("COMMIT did not end the transaction");
  }
  if (session.replication_wait_cancelled) {
    throw InDoubtError("COMMIT was not confirmed by the synchronous standby");
  }
}

}  // namespace oncepay::db

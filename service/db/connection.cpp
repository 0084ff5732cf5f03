#include "db/connection.hpp"

#include <pqxx/nontransaction>
#include <pqxx/params>
#include <pqxx/prepared_statement>
#include <stdexcept>
#include <utility>
#include <vector>

#include "db/rows_data.hpp"
#include "db/session.hpp"
#include "db/translate.hpp"

namespace oncepay::db {

Connection::Connection(const ConnectionSettings& settings)
    : session_(std::make_unique<Session>(settings)) {}

Connection::~Connection() = default;

bool Connection::usable() const { return !session_->unusable && session_->connected(); }

int Connection::backend_pid() const { return PQbackendPID(session_->raw); }

bool Connection::pooled() const { return session_->pooled; }

int Connection::server_version() const { return PQserverVersion(session_->raw); }

namespace {

std::size_t length_of(const Params& params) {
  std::size_t length = 0;
  for (const auto& text : params.texts()) length += text ? text->size() : 0;
  return length;
}

}  // namespace

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
    if (!begun) return;
    try {
      if (session.connected()) work.exec("ROLLBACK");
    } catch (const std::exception&) {
      session.unusable = true;
    }
    if (session.transaction_status() != PQTRANS_IDLE) session.unusable = true;
  }

  // Whether a statement may go along with another command in one message, its parameters as
  // literals. Long ones cost more to read there than the round trip that it saves.
  [[nodiscard]] bool may_go_along(std::size_t length) const {
    constexpr std::size_t length_max = 16 * 1024;
    return !session.pooled && length <= length_max;
  }

  pqxx::result begin_with(const Statement& statement, const Params& params) {
    session.prepare(statement);
    begun = true;
    return work.exec(begin_command + "; " + session.call(statement, params));
  }

  pqxx::result execute(const Statement& statement, const Params& params) {
    pqxx::params bound;
    bound.reserve(params.texts().size());
    for (const auto& text : params.texts()) {
      if (text) {
        bound.append(pqxx::zview(*text));
      } else {
        bound.append();
      }
    }
    if (session.pooled) return work.exec(pqxx::zview(statement.text), bound);
    session.prepare(statement);
    return work.exec(pqxx::prepped{std::string(statement.name)}, bound);
  }

  Connection::Session& session;
  pqxx::nontransaction work;
  std::string begin_command;
  std::vector<Call> deferred;
  bool begun = false;
  bool failed = false;
  bool ended = false;
};

Transaction::Transaction(Connection& connection, Access access, Begin begin_when, Opening opening)
    : connection_(connection) {
  Connection::Session& session = *connection_.session_;
  if (!connection_.usable()) {
    throw TransientError(TransientReason::connection_lost, "the connection is not usable any more");
  }
  work_ = std::make_unique<Work>(session);
  work_->begin_command = session.begin(access);
  if (opening != nullptr) work_->begin_command.append("; ").append(opening->text);
  if (begin_when == Begin::at_once) begin();
}

void Transaction::begin() {
  Connection::Session& session = *connection_.session_;
  work_->begun = true;
  try {
    work_->work.exec(work_->begin_command);
  } catch (const std::exception&) {
    work_->failed = true;
    // What it opens with may fail as any statement may, and is rolled back.
    if (session.transaction_status() != PQTRANS_INERROR) session.unusable = true;
    refuse_statement_pooler(PQerrorMessage(session.raw));
    throw_statement_failure("BEGIN", session.connected());
  }
}

Transaction::~Transaction() = default;

Rows Transaction::run(const Statement& statement, const Params& params) {
  if (work_->ended || work_->failed) {
    throw std::logic_error("a statement after the end of its transaction");
  }
  Connection::Session& session = *connection_.session_;
  run_deferred();
  const auto began = std::chrono::steady_clock::now();
  try {
    const bool with_begin = !work_->begun && work_->may_go_along(length_of(params));
    if (!work_->begun && !with_begin) begin();
    Rows rows(std::make_shared<const Rows::Data>(Rows::Data{
        with_begin ? work_->begin_with(statement, params) : work_->execute(statement, params)}));
    times_.push_back({statement.name, std::chrono::steady_clock::now() - began});
    return rows;
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

void Transaction::defer(const Statement& statement, Params params) {
  work_->deferred.push_back({statement, std::move(params)});
}

void Transaction::run_deferred() {
  const auto deferred = std::exchange(work_->deferred, {});
  for (const auto& [statement, params] : deferred) run(statement, params);
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
  run_deferred();
  if (!work_->begun) begin();
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

// What goes before COMMIT in the same message: what was deferred, if that is short, and BEGIN, if
// nothing was sent yet.
std::string Transaction::with_deferred() {
  Connection::Session& session = *connection_.session_;
  std::size_t length = 0;
  for (const Call& call : work_->deferred) length += length_of(call.params);
  if (!work_->may_go_along(length)) {
    run_deferred();
    return {};
  }
  std::string commands = work_->begun ? "" : work_->begin_command + "; ";
  for (const auto& [statement, params] : work_->deferred) {
    try {
      session.prepare(statement);
    } catch (const std::exception&) {
      work_->failed = true;
      throw_statement_failure(statement.name, session.connected());
    }
    commands.append(session.call(statement, params)).append("; ");
  }
  return commands;
}

void Transaction::commit() {
  Connection::Session& session = *connection_.session_;
  if (work_->ended) throw std::logic_error("COMMIT after the end of the transaction");
  if (!session.connected() || (!work_->begun && session.has_died())) {
    session.unusable = true;
    throw TransientError(TransientReason::connection_lost,
                         "the connection was lost before COMMIT was sent");
  }
  if (!work_->begun && work_->deferred.empty()) {
    work_->ended = true;  // nothing was asked
    return;
  }
  const std::string command = with_deferred() + "COMMIT";
  const auto began = std::chrono::steady_clock::now();
  // COMMIT of an aborted transaction, or of none, is no error for the server: it answers ROLLBACK.
  const auto expected = work_->begun ? PQTRANS_INTRANS : PQTRANS_IDLE;
  if (work_->failed || session.transaction_status() != expected) {
    throw std::logic_error("COMMIT of a transaction in which a statement failed");
  }
  work_->begun = true;
  work_->ended = true;
  session.replication_wait_cancelled = false;
  try {
    work_->work.exec(command);
  } catch (const std::exception&) {
    if (session.transaction_status() == PQTRANS_INERROR) {
      // What was deferred failed, and COMMIT was not reached.
      work_->ended = false;
      work_->roll_back();
    } else if (session.transaction_status() != PQTRANS_IDLE) {
      session.unusable = true;
    }
    throw_commit_failure(session.connected());
  }
  const auto& together = work_->deferred;  // what went along with it, if anything did
  times_.push_back({together.empty() ? "COMMIT" : together.back().statement.name,
                    std::chrono::steady_clock::now() - began});
  if (session.transaction_status() != PQTRANS_IDLE) {
    session.unusable = true;
    throw InDoubtError("COMMIT did not end the transaction");
  }
  if (session.replication_wait_cancelled) {
    throw InDoubtError("COMMIT was not confirmed by the synchronous standby");
  }
}

}  // namespace oncepay::db

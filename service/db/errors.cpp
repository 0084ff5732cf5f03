#include "db/errors.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <pqxx/except>

#include "db/translate.hpp"

namespace oncepay::db {

std::string_view name_of(TransientReason reason) {
  switch (reason) {
    case TransientReason::serialization:
      return "serialization";
    case TransientReason::lock_timeout:
      return "lock_timeout";
    case TransientReason::cancelled:
      return "cancelled";
    case TransientReason::connection_lost:
      return "connection_lost";
    case TransientReason::read_only:
      return "read_only";
    case TransientReason::out_of_capacity:
      return "out_of_capacity";
  }
  return "unknown";
}

TransientError::TransientError(TransientReason reason, const std::string& what)
    : std::runtime_error(what), reason_(reason) {}

StatementError::StatementError(std::string sqlstate, std::string constraint,
                               const std::string& what)
    : std::runtime_error(what),
      sqlstate_(std::move(sqlstate)),
      constraint_(std::move(constraint)) {}

namespace {

std::optional<TransientReason> transient_reason(std::string_view sqlstate) {
  if (sqlstate == "40003") return TransientReason::connection_lost;
  if (sqlstate.starts_with("40")) return TransientReason::serialization;
  if (sqlstate == "55P03") return TransientReason::lock_timeout;
  if (sqlstate == "57014") return TransientReason::cancelled;
  if (sqlstate == "25006") return TransientReason::read_only;
  if (sqlstate.starts_with("53")) return TransientReason::out_of_capacity;
  // An administrator or a crash ends the session (57P0x), it idled too long (25P03), the network
  // broke.
  if (sqlstate.starts_with("57P") || sqlstate.starts_with("08") || sqlstate == "25P03") {
    return TransientReason::connection_lost;
  }
  return std::nullopt;
}

// A pooler lost a prepared statement, or another session's DDL made it stale ("cached plan must not
// change result type", which has no SQLSTATE of its own): a new session has neither.
bool needs_new_session(std::string_view sqlstate, std::string_view message) {
  return sqlstate == "26000" ||
         (sqlstate == "0A000" && message.find("RevalidateCachedQuery") != std::string_view::npos);
}

// Sessions ask for verbose errors, which end in lines like this one. The server's own lines come
// after whatever the message quotes, so the last one counts.
std::string constraint_in(std::string_view message) {
  static constexpr std::string_view label = "\nCONSTRAINT NAME:  ";
  const auto at = message.rfind(label);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = message.substr(at + label.size());
  return std::string(rest.substr(0, rest.find('\n')));
}

// Verbose errors of the server hold "ERROR:  08006: ", the first word in its language; what libpq
// says by itself has no SQLSTATE.
bool names_class_08(std::string_view message) {
  static constexpr std::string_view label = ":  08";
  static constexpr std::size_t rest_of_sqlstate = 3;
  const auto at = message.find(label);
  if (at == std::string_view::npos) return false;
  const std::string_view rest = message.substr(at + label.size());
  return rest.size() > rest_of_sqlstate && rest[rest_of_sqlstate] == ':';
}

// "ERROR:  42601: syntax error at or near …" without the lines that follow.
std::string first_line(std::string_view message) {
  return std::string(message.substr(0, message.find('\n')));
}

[[noreturn]] void throw_for_sqlstate(std::string_view context, std::string_view sqlstate,
                                     std::string_view message) {
  std::string what = std::string(context) + ": SQLSTATE " + std::string(sqlstate);
  if (const auto reason = transient_reason(sqlstate)) throw TransientError(*reason, what);
  if (needs_new_session(sqlstate, message)) {
    throw TransientError(TransientReason::connection_lost, what);
  }
  std::string constraint = constraint_in(message);
  if (!constraint.empty()) what += ", constraint " + constraint;
  throw StatementError(std::string(sqlstate), std::move(constraint), what);
}

[[noreturn]] void throw_lost(std::string_view context) {
  throw TransientError(TransientReason::connection_lost,
                       std::string(context) + ": the connection to the database is lost");
}

}  // namespace

void throw_statement_failure(std::string_view context, bool connected) {
  const std::string name(context);
  try {
    throw;
  } catch (const pqxx::in_doubt_error&) {
    throw InDoubtError(name + ": in doubt");
  } catch (const pqxx::statement_completion_unknown& error) {
    throw_for_sqlstate(context, "40003", error.what());
  } catch (const pqxx::too_many_connections& error) {
    throw_for_sqlstate(context, "53300", error.what());
  } catch (const pqxx::protocol_violation&) {
    if (!connected) throw_lost(context);
    throw std::logic_error(name + ": the parameters do not fit the statement");
  } catch (const pqxx::broken_connection&) {
    throw_lost(context);
  } catch (const pqxx::insufficient_privilege& error) {
    throw_for_sqlstate(context, "42501", error.what());  // libpqxx leaves its SQLSTATE empty
  } catch (const pqxx::sql_error& error) {
    if (!connected) throw_lost(context);
    throw_for_sqlstate(context, error.sqlstate(), error.what());
  } catch (const pqxx::failure&) {
    if (!connected) throw_lost(context);
    throw std::logic_error(name + ": libpqxx refused the call");
  }
}

void refuse_statement_pooler(std::string_view words) {
  if (words.find("statement pooling mode") == std::string_view::npos) return;
  throw StatementError("08P01", {},
                       "the database URL leads to a pooler in statement mode, and payments need "
                       "transactions: set pool_mode to transaction or session");
}

void throw_migration_failure(bool connected) {
  try {
    throw;
  } catch (const pqxx::sql_error& error) {
    const std::string words = first_line(error.what());
    try {
      throw_statement_failure("migration", connected);
    } catch (const StatementError& refused) {
      throw StatementError(refused.sqlstate(), refused.constraint(), words);
    }
  } catch (const std::exception&) {
    throw_statement_failure("migration", connected);
  }
}

void throw_commit_failure(bool connected) {
  try {
    throw;
  } catch (const pqxx::in_doubt_error&) {
  } catch (const pqxx::statement_completion_unknown&) {
  } catch (const pqxx::too_many_connections& error) {
    if (connected) throw_for_sqlstate("COMMIT", "53300", error.what());
  } catch (const pqxx::broken_connection& error) {
    // The server may report a class 08 error of its own at COMMIT, from a trigger that calls out.
    // libpqxx says the same when libpq gave up by itself, and that is no news of the COMMIT.
    if (connected && names_class_08(error.what())) throw_lost("COMMIT");
  } catch (const pqxx::insufficient_privilege& error) {
    if (connected) throw_for_sqlstate("COMMIT", "42501", error.what());
  } catch (const pqxx::sql_error& error) {
    if (connected) throw_for_sqlstate("COMMIT", error.sqlstate(), error.what());
  } catch (const std::exception&) {
    // Out of memory while the reply was read, or a bug: COMMIT may have gone out.
  }
  throw InDoubtError("COMMIT was sent and its outcome is not known");
}

namespace {

struct ConnectFailure {
  std::string_view words;  // of the server or of libpq, as they are in English
  std::string_view more_words;
  std::string_view sqlstate;
};

// A connection that fails gives words only, no SQLSTATE. Words in another language match nothing
// and count as a lost connection, which is tried again: the safe side.
constexpr std::array connect_failures{
    ConnectFailure{"authentication failed", "", "28P01"},
    ConnectFailure{"no password supplied", "", "28P01"},
    ConnectFailure{"no pg_hba.conf entry", "", "28000"},
    ConnectFailure{"pg_hba.conf rejects", "", "28000"},
    ConnectFailure{"is not permitted to log in", "", "28000"},
    ConnectFailure{"FATAL:  role \"", "\" does not exist", "28000"},
    ConnectFailure{"FATAL:  database \"", "\" does not exist", "3D000"},
    ConnectFailure{"permission denied for database", "", "42501"},
    ConnectFailure{"FATAL:  ", "too many", "53300"},
    ConnectFailure{"remaining connection slots are reserved", "", "53300"},
    ConnectFailure{"session is read-only", "", "25006"},
};

// libpq reports one line for each host it tried, "connection to server at …, port … failed:
// reason". Only the reasons are kept.
std::string reasons_in(std::string_view words) {
  static constexpr std::string_view label = "failed: ";
  std::string reasons;
  while (!words.empty()) {
    const std::string_view line = words.substr(0, words.find('\n'));
    words.remove_prefix(std::min(words.size(), line.size() + 1));
    std::string_view reason;
    if (const auto at = line.find(label); at != std::string_view::npos) {
      reason = line.substr(at + label.size());
    } else if (line.starts_with("could not translate host name")) {
      reason = "the host name cannot be resolved";
    } else {
      continue;
    }
    if (reasons.find(reason) != std::string::npos) continue;
    if (!reasons.empty()) reasons += "; ";
    reasons += reason;
  }
  return reasons.empty() ? "no server could be reached" : reasons;
}

std::size_t count_of(std::string_view word, std::string_view text) {
  std::size_t count = 0;
  for (auto at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1))
    ++count;
  return count;
}

}  // namespace

void throw_connect_failure(std::string_view words) {
  const std::string what = "cannot connect to the database: " + reasons_in(words);
  for (const ConnectFailure& failure : connect_failures) {
    if (words.find(failure.words) == std::string_view::npos ||
        words.find(failure.more_words) == std::string_view::npos) {
      continue;
    }
    if (const auto reason = transient_reason(failure.sqlstate)) throw TransientError(*reason, what);
    // One of several hosts may have said so while another is only away for now.
    if (count_of(failure.words, words) < count_of("connection to server", words)) continue;
    throw StatementError(std::string(failure.sqlstate), {}, what);
  }
  throw TransientError(TransientReason::connection_lost, what);
}

}  // namespace oncepay::db

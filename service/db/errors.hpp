// What can go wrong between us and PostgreSQL, named by what the caller does next.
//
// libpqxx's exceptions and SQLSTATEs are translated here and nowhere else. No message carries row
// values, SQL text, host names or passwords: what() may be logged, but is never sent to a client.
// Source: PostgreSQL, Appendix A "PostgreSQL Error Codes".
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace oncepay::db {

// Why a transaction is over although nothing is wrong with what it wanted.
enum class TransientReason {
  serialization,    // 40001, 40P01: run the whole transaction again at once
  lock_timeout,     // 55P03: somebody else holds the row or the uncommitted key
  cancelled,        // 57014: statement_timeout or an administrator
  connection_lost,  // broken before COMMIT was sent, or never had: nothing was committed
  read_only,        // 25006: this is no primary (any more)
  out_of_capacity,  // 53xxx: connections, memory, disk
};

std::string_view name_of(TransientReason reason);

// The transaction was rolled back (or never began). Running it again, bounded and with a pause, is
// right.
class TransientError : public std::runtime_error {
 public:
  TransientError(TransientReason reason, const std::string& what);
  [[nodiscard]] TransientReason reason() const { return reason_; }

 private:
  TransientReason reason_;
};

// COMMIT was sent and its outcome is unknown: ask the key on a new connection, never run blindly
// again.
class InDoubtError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The database refused a statement for what it says: data, constraint, privilege, syntax. The
// transaction is rolled back; running it again gives the same. Carries SQLSTATE and constraint
// name, never values.
class StatementError : public std::runtime_error {
 public:
  StatementError(std::string sqlstate, std::string constraint, const std::string& what);
  [[nodiscard]] const std::string& sqlstate() const { return sqlstate_; }
  [[nodiscard]] const std::string& constraint() const { return constraint_; }

 private:
  std::string sqlstate_;
  std::string constraint_;
};

}  // namespace oncepay::db

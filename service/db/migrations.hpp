// Forward-only migrations, applied under a lock by whoever comes first.
//
// `up` takes an advisory lock, creates the bookkeeping table inside it, compares what was applied
// with what this binary holds, and applies each pending migration in a transaction of its own
// together with its row in schema_migrations. DDL runs with a lock_timeout and is tried again with
// a pause, so that a waiting ACCESS EXCLUSIVE lock never blocks payments for longer than that.
// Checksums ignore line ends and a BOM.
//
// Threads: one at a time per Connection. Errors: SchemaError says which migration and what to do;
// nothing has been changed by the migration that it names. db errors pass.
// Source: PostgreSQL "Advisory Locks", "Explicit Locking".
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "db/connection.hpp"

namespace oncepay::db {

struct Migration {
  int version;
  std::string_view name;
  std::string_view text;
};

class SchemaError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

enum class MigrationState { applied, pending, changed, missing, unknown_newer };

struct MigrationStatus {
  int version;
  std::string name;
  MigrationState state;
  std::optional<std::string> applied_at;  // RFC 3339, UTC
};

// SHA-256 in hex over the text without BOM and with LF line ends only.
std::string checksum_of(std::string_view migration_text);

class Migrator {
 public:
  struct Settings {
    std::chrono::milliseconds lock_timeout{2000};      // of each DDL attempt
    std::chrono::milliseconds retry_pause{1000};       // jittered
    int attempts_max = 30;                             // per migration
    std::chrono::milliseconds advisory_wait{120'000};  // for another migrator to finish
  };

  Migrator(Connection& connection, std::span<const Migration> known, Settings settings);

  // Known migrations and what the database says of them; never writes. A database without
  // bookkeeping table has applied none.
  std::vector<MigrationStatus> status();

  // Applies what is pending, in order, and calls `applied` after each. Returns how many. Throws
  // SchemaError when an applied migration is changed, missing here, or newer than this binary: then
  // nothing is applied.
  int up(const std::function<void(const Migration&)>& applied);

  // Throws SchemaError unless applied and known migrations are equal in number, order and checksum.
  void verify();

  // Highest applied version, 0 for none; and what this binary knows.
  int applied_version();
  [[nodiscard]] int known_version() const;

 private:
  Connection& connection_;
  std::span<const Migration> known_;
  Settings settings_;
};

}  // namespace oncepay::db

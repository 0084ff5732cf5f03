// Forward-only migrations, applied under a lock by whoever comes first.
//
// Each migration is one transaction: take the lock, create the bookkeeping table if there is none,
// compare what was applied with what this binary holds, apply the next pending one, note it. The
// lock belongs to the transaction, so whoever is killed leaves neither a lock nor half a migration,
// and another migrator may go on with the next one. DDL runs with a lock_timeout and is tried again
// after a pause, so that its waiting ACCESS EXCLUSIVE lock never blocks payments for longer than
// that; what it does once it has the lock is the migration's own care. Checksums ignore line ends
// and a BOM. Deliberately not here: ways back, and statements that refuse a transaction (CREATE
// INDEX CONCURRENTLY).
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

// "0001_tenants.sql"
std::string file_name_of(int version, std::string_view name);

class SchemaError : public std::runtime_error {
 public:
  SchemaError(const std::string& what, std::string hint)
      : std::runtime_error(what), hint_(std::move(hint)) {}
  [[nodiscard]] const std::string& hint() const { return hint_; }  // for an operator

 private:
  std::string hint_;
};

enum class MigrationState {
  applied,
  pending,
  changed,        // applied with another text than this binary holds
  missing,        // applied, but this binary has no such migration although it knows later ones
  skipped,        // never applied, although later ones were
  unknown_newer,  // applied by a newer release
};

std::string_view name_of(MigrationState state);

struct MigrationStatus {
  int version;
  std::string name;
  MigrationState state;
  std::optional<std::string> applied_at;  // RFC 3339, UTC
};

// SHA-256 in hex over the text without BOM and with LF line ends only.
std::string checksum_of(std::string_view migration_text);

// For this transaction: how long it waits for a lock, and that it may then run as long as it takes.
void limit_waits(Transaction& transaction, std::chrono::milliseconds lock_timeout);

// The same, and takes the lock under which the schema is changed, until the transaction's end.
// False when somebody else has it.
bool take_migration_turn(Transaction& transaction, std::chrono::milliseconds lock_timeout);

class Migrator {
 public:
  struct Settings {
    std::chrono::milliseconds lock_timeout{2000};      // of each DDL attempt
    std::chrono::milliseconds retry_pause{1000};       // jittered
    int attempts_max = 30;                             // per migration
    std::chrono::milliseconds advisory_wait{120'000};  // for another migrator to get on
  };

  // `known` is in order of version and outlives the migrator.
  Migrator(Connection& connection, std::span<const Migration> known, Settings settings);

  // Known migrations and what the database says of them; never writes. A database without
  // bookkeeping table has applied none.
  std::vector<MigrationStatus> status();

  // Applies what is pending, in order, and calls `applied` after each. Returns how many this call
  // applied; others may have applied the rest at the same time. Throws SchemaError when an applied
  // migration is changed, missing here or newer than this binary, or one was skipped: then nothing
  // is applied.
  int up(const std::function<void(const Migration&)>& applied);

  // Throws SchemaError unless applied and known migrations are equal in number, order and checksum.
  void verify();

  // Highest applied version, 0 for none; and what this binary knows.
  int applied_version();
  [[nodiscard]] int known_version() const;

 private:
  enum class Step { applied, nothing_pending, locked_out };
  Step try_next(const Migration*& next);
  Step next(const Migration*& next);
  std::vector<MigrationStatus> compare(Transaction& transaction);
  void apply(Transaction& transaction, const Migration& migration);
  void pause(std::chrono::milliseconds time);

  Connection& connection_;
  std::span<const Migration> known_;
  Settings settings_;
};

}  // namespace oncepay::db

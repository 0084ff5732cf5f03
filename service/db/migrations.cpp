#include "db/migrations.hpp"

#include <algorithm>
#include <map>
#include <random>
#include <thread>

#include "runtime/digest.hpp"
#include "sql/statements.hpp"

namespace oncepay::db {
namespace {

constexpr std::chrono::milliseconds lock_poll{100};

struct Applied {
  std::string name;
  std::string checksum;
  std::string applied_at;
};
using History = std::map<int, Applied>;

std::string without_line_end_differences(std::string_view text) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  std::string plain;
  plain.reserve(text.size());
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool before_lf = text[at] == '\r' && at + 1 < text.size() && text[at + 1] == '\n';
    if (!before_lf) plain += text[at];
  }
  return plain;
}

History read_history(Transaction& transaction) {
  History history;
  if (!transaction.run(sql::db::find_bookkeeping).flag(0, 0)) return history;
  const Rows rows = transaction.run(sql::db::list_applied_migrations);
  for (std::size_t row = 0; row < rows.size(); ++row) {
    history[static_cast<int>(rows.number(row, 0))] = {std::string(rows.text(row, 1)),
                                                      std::string(rows.text(row, 2)),
                                                      std::string(rows.text(row, 3))};
  }
  return history;
}

MigrationStatus status_of(const Migration& known, const History& history) {
  MigrationStatus status{known.version, std::string(known.name), MigrationState::pending, {}};
  const auto found = history.find(known.version);
  if (found != history.end()) {
    const bool same = found->second.checksum == checksum_of(known.text);
    status.state = same ? MigrationState::applied : MigrationState::changed;
    status.applied_at = found->second.applied_at;
  } else if (!history.empty() && history.rbegin()->first > known.version) {
    status.state = MigrationState::skipped;
  }
  return status;
}

[[noreturn]] void refuse(const MigrationStatus& wrong, int known_version) {
  const std::string file = file_name_of(wrong.version, wrong.name);
  switch (wrong.state) {
    case MigrationState::changed:
      throw SchemaError("migration " + file + " was changed after it had been applied",
                        "restore its text as it was, and make a new migration of the change");
    case MigrationState::missing:
      throw SchemaError("migration " + file + " was applied, but this release does not have it",
                        "use the release that the database was migrated with");
    case MigrationState::skipped:
      throw SchemaError("migration " + file + " was not applied, although later ones were",
                        "migrations are applied in order: restore schema_migrations");
    case MigrationState::unknown_newer:
      throw SchemaError("the schema is at version " + std::to_string(wrong.version) +
                            " (migration " + file + "), this release knows version " +
                            std::to_string(known_version) + " only",
                        "use the release that the database was migrated with, or a newer one");
    case MigrationState::pending:
      throw SchemaError("migration " + file + " is pending", "run oncepay migrate up");
    case MigrationState::applied:
      break;
  }
  throw std::logic_error("an applied migration was refused");
}

}  // namespace

std::string file_name_of(int version, std::string_view name) {
  std::string number = std::to_string(version);
  number.insert(0, number.size() < 4 ? 4 - number.size() : 0, '0');
  return number + "_" + std::string(name) + ".sql";
}

std::string_view name_of(MigrationState state) {
  switch (state) {
    case MigrationState::applied:
      return "applied";
    case MigrationState::pending:
      return "pending";
    case MigrationState::changed:
      return "changed";
    case MigrationState::missing:
      return "missing";
    case MigrationState::skipped:
      return "skipped";
    case MigrationState::unknown_newer:
      return "newer";
  }
  return "unknown";
}

std::string checksum_of(std::string_view migration_text) {
  return runtime::to_hex(runtime::sha256(without_line_end_differences(migration_text)));
}

void limit_waits(Transaction& transaction, std::chrono::milliseconds lock_timeout) {
  transaction.run(sql::db::limit_migration_waits,
                  Params().add(std::to_string(lock_timeout.count()) + "ms"));
}

bool take_migration_turn(Transaction& transaction, std::chrono::milliseconds lock_timeout) {
  limit_waits(transaction, lock_timeout);
  return transaction.run(sql::db::try_migration_lock).flag(0, 0);
}

Migrator::Migrator(Connection& connection, std::span<const Migration> known, Settings settings)
    : connection_(connection), known_(known), settings_(settings) {}

int Migrator::known_version() const { return known_.empty() ? 0 : known_.back().version; }

std::vector<MigrationStatus> Migrator::compare(Transaction& transaction) {
  const History history = read_history(transaction);
  std::vector<MigrationStatus> all;
  for (const Migration& known : known_) all.push_back(status_of(known, history));
  for (const auto& [version, applied] : history) {
    const auto is_it = [number = version](const Migration& one) { return one.version == number; };
    if (std::any_of(known_.begin(), known_.end(), is_it)) continue;
    all.push_back(
        {version, applied.name,
         version > known_version() ? MigrationState::unknown_newer : MigrationState::missing,
         applied.applied_at});
  }
  std::sort(all.begin(), all.end(),
            [](const auto& a, const auto& b) { return a.version < b.version; });
  return all;
}

std::vector<MigrationStatus> Migrator::status() {
  Transaction transaction(connection_, Access::read_only);
  return compare(transaction);
}

int Migrator::applied_version() {
  int version = 0;
  for (const MigrationStatus& one : status()) {
    if (one.applied_at) version = one.version;
  }
  return version;
}

void Migrator::verify() {
  for (const MigrationStatus& one : status()) {
    if (one.state != MigrationState::applied) refuse(one, known_version());
  }
}

void Migrator::apply(Transaction& transaction, const Migration& migration) {
  try {
    transaction.run_migration_text(without_line_end_differences(migration.text));
  } catch (const StatementError& error) {
    throw SchemaError("migration " + file_name_of(migration.version, migration.name) +
                          " failed and was rolled back: " + error.what(),
                      "correct it and run oncepay migrate up again");
  }
  transaction.run(
      sql::db::record_migration,
      Params().add(migration.version).add(migration.name).add(checksum_of(migration.text)));
}

Migrator::Step Migrator::try_next(const Migration*& next) {
  Transaction transaction(connection_);
  if (!take_migration_turn(transaction, settings_.lock_timeout)) return Step::locked_out;
  if (!transaction.run(sql::db::find_bookkeeping).flag(0, 0)) {
    transaction.run(sql::db::create_bookkeeping);
    transaction.run(sql::db::describe_bookkeeping);
  }
  next = nullptr;
  for (const MigrationStatus& one : compare(transaction)) {
    if (one.state == MigrationState::applied) continue;
    if (one.state != MigrationState::pending) refuse(one, known_version());
    const auto is_it = [&one](const Migration& known) { return known.version == one.version; };
    if (next == nullptr) next = &*std::find_if(known_.begin(), known_.end(), is_it);
  }
  if (next != nullptr) apply(transaction, *next);
  transaction.commit();
  return next == nullptr ? Step::nothing_pending : Step::applied;
}

// The same, again after a pause while somebody holds the locks that the DDL needs.
Migrator::Step Migrator::next(const Migration*& next) {
  for (int attempt = 1;; ++attempt) {
    next = nullptr;
    try {
      return try_next(next);
    } catch (const TransientError& error) {
      const bool waits = error.reason() == TransientReason::lock_timeout ||
                         error.reason() == TransientReason::serialization;
      if (!waits || next == nullptr) throw;
      if (attempt >= settings_.attempts_max) {
        throw SchemaError("migration " + file_name_of(next->version, next->name) +
                              " did not get its locks in " + std::to_string(attempt) + " attempts",
                          "end the transactions that hold them (pg_stat_activity shows them), and "
                          "run oncepay migrate up again");
      }
    }
    pause(settings_.retry_pause);
  }
}

int Migrator::up(const std::function<void(const Migration&)>& applied) {
  int count = 0;
  auto give_up = std::chrono::steady_clock::now() + settings_.advisory_wait;
  for (;;) {
    const Migration* migration = nullptr;
    switch (next(migration)) {
      case Step::nothing_pending:
        return count;
      case Step::applied:
        ++count;
        applied(*migration);
        give_up = std::chrono::steady_clock::now() + settings_.advisory_wait;
        break;
      case Step::locked_out:
        if (std::chrono::steady_clock::now() >= give_up) {
          throw SchemaError("another migrator holds the lock and does not get on",
                            "look in pg_locks for an advisory lock, and run it again");
        }
        pause(lock_poll);
        break;
    }
  }
}

// Between half of the time and all of it, so that instances that were started together drift apart.
void Migrator::pause(std::chrono::milliseconds time) {
  thread_local std::minstd_rand random{std::random_device{}()};
  std::uniform_int_distribution<std::int64_t> part(time.count() / 2, time.count());
  std::this_thread::sleep_for(std::chrono::milliseconds(part(random)));
}

}  // namespace oncepay::db

#include "once/key_periods.hpp"

#include "db/errors.hpp"
#include "db/migrations.hpp"
#include "runtime/pause.hpp"
#include "sql/statements.hpp"

namespace oncepay::once {

using std::chrono::milliseconds;

namespace {

constexpr milliseconds retry_pause{500};
constexpr int conversion_attempts_max = 10;
// Nothing that is kept is urgent, and payments wait behind each attempt: next time, then.
constexpr int keeping_attempts_max = 2;
// For vacuum, which stands back only after deadlock_timeout; payments do not wait behind that.
constexpr milliseconds vacuum_lock_timeout{3'000};
constexpr milliseconds conversion_lock_timeout{200};  // payments wait as long behind it

bool is_lock_timeout(const db::TransientError& error) {
  return error.reason() == db::TransientReason::lock_timeout;
}

// One step of the conversion, unless it is over. Under the migrators' lock: of two that convert at
// once, the slower one must not promise anything of the table that the other one has made.
bool try_convert_step(db::Connection& connection, const db::Statement& statement,
                      const db::Params& params) {
  db::Transaction transaction(connection);
  if (!db::take_migration_turn(transaction, vacuum_lock_timeout)) {
    throw db::TransientError(db::TransientReason::lock_timeout, "a migrator is at work");
  }
  if (uses_key_periods(transaction)) return false;
  transaction.run(sql::once::keep_vacuum_out);
  db::limit_waits(transaction, conversion_lock_timeout);
  transaction.run(statement, params);
  transaction.commit();
  return true;
}

// Again while somebody holds its locks.
bool convert_step(db::Connection& connection, const db::Statement& statement,
                  const db::Params& params = {}) {
  for (int attempt = 1;; ++attempt) {
    try {
      return try_convert_step(connection, statement, params);
    } catch (const db::TransientError& error) {
      if (!is_lock_timeout(error) || attempt >= conversion_attempts_max) throw;
    }
    runtime::pause(retry_pause, std::stop_token{});
  }
}

// The steps of keeping the periods, each a transaction of its own under the cleaners' lock.
class Keeper {
 public:
  Keeper(db::Connection& connection, const std::stop_token& stop)
      : connection_(connection), stop_(stop) {}

  // What the statement returned; nothing when somebody else has the turn, or the locks.
  std::optional<db::Rows> step(const db::Statement& statement) {
    for (int attempt = 1; kept.had_turn && !stop_.stop_requested(); ++attempt) {
      try {
        return try_step(statement);
      } catch (const db::TransientError& error) {
        if (!is_lock_timeout(error) || !connection_.usable()) throw;
      }
      if (attempt >= keeping_attempts_max) {
        ++kept.timeouts;  // a dump, or a transaction left open; there is another time
        break;
      }
      runtime::pause(retry_pause, stop_);
    }
    return std::nullopt;
  }

  bool did(const db::Statement& statement) {
    const auto rows = step(statement);
    return rows && rows->flag(0, 0);
  }

  KeyPeriodsKept kept;

 private:
  std::optional<db::Rows> try_step(const db::Statement& statement) {
    db::Transaction transaction(connection_);
    if (!transaction.run(sql::once::try_cleanup_turn).flag(0, 0)) {
      kept.had_turn = false;
      return std::nullopt;
    }
    db::Rows rows = transaction.run(statement);
    transaction.commit();
    return rows;
  }

  db::Connection& connection_;
  const std::stop_token& stop_;
};

}  // namespace

bool uses_key_periods(db::Transaction& transaction) {
  return transaction.run(sql::once::uses_key_periods).flag(0, 0);
}

bool uses_key_periods(db::Connection& connection) {
  db::Transaction transaction(connection, db::Access::read_only);
  const bool uses = uses_key_periods(transaction);
  transaction.commit();
  return uses;
}

namespace {

void refuse_too_many(db::Connection& connection, std::chrono::seconds period) {
  db::Transaction transaction(connection, db::Access::read_only);
  const std::int64_t life = transaction.run(sql::once::find_longest_life).number(0, 0);
  transaction.commit();
  if (life / period.count() <= key_partitions_max) return;
  throw db::SchemaError(
      "keys live for " + std::to_string(life) + " seconds: in periods of " +
          std::to_string(period.count()) + " there would be too many partitions",
      "take periods of at least " + std::to_string(life / key_partitions_max + 1) + " seconds");
}

}  // namespace

bool partition_keys(db::Connection& connection, std::chrono::seconds period) {
  if (uses_key_periods(connection)) return false;
  refuse_too_many(connection, period);
  return convert_step(connection, sql::once::add_period_column) &&
         convert_step(connection, sql::once::forget_claimed_before) &&
         convert_step(connection, sql::once::promise_claimed_before) &&
         convert_step(connection, sql::once::validate_claimed_before) &&
         convert_step(connection, sql::once::partition_keys,
                      db::Params().add(static_cast<std::int64_t>(period.count())));
}

KeyPeriodsKept keep_key_periods(db::Connection& connection, std::int64_t drops_max,
                                const std::stop_token& stop) {
  Keeper keeper(connection, stop);
  do {
    keeper.did(sql::once::prepare_key_period);
  } while (keeper.did(sql::once::advance_key_period));
  while (keeper.kept.dropped < drops_max) {
    const auto rows = keeper.step(sql::once::drop_key_period);
    const auto keys = rows ? rows->maybe_number(0, 0) : std::nullopt;
    if (!keys) break;
    ++keeper.kept.dropped;
    keeper.kept.deleted += *keys;
  }
  return keeper.kept;
}

}  // namespace oncepay::once

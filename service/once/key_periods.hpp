// Keys in periods: the layout in which cleanup drops partitions instead of deleting rows.
//
// How a key stays unique across partitions stands in migrations/0004_key_periods.sql, and how a
// batch claims in them in batch.hpp. Here is the rest: choosing the layout, and keeping the periods
// going. Whoever cleans up does that, under the cleaners' lock; if nobody does, the current period
// goes on and nothing but the size of the table suffers.
//
// Threads: functions use the connection they are given. Errors: db errors pass.
// Source: PostgreSQL "Table Partitioning", "Advisory Locks".
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <stop_token>

#include "db/connection.hpp"

namespace oncepay::once {

inline constexpr std::chrono::seconds key_period_min{60};
inline constexpr std::chrono::seconds key_period_max{31LL * 86'400};

bool uses_key_periods(db::Connection& connection);
bool uses_key_periods(db::Transaction& transaction);

// Each claim looks into every partition, and locks it.
inline constexpr std::int64_t key_partitions_max = 40;

// Makes periods of the one table while payments go on; its owner's rights are needed, and instances
// that know of periods. All rows are read once, and for a moment everybody waits. May be ended at
// any point and run again. Returns false if it had been done before. SchemaError when there would
// be more partitions than key_partitions_max with keys that live as long as the last ones do;
// TransientError(lock_timeout) when locks were not to be had in several attempts.
bool partition_keys(db::Connection& connection, std::chrono::seconds period);

struct KeyPeriodsKept {
  std::int64_t dropped = 0;   // partitions
  std::int64_t deleted = 0;   // keys that went with them
  std::int64_t timeouts = 0;  // of steps that somebody's lock kept from being done this time
  bool had_turn = true;       // false: somebody else is cleaning
};

// Makes the next partition, lets the next period begin if it is time, and drops at most drops_max
// partitions without a live key.
KeyPeriodsKept keep_key_periods(db::Connection& connection, std::int64_t drops_max,
                                const std::stop_token& stop);

}  // namespace oncepay::once

// One batch of operations in one transaction: claim, decide, complete, commit.
//
//   expect    each executor says what the answer will be if all goes well.
//   claim     INSERT … ON CONFLICT DO NOTHING on all keys, sorted, with the expected answers. Rows
//             that come back are ours to decide. The others are read: a live row is a replay, a
//             mismatch or in progress; a row that is past its life is removed and claimed again in
//             this transaction; a row that vanished meanwhile is claimed again, a few times.
//   decide    each executor gets its claims in the order of arrival and writes its effects.
//   complete  answers that are not the expected ones are stored under their keys; refused
//             operations give their claim back. Mostly there are none, and a key is written once.
//   commit    only then does anybody hear of it.
//
// A claim is the only right to decide: every number of rows written is checked against the number
// of claims, and a difference rolls everything back.
//
// Threads: one, that of the connection. Errors: db errors pass and mean that the transaction is
// over; after an InDoubtError run the same operations again: the keys tell.
// Source: PostgreSQL "INSERT", "Transaction Isolation" (READ COMMITTED).
#pragma once

#include <chrono>
#include <functional>
#include <span>
#include <vector>

#include "db/connection.hpp"
#include "once/database_clock.hpp"
#include "once/in_flight.hpp"

namespace oncepay::once {

// Of a batch that was one round trip: all of it in `commit`, the others zero.
struct BatchTimes {
  std::chrono::nanoseconds claim{0};
  std::chrono::nanoseconds execute{0};
  std::chrono::nanoseconds complete{0};
  std::chrono::nanoseconds commit{0};
};

struct BatchResult {
  std::vector<Resolution> resolutions;  // one for each operation, in the order given
  std::size_t keys_found = 0;           // had a row already
  bool as_expected = false;             // all were claimed and ended as they were expected to
  BatchTimes times;
  std::vector<db::Transaction::Took> statements;
};

// Both ways lead to the same answers. Claiming first costs new keys the least; reading first costs
// known keys the least, because nothing is written.
enum class FirstLook { claim, read };

// one_table: the primary key of the one table is the arbiter of all claims. periods: that of the
// current period's partition, after the claims of earlier ones (migrations/0004_key_periods.sql).
enum class KeyLayout { one_table, periods };

// What each transaction that claims keys begins with.
db::Opening opening_of(KeyLayout layout);

struct BatchSettings {
  std::chrono::seconds retention;
  DatabaseClock& clock;
  FirstLook first_look = FirstLook::claim;
  KeyLayout layout = KeyLayout::one_table;
};

// `on_claimed` hears which operations hold their claim before they are executed.
using OnClaimed = std::function<void(std::span<const PendingPtr>)>;

// What is known of the earlier attempts of a batch.
struct BatchHistory {
  bool in_doubt = false;      // a COMMIT was sent whose outcome is not known
  std::int64_t first_us = 0;  // the first attempt's time by the database's clock; 0 = none yet
  bool claimed = false;       // the last attempt got as far as its claims
};

// No two operations of a batch may have the same key. While in doubt, a key that may have expired
// since the first attempt is not claimed again, because nothing tells then what became of that
// COMMIT: InDoubtError.
BatchResult run_batch(db::Connection& connection, std::span<const PendingPtr> operations,
                      BatchSettings settings, BatchHistory& history, const OnClaimed& on_claimed);

}  // namespace oncepay::once

// Looking at what the database holds: keys past their expiry, sizes, dead rows, old snapshots.
//
// What it costs is bounded, however large the tables are: expired keys are counted by their index
// up to a limit, rows are taken from the server's statistics, sizes from the file system, and
// nothing takes longer than observation_time_max. So it is done every few seconds and never for a
// scrape. Deliberately not here: what is alarming (deploy/prometheus), and removing anything
// (cleanup.hpp).
//
// Threads: functions use the transaction they are given, Observer owns a thread. Errors: db errors
// pass; the thread counts and logs them, and the last values stay.
// Source: PostgreSQL "The Cumulative Statistics System", "Database Object Size Functions".
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "db/pool.hpp"
#include "runtime/log.hpp"
#include "runtime/metrics.hpp"

namespace oncepay::once {

inline constexpr std::int64_t expired_keys_counted_max = 100'000;        // more show as that many
inline constexpr std::chrono::milliseconds observation_time_max{2'000};  // of each statement

struct TableState {
  std::string name;
  std::int64_t table_bytes = 0;
  std::int64_t index_bytes = 0;
  std::int64_t live_rows = 0;  // these two as the server's statistics have them
  std::int64_t dead_rows = 0;
};

// A partition of the keys, where they are kept in periods (key_periods.hpp).
struct KeyPeriodState {
  std::string table;
  std::string state;  // past, current, next
  std::int64_t bytes = 0;
  std::int64_t keys = 0;            // as the server's statistics have it
  std::chrono::seconds overdue{0};  // of the current one: since when the next should have begun
};

struct Observation {
  std::int64_t expired_keys = 0;  // at most expired_keys_counted_max
  std::chrono::seconds oldest_expired{0};
  std::vector<TableState> tables;
  std::vector<KeyPeriodState> periods;  // the oldest first; none = one table
  // Of the oldest transaction that keeps dead rows from being removed.
  std::chrono::seconds oldest_snapshot{0};
  std::int64_t oldest_snapshot_transactions = 0;
  std::int64_t sessions = 0;  // of the whole server
  std::int64_t sessions_max = 0;
};

// From here on no statement of this transaction takes longer than observation_time_max.
void limit_observation(db::Transaction& transaction);

// Limit the transaction and look: at the server and the tables, and at the keys. Apart, because
// while a snapshot keeps a crowd of removed keys, counting the others may take too long, and then
// the snapshot is what has to be seen.
void observe_server(db::Transaction& transaction, Observation& seen);
void observe_keys(db::Transaction& transaction, Observation& seen);

// A program of ours that has sessions on this database.
struct InstanceSeen {
  std::string name;  // host/process
  std::int64_t sessions = 0;
  std::int64_t lanes = 0;                     // 0 = it takes no payments
  std::optional<std::chrono::seconds> since;  // of its oldest session; nothing = not to be seen
};

std::vector<InstanceSeen> list_instances(db::Transaction& transaction);

// Whether somebody is in the middle of a batch of cleanup.
bool cleaner_at_work(db::Transaction& transaction);

// Keeps the gauges current.
class Observer {
 public:
  Observer(db::Pool& reads, std::chrono::milliseconds interval, runtime::Log& log,
           runtime::Metrics& metrics);
  ~Observer();
  Observer(const Observer&) = delete;
  Observer& operator=(const Observer&) = delete;

 private:
  struct Gauges;
  void work(const std::stop_token& stop);
  void observe_once();

  db::Pool& reads_;
  std::chrono::milliseconds interval_;
  runtime::Log& log_;
  std::unique_ptr<Gauges> gauges_;
  std::jthread thread_;
};

}  // namespace oncepay::once

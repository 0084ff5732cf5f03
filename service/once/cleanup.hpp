// Cleanup: removes keys that are past their expiry, in bounded batches; where keys are kept in
// periods (key_periods.hpp), a batch is a partition without a live key, and is dropped.
//
// Correctness does not need it: a key past its expiry counts as absent whether cleanup has come by
// or not. Each batch is a transaction of its own; at most one cleaner is effective at a time,
// whoever runs it (the thread inside `serve`, `oncepay cleanup`, another instance). Only the
// database's clock decides what is expired.
//
// Threads: run_cleanup() uses the connection it is given; CleanupThread owns one. Errors:
// run_cleanup() lets db errors pass; what was removed before stays removed. The thread logs and
// counts them and goes on.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include "db/connection.hpp"
#include "once/cleanup_pace.hpp"
#include "runtime/log.hpp"
#include "runtime/metrics.hpp"

namespace oncepay::once {

struct CleanupSettings {
  PaceSettings pace;
  std::optional<std::int64_t> batches_max;  // nothing = until no full batch is left
  bool dry_run = false;                     // remove nothing
  // What nearly all payments took since it was asked last; empty = nobody knows.
  std::function<std::optional<std::chrono::milliseconds>()> payments_p99;
};

// When the heavy work may be done, by the database's clock in a zone. From `begin` to before `end`,
// "HH:MM" each, over midnight if `end` is the earlier one.
struct CleanupWindow {
  std::string begin;
  std::string end;
  std::string zone;
};

// Throws StatementError (22023) when the database does not know the zone.
bool is_open(const CleanupWindow& window, db::Connection& connection);

struct CleanupRun {
  std::int64_t deleted = 0;
  std::int64_t batches = 0;
  std::chrono::milliseconds duration{0};
  // Of batches that were tried again with fewer rows, or of partitions that somebody else held.
  std::int64_t timeouts = 0;
  bool had_turn = true;  // false: somebody else is cleaning
};

// What cleanup would remove now, to the last key: it reads all of them (observation.hpp counts up
// to a limit). In periods: the keys of partitions that could be dropped.
std::int64_t count_expired_keys(db::Connection& connection);

CleanupRun run_cleanup(db::Connection& connection, const CleanupSettings& settings,
                       std::stop_token stop);

class CleanupThread {
 public:
  struct Settings {
    db::ConnectionSettings database;
    CleanupSettings run;
    std::optional<CleanupWindow> window;  // nothing = always
    // Expired keys that may wait for the window to open; more are removed at any time.
    std::int64_t backlog_max = 100'000;
    std::chrono::milliseconds interval{60'000};
    int jitter_percent = 10;  // of the interval, either way
  };
  CleanupThread(Settings settings, runtime::Log& log, runtime::Metrics& metrics);
  ~CleanupThread();  // stops within one batch

 private:
  struct Counts;
  void work(std::stop_token stop);
  void run_once(std::unique_ptr<db::Connection>& connection, const std::stop_token& stop);
  // How many batches may be run now; 0 = it is no time for it and not urgent.
  std::int64_t batches_due(db::Connection& connection);

  Settings settings_;
  runtime::Log& log_;
  std::unique_ptr<Counts> counts_;
  std::jthread thread_;
};

}  // namespace oncepay::once

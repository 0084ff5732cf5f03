#include "once/cleanup.hpp"

#include <limits>
#include <random>
#include <stdexcept>
#include <utility>

#include "once/key_periods.hpp"
#include "runtime/pause.hpp"
#include "sql/statements.hpp"

namespace oncepay::once {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

namespace {

// After so many batches it is asked again whether the window is still open.
constexpr std::int64_t batches_at_once = 100;

// Rows removed, or nothing when it is somebody else's turn.
std::optional<std::int64_t> remove_batch(db::Connection& connection, std::int64_t batch_size) {
  db::Transaction transaction(connection);
  if (!transaction.run(sql::once::try_cleanup_turn).flag(0, 0)) return std::nullopt;
  const auto removed =
      transaction.run(sql::once::remove_expired_keys, db::Params().add(batch_size)).affected();
  transaction.commit();
  return static_cast<std::int64_t>(removed);
}

bool is_timeout(const db::TransientError& error) {
  return error.reason() == db::TransientReason::cancelled ||
         error.reason() == db::TransientReason::lock_timeout;
}

milliseconds since(steady_clock::time_point begin) {
  return std::chrono::duration_cast<milliseconds>(steady_clock::now() - begin);
}

}  // namespace

std::int64_t count_expired_keys(db::Connection& connection) {
  db::Transaction transaction(connection, db::Access::read_only);
  const std::int64_t count =
      uses_key_periods(transaction)
          ? transaction
                .run(sql::once::observe_keys_in_periods,
                     db::Params().add(std::numeric_limits<std::int64_t>::max()))
                .number(0, 0)
          : transaction.run(sql::once::count_expired_keys).number(0, 0);
  transaction.commit();
  return count;
}

bool is_open(const CleanupWindow& window, db::Connection& connection) {
  db::Transaction transaction(connection, db::Access::read_only);
  const bool open = transaction
                        .run(sql::once::in_cleanup_window,
                             db::Params().add(window.begin).add(window.end).add(window.zone))
                        .flag(0, 0);
  transaction.commit();
  return open;
}

namespace {

CleanupRun drop_periods(db::Connection& connection, const CleanupSettings& settings,
                        const std::stop_token& stop) {
  const auto kept = keep_key_periods(
      connection, settings.batches_max.value_or(std::numeric_limits<std::int64_t>::max()), stop);
  CleanupRun run;
  run.deleted = kept.deleted;
  run.batches = kept.dropped;
  run.timeouts = kept.timeouts;
  run.had_turn = kept.had_turn;
  return run;
}

CleanupRun delete_rows(db::Connection& connection, const CleanupSettings& settings,
                       const std::stop_token& stop) {
  CleanupRun run;
  CleanupPace pace(settings.pace);
  while (!stop.stop_requested() && (!settings.batches_max || run.batches < *settings.batches_max)) {
    const auto batch_began = steady_clock::now();
    const std::int64_t wanted = pace.batch_size();
    std::optional<std::int64_t> removed;
    try {
      removed = remove_batch(connection, wanted);
    } catch (const db::TransientError& error) {
      if (!is_timeout(error) || !connection.usable() || !pace.after_timeout()) throw;
      ++run.timeouts;
      continue;
    }
    if (!removed) {
      run.had_turn = false;
      break;
    }
    if (*removed > 0) ++run.batches;
    run.deleted += *removed;
    if (*removed < wanted) break;
    const auto payments = settings.payments_p99 ? settings.payments_p99() : std::nullopt;
    runtime::pause(pace.after_batch(*removed, since(batch_began), payments), stop);
  }
  return run;
}

}  // namespace

CleanupRun run_cleanup(db::Connection& connection, const CleanupSettings& settings,
                       std::stop_token stop) {
  const auto began = steady_clock::now();
  CleanupRun run;
  if (!settings.dry_run) {
    run = uses_key_periods(connection) ? drop_periods(connection, settings, stop)
                                       : delete_rows(connection, settings, stop);
  }
  run.duration = since(began);
  return run;
}

struct CleanupThread::Counts {
  explicit Counts(runtime::Metrics& metrics)
      : runs(metrics.counter("oncepay_cleanup_runs_total", "Cleanup runs that ended well")),
        failures(metrics.counter("oncepay_cleanup_failures_total", "Cleanup runs that failed")),
        rows(metrics.counter("oncepay_cleanup_removed_keys_total", "Expired keys removed")),
        timeouts(metrics.counter("oncepay_cleanup_timeouts_total",
                                 "Batches that timed out and were tried with fewer rows")),
        turns_lost(metrics.counter("oncepay_cleanup_turns_lost_total",
                                   "Cleanup runs that found another cleaner at work")),
        last_success(metrics.gauge("oncepay_cleanup_success_timestamp_seconds",
                                   "When a cleanup run ended well last")) {}
  runtime::Counter runs;
  runtime::Counter failures;
  runtime::Counter rows;
  runtime::Counter timeouts;
  runtime::Counter turns_lost;
  runtime::Gauge last_success;
};

CleanupThread::CleanupThread(Settings settings, runtime::Log& log, runtime::Metrics& metrics)
    : settings_(std::move(settings)), log_(log), counts_(std::make_unique<Counts>(metrics)) {
  thread_ = std::jthread([this](std::stop_token stop) { work(std::move(stop)); });
}

CleanupThread::~CleanupThread() = default;

void CleanupThread::work(std::stop_token stop) {
  std::minstd_rand random(std::random_device{}());
  const auto spread = settings_.interval.count() * settings_.jitter_percent / 100;
  std::uniform_int_distribution<milliseconds::rep> jitter(-spread, spread);
  std::unique_ptr<db::Connection> connection;
  while (!stop.stop_requested()) {
    runtime::pause(settings_.interval + milliseconds(jitter(random)), stop);
    if (!stop.stop_requested()) run_once(connection, stop);
  }
}

std::int64_t CleanupThread::batches_due(db::Connection& connection) {
  if (!settings_.window || is_open(*settings_.window, connection)) return batches_at_once;
  if (uses_key_periods(connection)) return batches_at_once;  // dropping is no heavy work
  const std::int64_t rows_at_once = settings_.run.pace.batch_size * batches_at_once;
  db::Transaction transaction(connection, db::Access::read_only);
  const std::int64_t expired =
      transaction
          .run(sql::once::observe_keys, db::Params().add(settings_.backlog_max + rows_at_once))
          .number(0, 0);
  transaction.commit();
  const std::int64_t batch = settings_.run.pace.batch_size;
  return expired <= settings_.backlog_max ? 0
                                          : (expired - settings_.backlog_max + batch - 1) / batch;
}

void CleanupThread::run_once(std::unique_ptr<db::Connection>& connection,
                             const std::stop_token& stop) {
  try {
    if (!connection || !connection->usable()) {
      connection.reset();
      connection = std::make_unique<db::Connection>(settings_.database);
    }
    CleanupRun run;
    CleanupSettings settings = settings_.run;
    do {
      settings.batches_max = batches_due(*connection);
      run = run_cleanup(*connection, settings, stop);
      counts_->rows.add(static_cast<double>(run.deleted));
      counts_->timeouts.add(static_cast<double>(run.timeouts));
      if (run.deleted > 0 || run.timeouts > 0) {
        log_.info("cleanup", {{"deleted", run.deleted},
                              {"batches", run.batches},
                              {"timeouts", run.timeouts},
                              {"ms", run.duration.count()}});
      }
    } while (run.batches > 0 && run.batches == settings.batches_max && !stop.stop_requested());
    counts_->runs.add();
    if (!run.had_turn) counts_->turns_lost.add();
    counts_->last_success.set_to_now();
  } catch (const std::exception& error) {
    counts_->failures.add();
    log_.error("cleanup failed", {{"what", error.what()}});
    if (connection && !connection->usable()) connection.reset();
  }
}

}  // namespace oncepay::once

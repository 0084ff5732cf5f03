#include "once/cleanup.hpp"

#include <random>
#include <stdexcept>
#include <utility>

#include "runtime/pause.hpp"
#include "sql/statements.hpp"

namespace oncepay::once {

using std::chrono::milliseconds;

namespace {

// Rows removed, or nothing when it is somebody else's turn.
std::optional<std::int64_t> remove_batch(db::Connection& connection, std::int64_t batch_size) {
  db::Transaction transaction(connection);
  if (!transaction.run(sql::once::try_cleanup_turn).flag(0, 0)) return std::nullopt;
  const auto removed =
      transaction.run(sql::once::remove_expired_keys, db::Params().add(batch_size)).affected();
  transaction.commit();
  return static_cast<std::int64_t>(removed);
}

}  // namespace

std::int64_t count_expired_keys(db::Connection& connection) {
  db::Transaction transaction(connection, db::Access::read_only);
  const std::int64_t count = transaction.run(sql::once::count_expired_keys).number(0, 0);
  transaction.commit();
  return count;
}

CleanupRun run_cleanup(db::Connection& connection, const CleanupSettings& settings,
                       std::stop_token stop) {
  const auto began = std::chrono::steady_clock::now();
  CleanupRun run;
  while (!settings.dry_run && !stop.stop_requested() &&
         (!settings.batches_max || run.batches < *settings.batches_max)) {
    const auto removed = remove_batch(connection, settings.batch_size);
    if (!removed) {
      run.had_turn = false;
      break;
    }
    if (*removed > 0) ++run.batches;
    run.deleted += *removed;
    if (*removed < settings.batch_size) break;
    runtime::pause(settings.pause, stop);
  }
  run.duration = std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now() - began);
  return run;
}

struct CleanupThread::Counts {
  explicit Counts(runtime::Metrics& metrics)
      : runs(metrics.counter("oncepay_cleanup_runs_total", "Cleanup runs that ended well")),
        failures(metrics.counter("oncepay_cleanup_failures_total", "Cleanup runs that failed")),
        rows(metrics.counter("oncepay_cleanup_removed_keys_total", "Expired keys removed")),
        turns_lost(metrics.counter("oncepay_cleanup_turns_lost_total",
                                   "Cleanup runs that found another cleaner at work")),
        last_success(metrics.gauge("oncepay_cleanup_success_timestamp_seconds",
                                   "When a cleanup run ended well last")) {}
  runtime::Counter runs;
  runtime::Counter failures;
  runtime::Counter rows;
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

void CleanupThread::run_once(std::unique_ptr<db::Connection>& connection, std::stop_token stop) {
  try {
    if (!connection || !connection->usable()) {
      connection.reset();
      connection = std::make_unique<db::Connection>(settings_.database);
    }
    const CleanupRun run = run_cleanup(*connection, settings_.run, std::move(stop));
    counts_->runs.add();
    counts_->rows.add(static_cast<double>(run.deleted));
    if (!run.had_turn) counts_->turns_lost.add();
    counts_->last_success.set_to_now();
    if (run.deleted > 0) {
      log_.info("cleanup",
                {{"deleted", run.deleted}, {"batches", run.batches}, {"ms", run.duration.count()}});
    }
  } catch (const std::exception& error) {
    counts_->failures.add();
    log_.error("cleanup failed", {{"what", error.what()}});
    if (connection && !connection->usable()) connection.reset();
  }
}

}  // namespace oncepay::once

// What a lane tells of a batch that is over: metrics, executors that count, slow batches.
#include <fmt/format.h>

#include <string>

#include "once/batch.hpp"
#include "once/lane.hpp"

namespace oncepay::once {

void Lane::observe(const std::vector<PendingPtr>& batch, const BatchResult& result) {
  const auto seconds = [](std::chrono::nanoseconds time) {
    return std::chrono::duration<double>(time).count();
  };
  EngineMetrics& metrics = shared_.metrics;
  metrics.batches.add();
  metrics.operations.add(static_cast<double>(batch.size()));
  metrics.batch_size.observe(static_cast<double>(batch.size()));
  if (result.times.claim.count() > 0) {  // not all in one round trip
    metrics.claim_seconds.observe(seconds(result.times.claim));
    metrics.execute_seconds.observe(seconds(result.times.execute));
    metrics.complete_seconds.observe(seconds(result.times.complete));
  }
  metrics.commit_seconds.observe(seconds(result.times.commit));
  const auto now = std::chrono::steady_clock::now();
  for (std::size_t i = 0; i < batch.size(); ++i) {
    shared_.recent.add(now - batch[i]->entered_at);
    const auto* answered = std::get_if<Answered>(&result.resolutions[i]);
    if (answered == nullptr || answered->replayed) continue;
    batch[i]->operation.executor->committed(answered->answer);
  }
  log_times(batch.size(), result);
}

// Every batch when debugging, else those that were slow.
void Lane::log_times(std::size_t operations, const BatchResult& result) {
  const BatchTimes& times = result.times;
  const auto total = times.claim + times.execute + times.complete + times.commit;
  const bool slow = total > shared_.settings.slow_batch;
  const auto level = slow ? runtime::LogLevel::warning : runtime::LogLevel::debug;
  if (!shared_.log.enabled(level)) return;
  const auto ms = [](std::chrono::nanoseconds time) {
    return std::chrono::duration<double, std::milli>(time).count();
  };
  std::string statements;
  for (const auto& [statement, time] : result.statements) {
    if (!statements.empty()) statements += ' ';
    statements += fmt::format("{}={:.1f}", statement, ms(time));
  }
  shared_.log.write(level, slow ? "slow batch" : "batch",
                    {{"operations", operations},
                     {"ms", ms(total)},
                     {"claim_ms", ms(times.claim)},
                     {"execute_ms", ms(times.execute)},
                     {"complete_ms", ms(times.complete)},
                     {"commit_ms", ms(times.commit)},
                     {"statements", statements}});
}

}  // namespace oncepay::once

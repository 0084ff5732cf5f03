// How fast a cleanup run may go: the size of the next batch and the pause before it.
//
// A batch that ran into a time-out is followed by smaller ones, which grow again as they succeed.
// The pause is the longest of three: the one that was set; the one that keeps the rate of rows; and
// one that doubles, up to pace_pause_max, while payments take longer than they should, and halves
// when they no longer do. Deliberately not here: SQL, and when a run begins.
//
// Threads: one at a time. A pure state machine: it is told times and asks for none.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

namespace oncepay::once {

inline constexpr std::chrono::milliseconds pace_pause_max{5'000};
inline constexpr std::int64_t pace_batch_min = 10;  // rows; a batch that fails at this size fails

struct PaceSettings {
  std::int64_t batch_size = 1'000;               // rows at most
  std::chrono::milliseconds pause{50};           // at least
  std::int64_t rows_per_second_max = 0;          // 0 = as fast as it goes
  std::chrono::milliseconds payments_within{0};  // 0 = whatever payments take
};

class CleanupPace {
 public:
  explicit CleanupPace(const PaceSettings& settings);

  [[nodiscard]] std::int64_t batch_size() const { return batch_size_; }

  // A batch went well. `payments_p99`: what nearly all payments took since the last batch; nothing
  // = there were none. Returns the pause before the next one.
  std::chrono::milliseconds after_batch(std::int64_t rows, std::chrono::milliseconds took,
                                        std::optional<std::chrono::milliseconds> payments_p99);

  // A batch was ended by a time-out and rolled back. False = it is as small as it gets.
  bool after_timeout();

 private:
  PaceSettings settings_;
  std::int64_t batch_size_;
  std::chrono::milliseconds yielding_{0};  // for payments that are slow
};

}  // namespace oncepay::once

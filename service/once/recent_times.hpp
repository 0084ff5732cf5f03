// How long nearly all of the latest operations took, for whoever wants to keep out of their way.
//
// Times are counted by powers of two of a millisecond, so what is told is the upper end of such a
// step: a bound, not a measurement (engine_metrics.hpp measures).
//
// Threads: any.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>

namespace oncepay::once {

class RecentTimes {
 public:
  void add(std::chrono::nanoseconds time) {
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
    const auto step = static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(ms)));
    const std::lock_guard lock(mutex_);
    ++counts_[std::min(step, counts_.size() - 1)];
    ++count_;
  }

  // What 99 of 100 took at most since the last call; nothing = there were none.
  std::optional<std::chrono::milliseconds> take_p99() {
    const std::lock_guard lock(mutex_);
    if (count_ == 0) return std::nullopt;
    std::uint64_t longer = count_ / 100;  // those that may take longer
    std::size_t step = counts_.size() - 1;
    while (step > 0 && counts_[step] <= longer) longer -= counts_[step--];
    counts_ = {};
    count_ = 0;
    return std::chrono::milliseconds(std::int64_t{1} << step);
  }

 private:
  std::mutex mutex_;
  std::array<std::uint64_t, 24> counts_{};
  std::uint64_t count_ = 0;
};

}  // namespace oncepay::once

#include "once/cleanup_pace.hpp"

#include <algorithm>

namespace oncepay::once {

using std::chrono::milliseconds;

CleanupPace::CleanupPace(const PaceSettings& settings)
    : settings_(settings), batch_size_(settings.batch_size) {}

milliseconds CleanupPace::after_batch(std::int64_t rows, milliseconds took,
                                      std::optional<milliseconds> payments_p99) {
  batch_size_ = std::min(settings_.batch_size, batch_size_ * 2);
  const bool slow = settings_.payments_within.count() > 0 && payments_p99 &&
                    *payments_p99 > settings_.payments_within;
  if (slow) {
    yielding_ = std::min(pace_pause_max, std::max(yielding_ * 2, milliseconds(100)));
  } else {
    yielding_ /= 2;
  }
  milliseconds pause = std::max(settings_.pause, yielding_);
  if (settings_.rows_per_second_max > 0) {
    const milliseconds due(rows * 1'000 / settings_.rows_per_second_max);
    pause = std::max(pause, due - took);
  }
  return pause;
}

bool CleanupPace::after_timeout() {
  if (batch_size_ <= pace_batch_min) return false;
  batch_size_ = std::max(pace_batch_min, batch_size_ / 4);
  return true;
}

}  // namespace oncepay::once

// The database's clock as a lane knows it: what it was when it was seen last, carried on by ours.
//
// Answers name the time of their payment. Asking for it would cost each batch a round trip, so the
// time is known before and sent along with the claim; the claim returns the real one, and a batch
// whose time was far off is run again. Only what people read depends on it: expiry is decided by
// the database alone.
//
// Threads: one, that of the lane.
#pragma once

#include <chrono>
#include <cstdint>

namespace oncepay::once {

class DatabaseClock {
 public:
  // How far the time that answers name may be from the database's: more than this after a machine
  // was suspended, or the database's clock was set. The statements that claim one key have it too.
  static constexpr std::int64_t off_us_max = 1'000'000;

  using Time = std::chrono::steady_clock::time_point;

  // `us`: microseconds since 1970, `at`: when that was by our clock.
  void saw(std::int64_t us, Time at) {
    us_ = us;
    at_ = at;
  }

  [[nodiscard]] std::int64_t now_us() const {
    const auto since = std::chrono::steady_clock::now() - at_;
    return us_ + std::chrono::duration_cast<std::chrono::microseconds>(since).count();
  }

  // How long ago it was seen.
  [[nodiscard]] std::chrono::nanoseconds age() const {
    return std::chrono::steady_clock::now() - at_;
  }

 private:
  std::int64_t us_ = 0;
  Time at_{};
};

}  // namespace oncepay::once

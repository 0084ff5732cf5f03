// Waiting for something that another process does, always with a bound. Nothing here waits for time
// itself to pass: expiry is tested by ageing rows.
#pragma once

#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>

namespace support {

using namespace std::chrono_literals;

class Deadline {
 public:
  explicit Deadline(std::chrono::milliseconds budget)
      : end_(std::chrono::steady_clock::now() + budget) {}

  bool passed() const { return std::chrono::steady_clock::now() >= end_; }

  // Never negative, so that it can go straight into poll().
  std::chrono::milliseconds left() const {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        end_ - std::chrono::steady_clock::now());
    return left.count() > 0 ? left : 0ms;
  }

 private:
  std::chrono::steady_clock::time_point end_;
};

// Asks `holds` until it is true (returns true) or the budget is spent (returns false).
template <typename Predicate>
bool eventually(Predicate&& holds, std::chrono::milliseconds budget = 10s,
                std::chrono::milliseconds between = 5ms) {
  const Deadline deadline(budget);
  for (;;) {
    if (holds()) {
      return true;
    }
    if (deadline.passed()) {
      return false;
    }
    std::this_thread::sleep_for(between);
  }
}

class Stopwatch {
 public:
  std::chrono::milliseconds elapsed() const {
    return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() -
                                                                 start_);
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace support

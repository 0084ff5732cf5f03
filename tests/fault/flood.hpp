// More payments than can be taken: requests that are sent at a fixed rate, whether earlier ones
// were answered or not, each on a connection that has nothing else under way. Open loop, so that a
// slow service does not slow down what is offered. Single-threaded: runs in the thread that calls
// it.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace fault {

struct FloodSettings {
  std::uint16_t port = 0;
  int per_second = 100;
  std::chrono::milliseconds duration{1000};
  std::chrono::milliseconds patience{10'000};  // after the last one was sent
  std::size_t connections_max = 2000;
};

struct Flooded {
  struct Answer {
    int status = 0;
    std::chrono::milliseconds latency{0};  // since the time at which it should have been sent
  };
  std::vector<Answer> answers;
  std::size_t offered = 0;
  std::size_t unanswered = 0;  // connection ended, or patience did

  std::size_t count(int status) const;
  // Of the answers with this status; zero when there is none.
  std::chrono::milliseconds percentile(int status, int percent) const;
};

// `request(n)`: the bytes of the n-th request.
Flooded flood(const FloodSettings& settings,
              const std::function<std::string(std::size_t)>& request);

}  // namespace fault

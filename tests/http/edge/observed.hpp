// What a test sees of the edge: an answer as it came, and what other threads bring about.
//
// Threads: one at a time.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <thread>

#include "http/message.hpp"

namespace oncepay::http::edge::testing {

inline constexpr std::chrono::milliseconds patience{10'000};

struct Answer {
  int status = 0;
  std::string head;  // status line and fields
  std::string body;

  // The field's value, empty if there is none.
  [[nodiscard]] std::string field(std::string_view name) const {
    std::size_t at = head.find("\r\n");
    while (at != std::string::npos && at + 2 < head.size()) {
      const std::size_t begin = at + 2;
      at = head.find("\r\n", begin);
      const std::string line = head.substr(begin, at - begin);
      const std::size_t colon = line.find(": ");
      if (colon != std::string::npos && equals_ignoring_case(line.substr(0, colon), name)) {
        return line.substr(colon + 2);
      }
    }
    return "";
  }
};

// For what another thread brings about.
inline bool comes_true(const std::function<bool()>& condition) {
  const auto until = std::chrono::steady_clock::now() + patience;
  while (std::chrono::steady_clock::now() < until) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

}  // namespace oncepay::http::edge::testing

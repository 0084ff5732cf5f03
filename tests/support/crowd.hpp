// Many callers at the same instant: threads that all wait at a gate, then run, and whose results
// come back in order. An exception in one of them is thrown again in the caller's thread, after all
// of them have ended. Checks belong into the caller's thread, on the results.
#pragma once

#include <cstddef>
#include <exception>
#include <latch>
#include <optional>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace support {

template <typename Act>
auto all_at_once(std::size_t callers, Act act) {
  using Result = std::invoke_result_t<Act, std::size_t>;
  static_assert(!std::is_void_v<Result>, "return something that can be checked");
  std::vector<std::optional<Result>> results(callers);
  std::vector<std::exception_ptr> failures(callers);
  std::latch gate(static_cast<std::ptrdiff_t>(callers));
  {
    std::vector<std::jthread> threads;
    threads.reserve(callers);
    for (std::size_t i = 0; i < callers; ++i) {
      threads.emplace_back([&, i] {
        gate.arrive_and_wait();
        try {
          results[i].emplace(act(i));
        } catch (...) {
          failures[i] = std::current_exception();  // rethrown below, in the test's own thread
        }
      });
    }
  }
  for (const auto& failure : failures) {
    if (failure) {
      std::rethrow_exception(failure);
    }
  }
  std::vector<Result> out;
  out.reserve(callers);
  for (auto& result : results) {
    out.push_back(std::move(*result));
  }
  return out;
}

}  // namespace support

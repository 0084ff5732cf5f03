#include "once/recent_times.hpp"

#include <doctest/doctest.h>

using namespace oncepay::once;
using namespace std::chrono_literals;

TEST_CASE("99 of 100 times are under what is told, and it is told once") {
  RecentTimes times;
  CHECK_FALSE(times.take_p99().has_value());
  times.add(100ms);
  CHECK(times.take_p99() == 128ms);
  CHECK_FALSE(times.take_p99().has_value());
}

TEST_CASE("one slow operation in a hundred does not count, two do") {
  RecentTimes times;
  for (int i = 0; i < 99; ++i) times.add(3ms);
  times.add(3s);
  CHECK(times.take_p99() == 4ms);
  for (int i = 0; i < 98; ++i) times.add(3ms);
  times.add(3s);
  times.add(3s);
  CHECK(times.take_p99() == 4096ms);
}

TEST_CASE("times that are no time at all, or longer than anything, have their place") {
  RecentTimes times;
  times.add(0ns);
  CHECK(times.take_p99() == 1ms);
  times.add(1000h);
  CHECK(times.take_p99() >= 1h);
}

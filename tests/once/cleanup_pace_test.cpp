#include "once/cleanup_pace.hpp"

#include <doctest/doctest.h>

using namespace oncepay::once;
using namespace std::chrono_literals;

TEST_CASE("a batch that timed out is followed by smaller ones, which grow back as they succeed") {
  CleanupPace pace({.batch_size = 1'000, .pause = 50ms});
  CHECK(pace.batch_size() == 1'000);
  CHECK(pace.after_timeout());
  CHECK(pace.batch_size() == 250);
  CHECK(pace.after_timeout());
  CHECK(pace.batch_size() == 62);
  CHECK(pace.after_timeout());
  CHECK(pace.batch_size() == 15);
  CHECK(pace.after_timeout());
  CHECK(pace.batch_size() == pace_batch_min);
  CHECK_FALSE(pace.after_timeout());
  for (int i = 0; i < 7; ++i) pace.after_batch(pace.batch_size(), 1ms, std::nullopt);
  CHECK(pace.batch_size() == 1'000);
}

TEST_CASE("a batch that is small by the settings is not tried smaller") {
  CleanupPace pace({.batch_size = 5, .pause = 0ms});
  CHECK_FALSE(pace.after_timeout());
  CHECK(pace.batch_size() == 5);
}

TEST_CASE("rows per second are kept by pauses, which the time of the batch shortens") {
  CleanupPace pace({.batch_size = 1'000, .pause = 50ms, .rows_per_second_max = 2'000});
  CHECK(pace.after_batch(1'000, 100ms, std::nullopt) == 400ms);
  CHECK(pace.after_batch(1'000, 600ms, std::nullopt) == 50ms);
  CHECK(pace.after_batch(10, 0ms, std::nullopt) == 50ms);
}

TEST_CASE("while payments are slow the pause doubles up to its limit, then it halves again") {
  CleanupPace pace({.batch_size = 1'000, .pause = 50ms, .payments_within = 200ms});
  CHECK(pace.after_batch(1'000, 10ms, 150ms) == 50ms);
  CHECK(pace.after_batch(1'000, 10ms, 300ms) == 100ms);
  CHECK(pace.after_batch(1'000, 10ms, 300ms) == 200ms);
  auto pause = 0ms;
  for (int i = 0; i < 20; ++i) pause = pace.after_batch(1'000, 10ms, 300ms);
  CHECK(pause == pace_pause_max);
  CHECK(pace.after_batch(1'000, 10ms, std::nullopt) == pace_pause_max / 2);
  for (int i = 0; i < 20; ++i) pause = pace.after_batch(1'000, 10ms, 100ms);
  CHECK(pause == 50ms);
}

TEST_CASE("without a limit for payments their times change nothing") {
  CleanupPace pace({.batch_size = 1'000, .pause = 50ms});
  CHECK(pace.after_batch(1'000, 10ms, 10'000ms) == 50ms);
}

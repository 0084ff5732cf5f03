// Whose turn it is, and when.
#include "once/queue.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <thread>

#include "support/waiting.hpp"

namespace oncepay::test {

using namespace std::chrono_literals;

namespace {

once::PendingPtr pending_of(const std::string& tenant_id) {
  auto pending = std::make_shared<once::Pending>();
  pending->operation.tenant_id = tenant_id;
  return pending;
}

}  // namespace

TEST_CASE("while a batch runs what comes waits for it and makes the next one") {
  once::Queue queue(100);
  REQUIRE(queue.push(pending_of("a")));
  CHECK(queue.take(10, 0ms, {}).size() == 1);
  for (int i = 0; i < 3; ++i) REQUIRE(queue.push(pending_of("a")));
  CHECK(queue.take(10, 0ms, {}).empty());
  queue.finished();
  CHECK(queue.take(10, 0ms, {}).size() == 3);
}

TEST_CASE("a full batch does not wait for the one that runs") {
  once::Queue queue(100);
  REQUIRE(queue.push(pending_of("a")));
  CHECK(queue.take(2, 0ms, {}).size() == 1);
  for (int i = 0; i < 3; ++i) REQUIRE(queue.push(pending_of("a")));
  CHECK(queue.take(2, 0ms, {}).size() == 2);
  CHECK(queue.take(2, 0ms, {}).empty());
}

TEST_CASE("a batch that does not end holds the others up for a moment only") {
  once::Queue queue(100);
  REQUIRE(queue.push(pending_of("a")));
  CHECK(queue.take(10, 0ms, {}).size() == 1);
  REQUIRE(queue.push(pending_of("b")));
  CHECK(queue.take(10, 10s, {}).size() == 1);
}

TEST_CASE("of several idle lanes the one that ran last is called, whose session is warm") {
  constexpr int batches = 20;
  once::Queue queue(100);
  std::mutex mutex;
  std::map<int, int> taken;  // by lane
  const auto lane = [&](int number, const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      if (queue.take(10, 60s, stop).empty()) continue;
      {
        const std::lock_guard lock(mutex);
        ++taken[number];
      }
      queue.finished();
    }
  };
  std::jthread first([&](const std::stop_token& stop) { lane(1, stop); });
  std::jthread second([&](const std::stop_token& stop) { lane(2, stop); });
  for (int batch = 0; batch < batches; ++batch) {
    CHECK(support::eventually([&] { return queue.size() == 0 && queue.idle_lanes() == 2; }));
    REQUIRE(queue.push(pending_of("a")));
  }
  CHECK(support::eventually([&] {
    const std::lock_guard lock(mutex);
    return taken[1] + taken[2] == batches;
  }));
  const std::lock_guard lock(mutex);
  // In turn it would be half of them each; now and then the other one looks at the right moment.
  CHECK(std::max(taken[1], taken[2]) > batches * 3 / 4);
}

}  // namespace oncepay::test

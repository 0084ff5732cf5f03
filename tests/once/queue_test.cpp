// Whose turn it is, and when.
#include "once/queue.hpp"

#include <doctest/doctest.h>

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

}  // namespace oncepay::test

#include "db/pool.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "db/fixture.hpp"
#include "support/waiting.hpp"

using namespace oncepay::db;
using namespace oncepay::test;
using namespace std::chrono_literals;

namespace {

constexpr Statement who_am_i{"test.who_am_i", "SELECT pg_backend_pid()"};
constexpr Statement fail{"test.fail", "SELECT 1 / 0"};
constexpr Statement create_table{"test.create_table", "CREATE TABLE written (n integer)"};

std::int64_t backend_of(Pool& pool) {
  std::int64_t pid = 0;
  pool.run(Access::read_only,
           [&](Transaction& transaction) { pid = transaction.run(who_am_i).number(0, 0); });
  return pid;
}

TransientReason reason_of(Pool& pool) {
  try {
    backend_of(pool);
  } catch (const TransientError& error) {
    return error.reason();
  }
  FAIL("no transient error");
  return {};
}

}  // namespace

TEST_CASE("a pool opens connections when they are needed and keeps them") {
  EmptyDatabase database;
  Pool pool(database.settings(), 2, 1s);
  const auto first = backend_of(pool);
  CHECK(backend_of(pool) == first);
}

TEST_CASE("what a pool runs is committed, and rolled back when the work throws") {
  EmptyDatabase database;
  Pool pool(database.settings(), 1, 1s);
  pool.run(Access::read_write, [](Transaction& transaction) { transaction.run(create_table); });
  CHECK(database.sql().holds("SELECT to_regclass('written') IS NOT NULL"));
  database.sql().run("DROP TABLE written");

  struct Stop {};
  CHECK_THROWS_AS(pool.run(Access::read_write,
                           [](Transaction& transaction) {
                             transaction.run(create_table);
                             throw Stop{};
                           }),
                  Stop);
  CHECK(database.sql().holds("SELECT to_regclass('written') IS NULL"));
  CHECK(backend_of(pool) > 0);
}

TEST_CASE("a statement that fails does not cost the connection") {
  EmptyDatabase database;
  Pool pool(database.settings(), 1, 1s);
  const auto first = backend_of(pool);
  const auto run_failing = [&] {
    pool.run(Access::read_only, [](Transaction& transaction) { transaction.run(fail); });
  };
  CHECK_THROWS_AS(run_failing(), StatementError);
  CHECK(backend_of(pool) == first);
}

TEST_CASE("idle connections that died are replaced without anybody noticing") {
  EmptyDatabase database;
  Pool pool(database.settings(), 3, 1s);
  const auto dead = backend_of(pool);
  database.sql().run("SELECT pg_terminate_backend($1::integer)", {std::to_string(dead)});
  CHECK(backend_of(pool) != dead);
}

TEST_CASE("work is never run twice: a connection that dies under it is an error") {
  EmptyDatabase database;
  Pool pool(database.settings(), 1, 1s);
  int runs = 0;
  const auto die = [&] {
    pool.run(Access::read_only, [&](Transaction& transaction) {
      ++runs;
      const auto pid = transaction.run(who_am_i).number(0, 0);
      database.sql().run("SELECT pg_terminate_backend($1::integer)", {std::to_string(pid)});
      transaction.run(who_am_i);
    });
  };
  backend_of(pool);
  CHECK_THROWS_AS(die(), TransientError);
  CHECK(runs == 1);
  CHECK(backend_of(pool) > 0);
}

TEST_CASE("no more than the given number of connections is open, and waiting is bounded") {
  EmptyDatabase database;
  Pool pool(database.settings(), 2, 200ms);
  std::atomic<bool> release{false};
  std::atomic<int> inside{0};
  std::vector<std::jthread> holders;
  for (int i = 0; i < 2; ++i) {
    holders.emplace_back([&] {
      pool.run(Access::read_only, [&](Transaction&) {
        ++inside;
        support::eventually([&] { return release.load(); }, 20s);
      });
    });
  }
  REQUIRE(support::eventually([&] { return inside == 2; }));

  const support::Stopwatch watch;
  CHECK(reason_of(pool) == TransientReason::out_of_capacity);
  CHECK(watch.elapsed() >= 150ms);
  release = true;
  holders.clear();
  CHECK(backend_of(pool) > 0);
}

TEST_CASE("a connection that comes back is handed to one who waits") {
  EmptyDatabase database;
  Pool pool(database.settings(), 1, 20s);
  std::set<std::int64_t> seen;
  std::mutex mutex;
  {
    std::vector<std::jthread> callers;
    for (int i = 0; i < 8; ++i) {
      callers.emplace_back([&] {
        for (int round = 0; round < 20; ++round) {
          const auto pid = backend_of(pool);
          const std::lock_guard lock(mutex);
          seen.insert(pid);
        }
      });
    }
  }
  CHECK(seen.size() == 1);
}

TEST_CASE("OPS-04 while the server refuses connections they are asked for rarely, then again") {
  EmptyDatabase database;
  const std::string alter = "ALTER DATABASE " + database.name() + " ALLOW_CONNECTIONS ";
  support::Sql server(support::required_environment("TEST_DATABASE_URL"));
  Pool pool(database.settings(), 4, 1s);
  server.run(alter + "false");

  const support::Stopwatch watch;
  int failures = 0;
  for (; watch.elapsed() < 300ms; ++failures) CHECK_THROWS_AS(backend_of(pool), TransientError);
  CHECK(failures > 100);  // most of them at once, without a connection attempt of some milliseconds

  server.run(alter + "true");
  CHECK(support::eventually(
      [&] {
        try {
          return backend_of(pool) > 0;
        } catch (const TransientError&) {
          return false;
        }
      },
      5s));
}

// What a lane reads, claims and waits for, and what that costs the others.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>

#include "once/batch.hpp"
#include "once/engine_fixture.hpp"
#include "support/crowd.hpp"

namespace oncepay::test {

using namespace std::chrono_literals;

TEST_CASE("of many equal calls at once for a completed key every one gets its answer") {
  EngineFixture fixture;
  fixture.add_account("a", 100);
  fixture.add_account("b", 0);
  CHECK(text_of(fixture.run(fixture.payment("k", "a", "b", 1))) == "201 first");
  for (int round = 0; round < 20; ++round) {
    std::vector<std::future<Resolution>> futures;
    for (int call = 0; call < 64; ++call) {
      futures.push_back(fixture.submit(fixture.payment("k", "a", "b", 1)));
    }
    CHECK(texts_of(std::move(futures)) == std::vector<std::string>(64, "201 replay"));
  }
}

TEST_CASE("what is read first and what is claimed first end the same way") {
  EngineFixture fixture(one_lane());
  fixture.add_account("a", 100);
  fixture.add_account("b", 0);
  CHECK(text_of(fixture.run(fixture.payment("k", "a", "b", 1))) == "201 first");
  // A replay makes the lane read first: a new key, a known one, another's and an expired one.
  for (int round = 0; round < 3; ++round) {
    const std::string fresh = "fresh" + std::to_string(round);
    CHECK(text_of(fixture.run(fixture.payment("k", "a", "b", 1))) == "201 replay");
    CHECK(text_of(fixture.run(fixture.payment(fresh, "a", "b", 1))) == "201 first");
    CHECK(text_of(fixture.run(fixture.payment("k", "a", "b", 1))) == "201 replay");
    CHECK(text_of(fixture.run(fixture.payment("k", "a", "b", 2))) == "mismatch");
    fixture.database.sql().run(
        "UPDATE idempotency_keys SET created_at = created_at - interval '2 days', "
        "expires_at = expires_at - interval '2 days' WHERE key = $1",
        {fresh});
    CHECK(text_of(fixture.run(fixture.payment(fresh, "a", "b", 1))) == "201 first");
  }
  CHECK(fixture.balance_of("b") == 7);
}

TEST_CASE("a lane never reads a whole table, even with plans from when the tables were empty") {
  EngineFixture fixture(one_lane());
  fixture.add_account("a", 1000);
  fixture.add_account("b", 0);
  for (int i = 0; i < 10; ++i) {
    CHECK(text_of(fixture.run(fixture.payment(std::to_string(i), "a", "b", 1))) == "201 first");
    CHECK(text_of(fixture.run(fixture.payment(std::to_string(i), "a", "b", 1))) == "201 replay");
    CHECK(text_of(fixture.run(fixture.payment("d" + std::to_string(i), "b", "a", 99))) ==
          "402 first");
  }
  fixture.engine.reset();  // a session that ends reports what it has counted
  const auto scans = [&fixture] {
    return fixture.database.sql().text(
        "SELECT string_agg(DISTINCT name || ' ' || seq_scan, ', ') FROM ("
        " SELECT CASE relname WHEN 'accounts' THEN 'accounts' ELSE 'keys' END AS name, seq_scan"
        " FROM pg_stat_user_tables"
        " WHERE (relname = 'accounts' OR relname LIKE 'idempotency\\_keys%') AND idx_scan > 0"
        ") AS used");
  };
  CHECK(support::eventually([&] { return !scans().empty(); }));
  CHECK(scans() == "accounts 0, keys 0");
}

TEST_CASE("a key that another session holds does not slow the others down") {
  EngineFixture fixture(one_lane());
  fixture.add_account("a", 100);
  fixture.add_account("b", 0);
  auto hold = fixture.database.connect();
  hold.run("BEGIN");
  hold.run(
      "INSERT INTO idempotency_keys (tenant_id, key, fingerprint, fingerprint_version, "
      "created_at, expires_at) VALUES ($1, 'k', sha256('x'), 1, now(), now() + '1 day')",
      {fixture.tenant_id});
  auto stuck = fixture.submit(fixture.payment("k", "a", "b", 1));
  CHECK(text_of(stuck.get()) == "in-progress");
  // From now on the key goes aside: others do not wait behind it, not even for one lock_timeout.
  auto again = fixture.submit(fixture.payment("k", "a", "b", 1), 20s);
  CHECK(text_of(fixture.run(fixture.payment("other", "a", "b", 1))) == "201 first");
  CHECK(again.wait_for(0s) == std::future_status::timeout);
  hold.run("ROLLBACK");
  CHECK(text_of(again.get()) == "201 first");
}

TEST_CASE("an account that another session holds delays others once, and then its own alone") {
  EngineFixture fixture(one_lane());
  for (const char* id : {"a", "b", "c", "d"}) fixture.add_account(id, 100);
  auto hold = fixture.database.connect();
  hold.run("BEGIN");
  hold.run("SELECT 1 FROM accounts WHERE tenant_id = $1 AND id = 'a' FOR UPDATE",
           {fixture.tenant_id});
  CHECK(text_of(fixture.run(fixture.payment("k", "a", "b", 1))) == "unavailable");
  CHECK(fixture.metric("oncepay_batches_retried_total") == 1);
  // From now on it is known: nobody waits for it, and an account that only waited with it is free.
  CHECK(text_of(fixture.run(fixture.payment("k", "a", "b", 1))) == "unavailable");
  CHECK(text_of(fixture.run(fixture.payment("l", "c", "a", 1))) == "unavailable");
  CHECK(text_of(fixture.run(fixture.payment("m", "b", "d", 1))) == "201 first");
  CHECK(text_of(fixture.run(fixture.payment("n", "unknown", "d", 1))) == "refused");
  CHECK(fixture.metric("oncepay_batches_retried_total") == 1);
  CHECK(fixture.metric("oncepay_batches_aside_total") == 0);
  CHECK(fixture.database.sql().number("SELECT count(*) FROM idempotency_keys") == 1);
  // Also not after one that went well: that of the held account does not wait once more.
  CHECK(text_of(fixture.run(fixture.payment("o", "b", "d", 1))) == "201 first");
  CHECK(text_of(fixture.run(fixture.payment("p", "d", "b", 1))) == "201 first");
  CHECK(text_of(fixture.run(fixture.payment("k", "a", "b", 1))) == "unavailable");
  CHECK(fixture.metric("oncepay_batches_retried_total") == 1);
  hold.run("ROLLBACK");
  CHECK(text_of(fixture.run(fixture.payment("k", "a", "b", 1))) == "201 first");
  CHECK(fixture.balance_of("a") == 99);
  CHECK(fixture.balance_of("b") == 100);
}

TEST_CASE("a batch loses only the payments whose account is held") {
  auto settings = one_lane();
  EngineFixture fixture(settings);
  for (const char* id : {"a", "b", "c", "d"}) fixture.add_account(id, 100);
  auto hold = fixture.database.connect();
  hold.run("BEGIN");
  hold.run("SELECT 1 FROM accounts WHERE tenant_id = $1 AND id = 'b' FOR UPDATE",
           {fixture.tenant_id});
  std::vector<std::future<Resolution>> futures;
  // The first one occupies the lane; the others make the next batch.
  futures.push_back(fixture.submit(fixture.payment("0", "b", "c", 1)));
  futures.push_back(fixture.submit(fixture.payment("1", "a", "c", 1)));
  futures.push_back(fixture.submit(fixture.payment("2", "c", "b", 1)));
  futures.push_back(fixture.submit(fixture.payment("3", "d", "a", 1)));
  CHECK(texts_of(std::move(futures)) ==
        std::vector<std::string>{"unavailable", "201 first", "unavailable", "201 first"});
  hold.run("ROLLBACK");
  CHECK(fixture.balance_of("c") == 101);
  CHECK(text_of(fixture.run(fixture.payment("2", "c", "b", 1))) == "201 first");
}

TEST_CASE("a batch whose idea of the database's clock is far off is not committed") {
  EngineFixture fixture;
  fixture.add_account("a", 100);
  fixture.add_account("b", 0);
  db::ConnectionSettings settings;
  settings.url = fixture.database.url();
  db::Connection connection(settings);
  auto pending = std::make_shared<once::Pending>();
  pending->operation = fixture.payment("k", "a", "b", 1);
  once::DatabaseClock clock;  // has seen nothing
  once::BatchHistory history;
  const auto layout =
      support::keys_in_periods() ? once::KeyLayout::periods : once::KeyLayout::one_table;
  const auto run = [&] {
    return once::run_batch(connection, std::span(&pending, 1),
                           {24h, clock, once::FirstLook::claim, layout}, history, [](auto) {});
  };
  CHECK_THROWS_AS(run(), db::TransientError);
  CHECK(fixture.database.keys() == 0);
  // The claim has told the time, so the next attempt is right.
  CHECK(text_of(run().resolutions.front()) == "201 first");
  CHECK(fixture.database.sql().holds(
      "SELECT abs(extract(epoch FROM now() - created_at)) < 60 FROM payments"));
}

TEST_CASE("a payment that is alone takes one round trip, unless it does not end as expected") {
  EngineFixture fixture(one_lane());
  fixture.add_account("a", 0, "100");
  fixture.add_account("b", 0);
  fixture.add_account("c", 0, "0", "USD");
  double whole = 0;    // batches of one round trip so far
  double stepped = 0;  // and of several
  const auto took = [&] {
    const auto steps = [&fixture](const std::string& step) {
      return fixture.metric("oncepay_batch_step_seconds_count{step=\"" + step + "\"}");
    };
    const double now_stepped = steps("claim");
    const double now_whole = steps("commit") - now_stepped;
    const std::string way = now_whole > whole ? "one" : now_stepped > stepped ? "several" : "none";
    whole = now_whole;
    stepped = now_stepped;
    return way;
  };
  struct Row {
    const char* key;
    const char* source;
    const char* destination;
    int amount;
    const char* says;
    const char* round_trips;
  };
  // What does not end as expected makes the next one wary; the first that does ends that.
  for (const Row& row : {
           Row{"1", "a", "b", 10, "201 first", "one"},
           Row{"2", "b", "a", 10, "201 first", "one"},
           Row{"1", "a", "b", 10, "201 replay", "several"},
           Row{"3", "a", "b", 10, "201 first", "several"},
           Row{"4", "a", "b", 10, "201 first", "one"},
           Row{"5", "b", "a", 21, "402 first", "several"},
           Row{"6", "b", "a", 21, "402 first", "several"},
           Row{"7", "b", "a", 20, "201 first", "several"},
           Row{"5", "b", "a", 21, "402 replay", "several"},
           Row{"8", "a", "b", 1, "201 first", "several"},
           Row{"1", "a", "b", 11, "mismatch", "several"},
           Row{"9", "a", "b", 1, "201 first", "several"},
           Row{"10", "a", "nobody", 1, "refused", "several"},
           Row{"11", "a", "b", 1, "201 first", "several"},
           Row{"12", "a", "c", 1, "refused", "several"},
           Row{"13", "a", "b", 1, "201 first", "several"},
           Row{"14", "a", "b", 1, "201 first", "one"},
       }) {
    INFO("key ", row.key);
    CHECK(text_of(fixture.run(fixture.payment(row.key, row.source, row.destination, row.amount))) ==
          row.says);
    CHECK(took() == row.round_trips);
  }
  fixture.database.age_keys_by(std::chrono::hours(48));
  CHECK(text_of(fixture.run(fixture.payment("14", "a", "b", 1))) == "201 first");
  CHECK(took() == "several");
  CHECK(fixture.balance_of("b") == 6);
  CHECK(fixture.database.keys() == 12);
  CHECK(support::broken_books(fixture.database) == "");
}

TEST_CASE("payments that are alone on several instances move one account's money one by one") {
  constexpr int instances = 3;
  constexpr int payments = 200;
  EngineFixture fixture(one_lane());
  fixture.add_account("a", 0, std::to_string(payments));  // not enough for all
  fixture.add_account("b", 0);
  std::vector<std::unique_ptr<runtime::Metrics>> metrics;
  std::vector<std::unique_ptr<once::Engine>> engines;
  for (int i = 0; i < instances; ++i) {
    metrics.push_back(std::make_unique<runtime::Metrics>());
    engines.push_back(fixture.make_engine(*metrics.back()));
  }
  const auto told = support::all_at_once(instances, [&](std::size_t instance) {
    std::map<std::string, int> count;
    for (int n = 0; n < payments; ++n) {
      std::promise<Resolution> promise;
      engines[instance]->submit(
          fixture.payment(std::to_string(instance) + "." + std::to_string(n), "a", "b", 1), {},
          [&promise](Resolution resolution) { promise.set_value(std::move(resolution)); });
      ++count[text_of(promise.get_future().get())];
    }
    return count;
  });
  std::map<std::string, int> all;
  for (const auto& count : told) {
    for (const auto& [text, times] : count) all[text] += times;
  }
  CHECK(all["201 first"] == payments);
  CHECK(all["402 first"] == (instances - 1) * payments);
  CHECK(fixture.balance_of("a") == -payments);
  CHECK(fixture.balance_of("b") == payments);
  CHECK(fixture.database.deadlocks() == 0);
  CHECK(support::broken_books(fixture.database) == "");
}

TEST_CASE("ids of payments rise in the order of their arrival, whatever their keys are") {
  EngineFixture fixture(one_lane());
  fixture.add_account("a", 100);
  fixture.add_account("b", 0);
  auto hold = fixture.database.connect();
  hold.run("BEGIN");
  hold.run("SELECT 1 FROM accounts WHERE tenant_id = $1 AND id = 'a' FOR UPDATE",
           {fixture.tenant_id});
  // The first one occupies the lane; the others make one batch.
  auto first = fixture.submit(fixture.payment("0", "a", "b", 1));
  std::vector<std::future<Resolution>> futures;
  for (const char* key : {"z", "m", "a", "q"}) {
    futures.push_back(fixture.submit(fixture.payment(key, "b", "a", 1)));
  }
  hold.run("ROLLBACK");
  CHECK(text_of(first.get()) == "201 first");
  std::vector<std::string> ids;
  for (auto& future : futures) {
    ids.push_back(std::get<once::Answered>(future.get()).answer.resource_id);
  }
  CHECK(std::is_sorted(ids.begin(), ids.end()));
}

}  // namespace oncepay::test

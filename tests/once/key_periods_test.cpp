// Keys in periods: a key is paid once however the periods change meanwhile, and nothing but ended
// keys goes with a partition.
#include "once/key_periods.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "db/migrations.hpp"
#include "once/engine_fixture.hpp"
#include "once/observation.hpp"

namespace oncepay::test {

using namespace std::chrono_literals;

namespace {

constexpr std::chrono::seconds period = 1h;
constexpr const char* end_of_period = "SELECT advance_key_period('infinity')";

class PeriodsFixture : public EngineFixture {
 public:
  explicit PeriodsFixture(once::EngineSettings settings = {})
      : EngineFixture(std::move(settings)), connection_(connect_to(database.url())) {
    add_account("a", 1'000'000);
    add_account("b", 0);
  }

  bool convert(std::chrono::seconds length = period) {
    return once::partition_keys(connection_, length);
  }
  once::KeyPeriodsKept keep(std::int64_t drops_max = 100) {
    return once::keep_key_periods(connection_, drops_max, std::stop_token{});
  }
  void prepare() { database.sql().run("SELECT prepare_key_period(now())"); }
  // As if the current period had lasted long enough.
  void advance() {
    prepare();
    REQUIRE(database.sql().holds(end_of_period));
  }
  once::Observation observe() {
    once::Observation seen;
    db::Transaction transaction(connection_, db::Access::read_only);
    once::observe_keys(transaction, seen);
    transaction.commit();
    return seen;
  }
  std::string states() {
    return database.sql().text(
        "SELECT string_agg(state, ' ' ORDER BY starts_at) FROM idempotency_key_periods");
  }
  std::string partition_of(const std::string& key) {
    return database.sql().text(
        "SELECT string_agg(p.state, ' ') FROM idempotency_keys AS k "
        "JOIN idempotency_key_periods AS p ON p.table_name = k.tableoid::regclass::text "
        "WHERE k.key = $1",
        {key});
  }
  void age(const std::string& key) {
    database.sql().run(
        "UPDATE idempotency_keys SET created_at = created_at - interval '2 days', "
        "expires_at = expires_at - interval '2 days' WHERE key = $1",
        {key});
  }
  std::int64_t rows_twice() {
    return database.sql().number(
        "SELECT count(*) FROM (SELECT FROM idempotency_keys GROUP BY tenant_id, key "
        "HAVING count(*) > 1) AS twice");
  }
  std::string pay(const std::string& key, std::int64_t amount = 1) {
    return text_of(run(payment(key, "a", "b", amount), 20s));
  }

 private:
  static db::ConnectionSettings connect_to(const std::string& url) {
    db::ConnectionSettings settings;
    settings.url = url;
    return settings;
  }
  db::Connection connection_;
};

}  // namespace

TEST_CASE("keys of the one table are known after it was partitioned, and it is done once") {
  PeriodsFixture fixture;
  CHECK(fixture.pay("old") == "201 first");
  CHECK(fixture.keep().dropped == 0);
  REQUIRE(fixture.convert());
  CHECK_FALSE(fixture.convert());
  CHECK(fixture.states() == "past current");
  // Lanes with sessions from before: the first one after it finds out, the second one knows.
  CHECK(fixture.pay("old") == "201 replay");
  CHECK(fixture.pay("old", 2) == "mismatch");
  CHECK(fixture.pay("new") == "201 first");
  CHECK(fixture.pay("new") == "201 replay");
  CHECK(fixture.pay("declined", 2'000'000) == "402 first");
  CHECK(fixture.pay("declined", 2'000'000) == "402 replay");
  CHECK(text_of(fixture.run(fixture.payment("refused", "a", "nobody", 1))) == "refused");
  CHECK(fixture.pay("refused") == "201 first");
  CHECK(fixture.partition_of("old") == "past");
  CHECK(fixture.partition_of("new") == "current");
  CHECK(fixture.balance_of("b") == 3);
  CHECK(fixture.metric("oncepay_operations_failed_total") == 0);
}

TEST_CASE("periods that would make too many partitions are refused, and an unprepared table too") {
  PeriodsFixture fixture;
  CHECK(fixture.pay("k") == "201 first");
  CHECK_THROWS_AS(fixture.convert(30min), db::SchemaError);
  CHECK(fixture.database.sql().sqlstate_of("SELECT partition_idempotency_keys('1 hour')") ==
        "55000");
  CHECK(fixture.states().empty());
  CHECK(fixture.pay("k") == "201 replay");
}

TEST_CASE("bounds of partitions are the same instants in whatever format a session writes them") {
  PeriodsFixture fixture;
  REQUIRE(fixture.convert());
  auto& sql = fixture.database.sql();
  sql.run("SET datestyle = 'SQL, MDY'; SET timezone = 'Asia/Shanghai'");
  sql.run("SET timezone_abbreviations = 'Default'");
  for (int round = 0; round < 3; ++round) {
    fixture.advance();
    const std::string key = "k" + std::to_string(round);
    CHECK(fixture.pay(key) == "201 first");
    CHECK(fixture.partition_of(key) == "current");
  }
}

TEST_CASE("payments go on while the table is partitioned") {
  PeriodsFixture fixture;
  runtime::Metrics metrics;
  const auto other = fixture.make_engine(metrics);
  std::atomic<bool> over = false;
  std::atomic<int> paid = 0;
  std::atomic<int> bad = 0;
  std::vector<std::jthread> customers;
  for (int customer = 0; customer < 4; ++customer) {
    customers.emplace_back([&, customer] {
      for (int call = 0; !over; ++call) {
        const auto made = [&] {
          return fixture.payment(std::to_string(customer) + "-" + std::to_string(call), "a", "b",
                                 1);
        };
        std::promise<Resolution> answered;
        other->submit(made(), 20s,
                      [&](Resolution resolution) { answered.set_value(std::move(resolution)); });
        const std::string here = text_of(fixture.submit(made(), 20s).get());
        const std::string there = text_of(answered.get_future().get());
        const bool one_each = (here == "201 first" && there == "201 replay") ||
                              (here == "201 replay" && there == "201 first");
        if (!one_each) {
          ++bad;
          MESSAGE(here << " and " << there);
        }
        ++paid;
      }
    });
  }
  CHECK(support::eventually([&] { return paid > 50; }));
  CHECK(fixture.convert());
  const int before = paid;
  CHECK(support::eventually([&] { return paid > before + 50; }));
  over = true;
  customers.clear();
  CHECK(bad == 0);
  CHECK(fixture.balance_of("b") == paid);
  CHECK(fixture.rows_twice() == 0);
}

TEST_CASE("a key is paid once by two instances while one period after the other ends") {
  PeriodsFixture fixture;
  REQUIRE(fixture.convert());
  fixture.restart();
  runtime::Metrics metrics;
  auto other = fixture.make_engine(metrics);
  std::stop_source over;
  std::jthread clock([&, stop = over.get_token()] {
    auto sql = fixture.database.connect();
    while (!stop.stop_requested()) {
      sql.run("SELECT prepare_key_period(now())");
      // Time-outs are welcome: a claim was under way.
      sql.sqlstate_of(end_of_period);
    }
  });
  constexpr int rounds = 40;
  constexpr int keys = 16;
  int firsts = 0;
  for (int round = 0; round < rounds; ++round) {
    std::vector<std::future<Resolution>> futures;
    for (int key = 0; key < keys; ++key) {
      const std::string name = std::to_string(round) + "-" + std::to_string(key);
      futures.push_back(fixture.submit(fixture.payment(name, "a", "b", 1), 20s));
      auto promise = std::make_shared<std::promise<Resolution>>();
      futures.push_back(promise->get_future());
      other->submit(fixture.payment(name, "a", "b", 1), 20s, [promise](Resolution resolution) {
        promise->set_value(std::move(resolution));
      });
    }
    for (auto& future : futures) {
      const std::string text = text_of(future.get());
      firsts += text == "201 first" ? 1 : 0;
      CHECK((text == "201 first" || text == "201 replay"));
    }
  }
  over.request_stop();
  clock.join();
  CHECK(fixture.database.sql().number("SELECT count(*) FROM idempotency_key_periods") > 10);
  CHECK(firsts == rounds * keys);
  CHECK(fixture.balance_of("b") == rounds * keys);
  CHECK(fixture.rows_twice() == 0);
  // All that was paid is known, in whatever period it was.
  for (int round = 0; round < rounds; ++round) {
    CHECK(fixture.pay(std::to_string(round) + "-0") == "201 replay");
  }
}

TEST_CASE("a claim waits for a period that is just ending, and is made in the next one") {
  PeriodsFixture fixture(one_lane());
  REQUIRE(fixture.convert());
  fixture.restart();
  fixture.prepare();
  auto clock = fixture.database.connect();
  clock.run("BEGIN");
  REQUIRE(clock.holds(end_of_period));
  auto claim = fixture.submit(fixture.payment("k", "a", "b", 1), 20s);
  CHECK(claim.wait_for(100ms) == std::future_status::timeout);
  clock.run("COMMIT");
  CHECK(text_of(claim.get()) == "201 first");
  CHECK(fixture.states() == "past past current");
  CHECK(fixture.partition_of("k") == "current");
}

TEST_CASE("a period does not end before the claims in it have") {
  PeriodsFixture fixture;
  REQUIRE(fixture.convert());
  auto claim = fixture.database.connect();
  claim.run("BEGIN");
  claim.run("SELECT pg_advisory_xact_lock_shared(1869505381, 4)");
  fixture.prepare();
  CHECK(fixture.database.sql().sqlstate_of(end_of_period) == "55P03");
  CHECK(fixture.states() == "past current next");
  CHECK(fixture.pay("meanwhile") == "201 first");
  claim.run("ROLLBACK");
  CHECK(fixture.database.sql().holds(end_of_period));
  CHECK(fixture.states() == "past past current");
  CHECK(fixture.pay("meanwhile") == "201 replay");
}

TEST_CASE("an ended key of an earlier period is paid again, once, in the current one") {
  PeriodsFixture fixture;
  CHECK(fixture.pay("k") == "201 first");
  REQUIRE(fixture.convert());
  for (int round = 0; round < 3; ++round) {
    fixture.age("k");
    CHECK(fixture.partition_of("k") == "past");
    std::vector<std::future<Resolution>> futures;
    for (int call = 0; call < 8; ++call) {
      futures.push_back(fixture.submit(fixture.payment("k", "a", "b", 1), 20s));
    }
    auto texts = texts_of(std::move(futures));
    CHECK(std::count(texts.begin(), texts.end(), "201 first") == 1);
    CHECK(std::count(texts.begin(), texts.end(), "201 replay") == 7);
    CHECK(fixture.partition_of("k") == "current");
    fixture.advance();
  }
  CHECK(fixture.balance_of("b") == 4);
}

TEST_CASE("a partition goes once all its keys have ended, and takes no other with it") {
  PeriodsFixture fixture;
  for (int i = 0; i < 5; ++i) CHECK(fixture.pay("before" + std::to_string(i)) == "201 first");
  REQUIRE(fixture.convert());
  CHECK(fixture.pay("here") == "201 first");
  for (int i = 0; i < 4; ++i) fixture.age("before" + std::to_string(i));
  CHECK(fixture.keep().dropped == 0);
  CHECK(fixture.pay("before4") == "201 replay");
  fixture.age("before4");
  // Nobody cleans while another cleaner is at work, nor ends a reader's transaction.
  auto other = fixture.database.connect();
  other.run("BEGIN; SELECT pg_advisory_xact_lock(1869505381, 2)");
  CHECK_FALSE(fixture.keep().had_turn);
  other.run("COMMIT; BEGIN; SELECT count(*) FROM idempotency_keys");
  const auto waited = fixture.keep();
  CHECK(waited.timeouts == 1);
  CHECK(waited.dropped == 0);
  other.run("COMMIT");
  const auto kept = fixture.keep();
  CHECK(kept.dropped == 1);
  CHECK(kept.deleted == 5);
  CHECK(fixture.states() == "current next");
  CHECK(fixture.pay("here") == "201 replay");
  CHECK(fixture.pay("before0") == "201 first");
  // The current period stays, whatever has ended in it.
  fixture.age("here");
  CHECK(fixture.keep().dropped == 0);
}

TEST_CASE("the next period has its partition before it begins, and nobody ends one too early") {
  PeriodsFixture fixture;
  CHECK(fixture.pay("k") == "201 first");
  REQUIRE(fixture.convert());
  CHECK(fixture.states() == "past current");
  for (int round = 0; round < 2; ++round) {
    CHECK(fixture.keep().dropped == 0);
    CHECK(fixture.states() == "past current next");
  }
  CHECK(fixture.database.sql().holds(
      "SELECT ends_at - starts_at = interval '1 hour' FROM idempotency_key_periods "
      "WHERE state = 'next'"));
}

TEST_CASE("cleanup is late when a partition could go, or a period could end, and does not") {
  PeriodsFixture fixture;
  CHECK(fixture.pay("k") == "201 first");
  REQUIRE(fixture.convert());
  CHECK(fixture.observe().oldest_expired.count() == 0);
  fixture.age("k");
  CHECK(fixture.observe().expired_keys == 1);
  CHECK(fixture.observe().oldest_expired > 23h);
  CHECK(fixture.keep().dropped == 1);
  CHECK(fixture.observe().expired_keys == 0);
  CHECK(fixture.observe().oldest_expired.count() == 0);
  fixture.database.sql().run(
      "UPDATE idempotency_key_periods SET ends_at = starts_at + interval '1 microsecond' "
      "WHERE state = 'current'");
  CHECK(fixture.observe().oldest_expired.count() > 0);
}

TEST_CASE("after a time without a cleaner one period reaches over what was missed") {
  PeriodsFixture fixture;
  REQUIRE(fixture.convert());
  auto& sql = fixture.database.sql();
  const std::string later = "now() + interval '30 days'";
  CHECK(sql.holds("SELECT prepare_key_period(" + later + ")"));
  CHECK(sql.holds("SELECT advance_key_period(" + later + ")"));
  CHECK_FALSE(sql.holds("SELECT advance_key_period(" + later + ")"));
  CHECK(sql.holds("SELECT prepare_key_period(" + later + ")"));
  CHECK(fixture.states() == "past past current next");
  CHECK(sql.holds("SELECT ends_at - (" + later +
                  ")"
                  " BETWEEN interval '59 minutes' AND interval '1 hour' "
                  "FROM idempotency_key_periods WHERE state = 'current'"));
  CHECK(fixture.pay("k") == "201 first");
  CHECK(fixture.partition_of("k") == "current");
}

}  // namespace oncepay::test

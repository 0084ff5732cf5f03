// What /metrics tells: every decision, refusal and replay under its name, the state of the database
// as it was looked at last, and never more series than there are names and fixed labels.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <thread>

#include "support/holds.hpp"
#include "support/names.hpp"
#include "support/problem.hpp"
#include "support/scrape.hpp"
#include "support/shop.hpp"

namespace {

using namespace support;
using Names = std::set<std::string>;

Shop& shop() {
  static Shop instance({"--cleanup=off", "--observe-interval=1"});
  return instance;
}

std::string answers(const std::string& status, const std::string& problem,
                    const std::string& route = "/v1/payments") {
  return "oncepay_http_answers_total{problem=\"" + problem + "\",route=\"" + route +
         "\",status=\"" + status + "\"}";
}

using Growth = std::map<std::string, double>;

// Does something, and checks by how much each series has grown then. An answer is counted once it
// is on its way, so the last one's count may come a moment after it.
template <typename Act>
void expect_growth(const Growth& expected, Act&& act) {
  const Scrape before(shop().instance);
  act();
  Growth grown;
  eventually([&] {
    const Scrape after(shop().instance);
    for (const auto& [series, unused] : expected) {
      grown[series] = after.value(series) - before.value(series);
    }
    return grown == expected;
  });
  for (const auto& [series, count] : expected) {
    INFO(series);
    CHECK(grown[series] == count);
  }
}

std::filesystem::path checkout() {
  return std::filesystem::path(required_environment(environment::scripts)).parent_path();
}

// Words that look like metrics in a text; what PromQL appends to a histogram's name is taken off.
Names metrics_named_in(const std::filesystem::path& file) {
  // Roles, procedures and files of deploy/ begin the same way.
  static const Names no_metrics{"oncepay_owner", "oncepay_runtime", "oncepay_cleanup"};
  static const std::regex word("\\b(?:oncepay|process)_[a-z0-9_]+\\b");
  static const std::regex part("_(?:bucket|sum|count)$");
  const std::string text = contents_of(file);
  Names names;
  for (std::sregex_iterator at(text.begin(), text.end(), word), end; at != end; ++at) {
    const std::string name = std::regex_replace(at->str(), part, "");
    if (!no_metrics.contains(name)) names.insert(name);
  }
  return names;
}

// Everything that this release exports, with what only appears once it has happened.
Names all_metrics() {
  Caller caller = shop().caller();
  const Payment payment = shop().payment_between_new_accounts();
  const std::string key = fresh_key();
  expect_succeeded(caller.pay(key, payment));
  caller.replay(key, payment);
  REQUIRE(eventually([] {
    return Scrape(shop().instance).value("oncepay_observation_success_timestamp_seconds") > 0;
  }));
  const Instance cleaning(shop().database, {"--cleanup-interval=1"});
  Names names = Scrape(shop().instance).names();
  names.merge(Names(Scrape(cleaning).names()));
  const std::string file = scratch_file("verify.prom");
  CHECK(shop().database.run_oncepay({"verify", "--metrics-file", file}).exit_code == 0);
  names.merge(Names(Scrape(contents_of(file)).names()));
  return names;
}

}  // namespace

TEST_CASE("payments are counted by status once they are committed, and replays apart from them") {
  Caller caller = shop().caller();
  const Payment payment = shop().payment_between_new_accounts(60, 100);
  const std::string succeeded = "oncepay_payments_total{status=\"succeeded\"}";
  const std::string declined = "oncepay_payments_total{status=\"declined\"}";
  const std::string first = fresh_key(), second = fresh_key();
  expect_growth({{succeeded, 1},
                 {declined, 1},
                 {"oncepay_http_replays_total", 2},
                 {answers("201", "none"), 2},
                 {answers("402", "insufficient-funds"), 2}},
                [&] {
                  for (int i = 0; i < 2; ++i) {
                    CHECK(caller.pay(first, payment).status == 201);
                    CHECK(caller.pay(second, payment).status == 402);
                  }
                });
}

TEST_CASE("mismatches, refusals and keys in progress are counted by their problem") {
  Caller caller = shop().caller();
  const Payment payment = shop().payment_between_new_accounts();
  const std::string key = fresh_key();
  Payment unknown = payment, foreign = payment;
  unknown.destination = fresh_name("nowhere:");
  foreign.currency = "USD";
  expect_growth(
      {{answers("422", "idempotency-key-reused"), 1},
       {answers("422", "account-not-found"), 1},
       {answers("422", "currency-mismatch"), 1},
       {answers("400", "invalid-json"), 1},
       {answers("409", "request-in-progress"), 1},
       {answers("409", "account-exists", "/v1/accounts"), 1}},
      [&] {
        CHECK(caller.pay(key, payment).status == 201);
        CHECK(caller.pay(key, payment.of(7)).status == 422);
        CHECK(caller.pay(fresh_key(), unknown).status == 422);
        CHECK(caller.pay(fresh_key(), foreign).status == 422);
        CHECK(caller.pay(fresh_key(), std::string("{")).status == 400);
        CHECK(caller.open(fresh_key(), R"({"id":")" + payment.source + R"(","currency":"EUR"})")
                  .status == 409);
        const std::string held = fresh_key();
        KeyHold elsewhere(shop().database, key, held);
        CHECK(caller.pay(held, payment).status == 409);
      });
}

TEST_CASE("each step of a batch and the wait before it have their histogram") {
  Caller caller = shop().caller();
  const Payment payment = shop().payment_between_new_accounts();
  Growth expected{{"oncepay_queue_wait_seconds_count", 1}};
  for (const char* step : {"claim", "lock", "decide", "settle", "execute", "complete", "commit"}) {
    expected["oncepay_batch_step_seconds_count{step=\"" + std::string(step) + "\"}"] = 1;
  }
  // A payment that has to wait for its account takes them all.
  AccountHold hold(shop().database, shop().tenant.id, payment.source);
  expect_growth(expected, [&] {
    caller.client().connect();
    caller.client().write(caller.payment_request(fresh_key(), payment).bytes());
    REQUIRE(hold.somebody_waits());
    std::this_thread::sleep_for(200ms);
    hold.release();
    CHECK(caller.client().read().status == 201);
  });
}

TEST_CASE("a payment that is alone is one round trip: its time is that of the commit") {
  Caller caller = shop().caller();
  const Payment payment = shop().payment_between_new_accounts();
  const auto steps_less_than_commits = [&] {
    const Scrape before(shop().instance);
    expect_succeeded(caller.pay(fresh_key(), payment));
    const Scrape after(shop().instance);
    const auto grown = [&](const std::string& step) {
      const std::string series = "oncepay_batch_step_seconds_count{step=\"" + step + "\"}";
      return after.value(series) - before.value(series);
    };
    return grown("commit") == 1 && grown("claim") == 0 && grown("settle") == 0;
  };
  // Not on a lane whose last batch did not end as expected.
  CHECK(eventually(steps_less_than_commits));
}

TEST_CASE("expired keys and the age of the oldest are measured, sizes and rows are told") {
  const Payment payment = shop().payment_between_new_accounts();
  const std::string model = fresh_key();
  expect_succeeded(shop().caller().pay(model, payment));
  shop().database.copy_key(model, model + "-", 40);
  shop().database.age_keys_by(std::chrono::hours(25));
  CHECK(eventually([] {
    const Scrape seen(shop().instance);
    return seen.value("oncepay_idempotency_keys{state=\"expired\"}") >= 41 &&
           seen.value("oncepay_idempotency_keys_oldest_expired_seconds") >= 3600 &&
           seen.value("oncepay_table_bytes{part=\"table\",table=\"idempotency_keys\"}") > 0 &&
           seen.value("oncepay_table_bytes{part=\"indexes\",table=\"transfers\"}") > 0 &&
           seen.value("oncepay_table_rows{state=\"live\",table=\"payments\"}") > 0;
  }));
  shop().database.sql().run("DELETE FROM idempotency_keys");  // copies, no payments of their own
  CHECK(eventually([] {
    const Scrape seen(shop().instance);
    return seen.value("oncepay_idempotency_keys{state=\"expired\"}") == 0 &&
           seen.value("oncepay_idempotency_keys_oldest_expired_seconds") == 0;
  }));
}

TEST_CASE("a transaction that keeps dead rows shows with its age, a look never reads the table") {
  Caller caller = shop().caller();
  const std::string model = fresh_key();
  expect_succeeded(caller.pay(model, shop().payment_between_new_accounts()));
  shop().database.copy_key(model, model + "-", 20'000);
  Sql& sql = shop().database.sql();
  sql.run("ANALYZE idempotency_keys");
  const auto scans = [&sql] {
    sql.run("SELECT pg_stat_force_next_flush()");  // of what this session has read itself
    sql.run("SELECT pg_stat_clear_snapshot()");
    return sql.number(
        "SELECT seq_scan FROM pg_stat_user_tables WHERE relname = 'idempotency_keys'");
  };
  Sql old = shop().database.connect();
  old.run("BEGIN ISOLATION LEVEL REPEATABLE READ");
  old.run("SELECT count(*) FROM tenants");
  const std::int64_t scans_before = scans();
  CHECK(eventually([] {
    return Scrape(shop().instance).value("oncepay_database_oldest_snapshot_seconds") >= 3;
  }));
  CHECK(scans() == scans_before);
  old.run("ROLLBACK");
  sql.run("DELETE FROM idempotency_keys");
  CHECK(eventually([] {
    return Scrape(shop().instance).value("oncepay_database_oldest_snapshot_seconds") < 3;
  }));
}

TEST_CASE("a database that cannot be looked at is counted, and the next look mends it") {
  Sql& sql = shop().database.sql();
  sql.run("ALTER TABLE idempotency_keys RENAME TO hidden_keys");
  CHECK(eventually(
      [] { return Scrape(shop().instance).value("oncepay_observation_failures_total") >= 1; }));
  sql.run("ALTER TABLE hidden_keys RENAME TO idempotency_keys");
  const Scrape then(shop().instance);
  const std::string when = "oncepay_observation_success_timestamp_seconds";
  CHECK(eventually([&] { return Scrape(shop().instance).value(when) > then.value(when); }));
  expect_recovered(shop());
}

TEST_CASE("while keys cannot be counted in time, an old snapshot is still seen with its age") {
  Sql holder = shop().database.connect();
  holder.run("BEGIN ISOLATION LEVEL REPEATABLE READ");
  holder.run("SELECT count(*) FROM tenants");
  Sql& sql = shop().database.sql();
  sql.run("ALTER TABLE idempotency_keys RENAME COLUMN expires_at TO expires_at_of_old");
  const std::string age = "oncepay_database_oldest_snapshot_seconds";
  CHECK(eventually([&] { return Scrape(shop().instance).value(age) >= 2; }));
  const Scrape first(shop().instance);
  CHECK(eventually([&] { return Scrape(shop().instance).value(age) > first.value(age); }));
  sql.run("ALTER TABLE idempotency_keys RENAME COLUMN expires_at_of_old TO expires_at");
  holder.run("ROLLBACK");
  expect_recovered(shop());
}

TEST_CASE("the process tells its memory, threads, descriptors and build") {
  const Scrape scrape(shop().instance);
  CHECK(scrape.value("process_resident_memory_bytes") > 1'000'000);
  CHECK(scrape.value("process_threads") > 5);
  CHECK(scrape.value("process_open_fds") > 5);
  CHECK(scrape.value("process_max_fds") >= scrape.value("process_open_fds"));
  CHECK(scrape.value("process_cpu_seconds_total") > 0);
  const double age =
      static_cast<double>(std::time(nullptr)) - scrape.value("process_start_time_seconds");
  CHECK(age > -5);
  CHECK(age < 3600);
  CHECK(scrape.value("oncepay_lanes_connected") == scrape.value("oncepay_lanes"));
}

TEST_CASE("refused bytes are counted, of what was read and of what was dropped") {
  const std::string refused = "oncepay_edge_refused_bytes_total";
  const double before = Scrape(shop().instance).value(refused);
  Client client(shop().instance.port());
  client.connect();
  client.write("POST /v1/payments HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n");
  CHECK(client.read().status == 413);
  client.write(std::string(5'000, 'x'));
  CHECK(eventually([&] { return Scrape(shop().instance).value(refused) - before >= 5'000; }));
}

TEST_CASE("no client makes more series: keys, accounts, paths, methods and ids are no labels") {
  Caller caller = shop().caller();
  const auto visit = [&caller](int number) {
    const std::string word = fresh_name("word-");
    const Payment payment = shop().payment_between_new_accounts(number + 1);
    CHECK(caller.pay(word, payment).status == 201);
    CHECK(caller.get("/v1/" + word).status == 404);
    CHECK(caller.get("/v1/accounts/" + word).status == 404);
    CHECK(caller.get("/v1/idempotency-keys/" + word).status == 200);
    Request strange = caller.get_request("/v1/payments");
    strange.method = "ODD" + std::to_string(number);
    CHECK(caller.send(strange).status == 405);
  };
  visit(0);
  REQUIRE(
      eventually([] { return Scrape(shop().instance).has(answers("405", "method-not-allowed")); }));
  const auto before = Scrape(shop().instance).series();
  for (int number = 1; number < 10; ++number) visit(number);
  CHECK(Scrape(shop().instance).series() == before);
}

TEST_CASE("every metric that the README and deploy/ name is in a real scrape") {
  const Names exported = all_metrics();
  std::vector<std::filesystem::path> files{checkout() / "README.md"};
  for (const auto& entry : std::filesystem::recursive_directory_iterator(checkout() / "deploy")) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::size_t named = 0;
  for (const auto& file : files) {
    for (const std::string& name : metrics_named_in(file)) {
      INFO(file.string(), " names ", name);
      CHECK(exported.contains(name));
      ++named;
    }
  }
  CHECK(named > 40);
}

TEST_CASE("every metric of a scrape is described in deploy/metrics.md") {
  const Names described = metrics_named_in(checkout() / "deploy/metrics.md");
  for (const std::string& name : all_metrics()) {
    INFO(name);
    CHECK(described.contains(name));
  }
}

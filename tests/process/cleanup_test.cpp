// G7: cleanup removes only what is expired at the moment of removal, in bounded batches, and never
// blocks a payment for longer than one batch. The command and the thread inside `serve` alike.
#include <doctest/doctest.h>

#include <atomic>
#include <sstream>
#include <string>
#include <thread>

#include "support/crowd.hpp"
#include "support/names.hpp"
#include "support/problem.hpp"
#include "support/scrape.hpp"
#include "support/shop.hpp"

namespace {

using namespace support;

constexpr std::chrono::seconds day = std::chrono::hours(24);

Shop& shop() {
  static Shop instance({"--cleanup=off"});
  return instance;
}

const Payment& standing_payment() {
  static const Payment payment = shop().payment_between_new_accounts(1, 1'000'000);
  return payment;
}

// Nothing but `count` expired keys that look like any other.
void have_expired_keys(int count) {
  (void)standing_payment();  // its accounts have keys too
  shop().database.sql().run("DELETE FROM idempotency_keys");
  const std::string model = fresh_key();
  expect_succeeded(shop().caller().pay(model, standing_payment()));
  shop().database.copy_key(model, model + "-", count - 1);
  shop().database.age_keys_by(day + 1s);
  REQUIRE(shop().database.expired_keys() == count);
}

struct Report {
  int exit_code = -1;
  nlohmann::json line;
  std::string all;
};

Report clean(std::vector<std::string> flags = {}) {
  flags.insert(flags.begin(), "cleanup");
  const Finished done = shop().database.run_oncepay(flags);
  Report report{done.exit_code, nlohmann::json::parse(done.out, nullptr, false), done.all()};
  INFO("cleanup said: ", report.all);
  CHECK(std::count(done.out.begin(), done.out.end(), '\n') == 1);  // one line on stdout
  REQUIRE(report.line.is_object());
  for (const char* member : {"deleted", "batches", "remaining", "duration_ms"}) {
    CHECK(report.line.at(member).is_number_integer());
  }
  return report;
}

// Lets the removal of keys fail as a lost privilege would; a superuser has all of them.
void let_removal_fail() {
  shop().database.sql().run(
      "CREATE FUNCTION refuse_removal() RETURNS trigger LANGUAGE plpgsql AS"
      " $$ BEGIN RAISE EXCEPTION 'removal refused' USING ERRCODE = '42501'; END $$;"
      "CREATE TRIGGER refuse_removal BEFORE DELETE ON idempotency_keys"
      " FOR EACH ROW EXECUTE FUNCTION refuse_removal()");
}

void let_removal_work() {
  shop().database.sql().run(
      "DROP TRIGGER refuse_removal ON idempotency_keys; DROP FUNCTION refuse_removal()");
}

// The sum of all samples of failed cleanups in /metrics. The contract fixes no name, so: cleanup,
// and a word for failure, in the name or its labels.
double failures_in_metrics(const Instance& instance) {
  std::istringstream lines(Client(instance.port()).send({"GET", "/metrics", {}, ""}).body);
  double sum = 0;
  for (std::string line; std::getline(lines, line);) {
    const bool tells =
        line.find("cleanup") != std::string::npos &&
        (line.find("fail") != std::string::npos || line.find("error") != std::string::npos);
    if (line.front() != '#' && tells) sum += std::stod(line.substr(line.rfind(' ')));
  }
  return sum;
}

}  // namespace

TEST_CASE("G7 4500 expired keys leave in 5 batches of at most 1000, each its own transaction") {
  // CLN-01
  have_expired_keys(4'500);
  shop().database.sql().run(
      "CREATE TABLE removals (transaction bigint, removed bigint);"
      "CREATE FUNCTION note_removal() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
      " INSERT INTO removals SELECT txid_current(), count(*) FROM gone; RETURN NULL; END $$;"
      "CREATE TRIGGER note_removal AFTER DELETE ON idempotency_keys REFERENCING OLD TABLE AS gone"
      " FOR EACH STATEMENT EXECUTE FUNCTION note_removal()");
  const Report report = clean({"--batch-size=1000"});
  CHECK(report.exit_code == 0);
  CHECK(report.line.at("deleted") == 4'500);
  CHECK(report.line.at("batches") == 5);
  CHECK(report.line.at("remaining") == 0);
  CHECK(shop().database.keys() == 0);
  Sql& sql = shop().database.sql();
  CHECK(sql.number("SELECT max(removed) FROM removals") <= 1'000);
  CHECK(sql.number("SELECT count(DISTINCT transaction) FROM removals WHERE removed > 0") == 5);
  sql.run(
      "DROP TRIGGER note_removal ON idempotency_keys; DROP FUNCTION note_removal();"
      "DROP TABLE removals");
}

TEST_CASE("the default batch is 1000 and a full last batch leaves nothing behind") {
  have_expired_keys(2'000);
  const Report report = clean();
  CHECK(report.exit_code == 0);
  CHECK(report.line.at("deleted") == 2'000);
  // A run may need one more look to know that it is done.
  CHECK(report.line.at("batches") >= 2);
  CHECK(report.line.at("batches") <= 3);
  CHECK(shop().database.keys() == 0);
}

TEST_CASE("--max-batches bounds a run and tells what remains") {
  have_expired_keys(1'000);
  const Report report = clean({"--batch-size=100", "--max-batches=3"});
  CHECK(report.exit_code == 0);
  CHECK(report.line.at("deleted") == 300);
  CHECK(report.line.at("batches") == 3);
  CHECK(report.line.at("remaining") == 700);
  CHECK(shop().database.expired_keys() == 700);
}

TEST_CASE("--dry-run removes nothing and tells what there is") {
  have_expired_keys(250);
  const Report report = clean({"--dry-run"});
  CHECK(report.exit_code == 0);
  CHECK(shop().database.expired_keys() == 250);
  // Either counts as the answer to "what would it do?".
  CHECK((report.line.at("remaining") == 250 || report.line.at("deleted") == 250));
}

TEST_CASE("with nothing to do a run succeeds and says so") {
  shop().database.sql().run("DELETE FROM idempotency_keys");
  const Report report = clean();
  CHECK(report.exit_code == 0);
  CHECK(report.line.at("deleted") == 0);
  CHECK(report.line.at("remaining") == 0);
}

TEST_CASE("G7 only what is expired goes: a key in its last minute stays and is replayed") {
  have_expired_keys(50);
  const std::string key = fresh_key();
  const Answer first = shop().caller().pay(key, standing_payment());
  shop().database.age_keys_by(day - 60s);
  CHECK(clean().line.at("deleted") == 50);
  CHECK(shop().key_rows(key) == 1);
  const Instance fresh(shop().database, {"--cleanup=off"});
  expect_replay_of(first, shop().caller_at(fresh).replay(key, standing_payment()));
}

TEST_CASE("G7 a key that is claimed again while cleanup looks at it is not removed") {
  have_expired_keys(20);
  const std::string key = shop().database.sql().text("SELECT min(key) FROM idempotency_keys");
  // A claim in the middle of its transaction: the row is renewed, not yet committed.
  Sql claimant = shop().database.connect();
  claimant.run("BEGIN");
  claimant.run(
      "UPDATE idempotency_keys SET created_at = now(),"
      " expires_at = now() + interval '1 day' WHERE key = $1",
      {key});
  const Stopwatch watch;
  const Report report = clean();
  CHECK(report.exit_code == 0);
  CHECK(watch.elapsed() < 10s);  // it does not wait for the claimant
  CHECK(report.line.at("deleted") == 19);
  claimant.run("COMMIT");
  CHECK(shop().key_rows(key) == 1);
  CHECK(clean().line.at("deleted") == 0);
}

TEST_CASE(
    "G7 cleanup against claims of the very keys it removes: each is decided once, none is lost") {
  // Every key is expired; callers pay under them again while cleaners run in small batches.
  constexpr int count = 240;
  have_expired_keys(count);
  const std::vector<std::string> keys =
      shop().database.sql().column("SELECT key FROM idempotency_keys ORDER BY random()");
  const Instance fresh(shop().database, {"--cleanup=off"});
  std::vector<Child> cleaners;
  for (int i = 0; i < 3; ++i) {
    cleaners.push_back(start(shop().database.oncepay({"cleanup", "--batch-size=10"})));
  }
  const Payment payment = standing_payment().of(3);
  const auto answers = all_at_once(8, [&](std::size_t number) {
    std::vector<std::pair<std::string, Answer>> out;
    Caller caller = shop().caller_at(fresh);
    for (std::size_t i = number; i < keys.size(); i += 8) {
      out.emplace_back(keys[i], caller.pay(keys[i], payment));
    }
    return out;
  });
  for (Child& cleaner : cleaners) {
    CHECK(cleaner.wait_for(60s) == 0);
  }
  CHECK(clean().exit_code == 0);
  Caller caller = shop().caller_at(fresh);
  for (const auto& of_one : answers) {
    for (const auto& [key, answer] : of_one) {
      INFO("key: ", key);
      expect_succeeded(answer);
      CHECK_FALSE(answer.replayed());
      CHECK(shop().key_rows(key) == 1);
      expect_replay_of(answer, caller.replay(key, payment));
    }
  }
  CHECK(shop().database.keys() == count);
  CHECK(broken_books(shop().database) == "");
}

TEST_CASE("cleaners that start together remove everything once and all succeed") {
  have_expired_keys(3'000);
  std::vector<Child> cleaners;
  for (int i = 0; i < 4; ++i) {
    cleaners.push_back(start(shop().database.oncepay({"cleanup", "--batch-size=100"})));
  }
  std::int64_t deleted = 0;
  for (Child& cleaner : cleaners) {
    CHECK(cleaner.wait_for(60s) == 0);
    deleted += nlohmann::json::parse(cleaner.out()).at("deleted").get<std::int64_t>();
  }
  CHECK(deleted == 3'000 - shop().database.keys());
  CHECK(clean().exit_code == 0);
  CHECK(shop().database.keys() == 0);
}

TEST_CASE("a run that fails exits 1, says why, and the next one after the repair just works") {
  // CLN-01
  have_expired_keys(30);
  let_removal_fail();
  for (int run = 0; run < 3; ++run) {
    const Finished failed = shop().database.run_oncepay({"cleanup"});
    CHECK(failed.exit_code == 1);
    CHECK_FALSE(failed.all().empty());
  }
  CHECK(shop().database.expired_keys() == 30);
  let_removal_work();
  CHECK(clean().exit_code == 0);
  CHECK(shop().database.expired_keys() == 0);
}

TEST_CASE("cleanup without a database exits 1") {
  const Finished failed = run(
      oncepay({"cleanup"}, {{"ONCEPAY_DATABASE_URL", "postgresql://nobody@127.0.0.1:1/nothing"}}));
  CHECK(failed.exit_code == 1);
}

TEST_CASE("the thread inside serve removes expired keys; with --cleanup=off nothing does") {
  have_expired_keys(120);
  {
    const Instance cleaning(shop().database,
                            {"--cleanup=on", "--cleanup-interval=1", "--cleanup-batch-size=50"});
    CHECK(eventually([&] { return shop().database.expired_keys() == 0; }, 20s));
  }
  have_expired_keys(10);
  CHECK(shop().database.expired_keys() == 10);                // the shop's own instance has it off
  shop().database.sql().run("DELETE FROM idempotency_keys");  // copies, no payments of their own
  expect_recovered(shop());
}

TEST_CASE("a cleanup thread that fails is seen in metrics and log, and recovers by itself") {
  // CLN-01: a job that only logs errors silently never cleans.
  have_expired_keys(10);
  let_removal_fail();
  const Instance cleaning(shop().database, {"--cleanup=on", "--cleanup-interval=1"});
  CHECK(eventually([&] { return failures_in_metrics(cleaning) >= 1; }, 20s, 100ms));
  CHECK(cleaning.log().find("cleanup") != std::string::npos);
  CHECK(shop().caller_at(cleaning).pay(fresh_key(), standing_payment()).status == 201);
  let_removal_work();
  CHECK(eventually([&] { return shop().database.expired_keys() == 0; }, 30s));
  expect_recovered(shop(), cleaning);
}

TEST_CASE("a batch that times out is tried with fewer rows until it fits") {
  have_expired_keys(600);
  Sql& sql = shop().database.sql();
  sql.run(
      "CREATE FUNCTION slow_down() RETURNS trigger LANGUAGE plpgsql AS"
      " $$ BEGIN PERFORM pg_sleep(0.002); RETURN OLD; END $$;"
      "CREATE TRIGGER slow_down BEFORE DELETE ON idempotency_keys FOR EACH ROW"
      " EXECUTE FUNCTION slow_down()");
  const Instance cleaning(shop().database, {"--cleanup-interval=1", "--statement-timeout=500"});
  CHECK(eventually([] { return shop().database.expired_keys() == 0; }, 30s));
  CHECK(eventually([&] { return Scrape(cleaning).value("oncepay_cleanup_timeouts_total") >= 1; }));
  CHECK(failures_in_metrics(cleaning) == 0);
  sql.run("DROP TRIGGER slow_down ON idempotency_keys; DROP FUNCTION slow_down()");
}

TEST_CASE("outside of its window the thread leaves expired keys up to the backlog, inside none") {
  // By the database's clock, in a zone that is never at UTC's hour.
  const std::string zone = "Asia/Kathmandu";
  const auto clock = [&zone](const std::string& from_now) {
    return shop().database.sql().text(
        "SELECT to_char(now() AT TIME ZONE $1 + $2::interval,"
        " 'HH24:MI')",
        {zone, from_now});
  };
  const auto flags = [&](const std::string& begin, const std::string& end) {
    return Instance::Flags{"--cleanup-interval=1", "--cleanup-batch-size=10",
                           "--cleanup-backlog-max=50", "--cleanup-zone=" + zone,
                           "--cleanup-window=" + clock(begin) + "-" + clock(end)};
  };
  const std::string runs = "oncepay_cleanup_runs_total";
  have_expired_keys(120);
  {
    const Instance outside(shop().database, flags("2 hours", "4 hours"));
    CHECK(eventually([] { return shop().database.expired_keys() == 50; }, 20s));
    const double before = Scrape(outside).value(runs);
    CHECK(eventually([&] { return Scrape(outside).value(runs) >= before + 2; }));
    CHECK(shop().database.expired_keys() == 50);
  }
  const Instance inside(shop().database, flags("-2 hours", "2 hours"));
  CHECK(eventually([] { return shop().database.expired_keys() == 0; }, 20s));
}

TEST_CASE("a window that is none, or a zone that nobody knows, is refused at start by name") {
  for (const char* window : {"1:00-2:00", "01:00-25:00", "01:00", "03:00-03:00", "01:00-02:60"}) {
    const Finished refused = shop().database.run_oncepay(
        {"serve", "--listen=127.0.0.1:0", std::string("--cleanup-window=") + window});
    INFO(window);
    CHECK(refused.exit_code == 2);
    CHECK(refused.err.find("--cleanup-window") != std::string::npos);
  }
  const Finished nowhere = shop().database.run_oncepay(
      {"serve", "--listen=127.0.0.1:0", "--cleanup-window=01:00-02:00", "--cleanup-zone=Atlantis"});
  CHECK(nowhere.exit_code == 2);
  CHECK(nowhere.err.find("--cleanup-zone") != std::string::npos);
}

TEST_CASE("G7 payments are served while thousands of keys are removed") {
  have_expired_keys(20'000);
  const Instance fresh(shop().database, {"--cleanup=off"});
  Child cleaner = start(shop().database.oncepay({"cleanup", "--batch-size=1000"}));
  Caller caller = shop().caller_at(fresh);
  std::chrono::milliseconds slowest = 0ms;
  while (cleaner.alive()) {
    const Stopwatch watch;
    CHECK(caller.pay(fresh_key(), standing_payment()).status == 201);
    slowest = std::max(slowest, watch.elapsed());
  }
  CHECK(slowest < 2s);
  CHECK(cleaner.wait_for(0ms) == 0);
  CHECK(shop().database.expired_keys() == 0);
}

#include <doctest/doctest.h>

#include <array>
#include <stdexcept>

#include "once/engine_fixture.hpp"

namespace oncepay::test {

using namespace std::chrono_literals;

namespace {

// Decides like the real one, but what is asked to break breaks.
struct BreakablePayload final : once::Payload {
  std::string how;
};

class BreakableExecutor final : public once::Executor {
 public:
  [[nodiscard]] int rank() const override { return 9; }
  // Never what happens, so that each key is written twice.
  [[nodiscard]] std::optional<once::Answer> expect(const once::Payload&,
                                                   std::int64_t) const override {
    return std::nullopt;
  }
  std::vector<once::Decision> execute(db::Transaction& transaction,
                                      std::span<const once::Claim> claims, std::int64_t) override {
    std::vector<once::Decision> decisions;
    ++runs;
    for (const auto& claim : claims) {
      const auto& how = dynamic_cast<const BreakablePayload&>(claim.payload).how;
      if (how == "bug") throw std::logic_error("asked to break");
      if (how == "statement") {
        transaction.run({"test.break", "SELECT 1 / 0"});
      }
      if (how == "deadlock" && failures_left-- > 0) {
        throw db::TransientError(db::TransientReason::serialization, "asked to");
      }
      if (how == "miscount") continue;
      decisions.push_back(once::Decided{{200, "text/plain", std::nullopt, "ok", ""}});
    }
    return decisions;
  }
  int failures_left = 0;
  int runs = 0;
};

once::Operation breakable(EngineFixture& fixture, BreakableExecutor& executor,
                          const std::string& key, const std::string& how) {
  auto payload = std::make_unique<BreakablePayload>();
  payload->how = how;
  return fixture.operation(key, std::move(payload), executor, key + how);
}

}  // namespace

TEST_CASE("G1 a payment is decided once and replayed after that") {
  EngineFixture fixture;
  fixture.add_account("a", 100);
  fixture.add_account("b", 0);
  const auto first = fixture.run(fixture.payment("k", "a", "b", 30));
  REQUIRE(text_of(first) == "201 first");
  fixture.restart();
  const auto second = fixture.run(fixture.payment("k", "a", "b", 30));
  CHECK(text_of(second) == "201 replay");
  CHECK(std::get<once::Answered>(first).answer.body ==
        std::get<once::Answered>(second).answer.body);
  CHECK(text_of(fixture.run(fixture.payment("k", "a", "b", 31))) == "mismatch");
  CHECK(fixture.balance_of("a") == 70);
  CHECK(fixture.balance_of("b") == 30);
}

TEST_CASE("two tenants with one key in one batch keep their own claims") {
  EngineFixture fixture(one_lane());
  fixture.add_account("a", 100);
  fixture.add_account("b", 0);
  const std::string first_tenant = fixture.tenant_id;
  const std::string second_tenant = fixture.make_tenant("two");
  for (const bool first_owns : {true, false}) {
    const std::string key = first_owns ? "x" : "y";
    fixture.tenant_id = first_owns ? first_tenant : second_tenant;
    const std::string other = first_owns ? second_tenant : first_tenant;
    // The owner's key is known; in the next batch both ask, with another request of the owner's.
    (void)fixture.run(fixture.payment(key, "a", "b", 1));
    fixture.database.sql().run(
        "INSERT INTO accounts (tenant_id, id, currency, balance) VALUES "
        "($1, 'a', 'EUR', 100), ($1, 'b', 'EUR', 0) ON CONFLICT DO NOTHING",
        {second_tenant});
    (void)fixture.run(fixture.payment(key + "own", "a", "b", 1));
    const auto before = fixture.database.payments();
    std::vector<std::future<Resolution>> futures;
    auto hold = fixture.database.connect();
    hold.run("BEGIN; LOCK TABLE idempotency_keys IN SHARE MODE");
    futures.push_back(fixture.submit(fixture.payment("front", "a", "b", 1)));
    futures.push_back(fixture.submit(fixture.payment(key + "own", "a", "b", 1)));
    fixture.tenant_id = other;
    futures.push_back(fixture.submit(fixture.payment(key + "own", "a", "b", 1)));
    hold.run("COMMIT");
    const auto texts = texts_of(std::move(futures));
    CHECK(texts[1] == "201 replay");
    CHECK(texts[2] == "201 first");
    CHECK(fixture.database.payments() == before + (texts[0] == "201 first" ? 2 : 1));
    // A claim taken for another tenant's would be noticed when it is completed, and undone.
    CHECK(fixture.metric("oncepay_batches_one_by_one_total") == 0);
  }
}

TEST_CASE("a refused operation leaves no key behind") {
  EngineFixture fixture;
  fixture.add_account("a", 100);
  CHECK(text_of(fixture.run(fixture.payment("k", "a", "b", 1))) == "refused");
  CHECK(fixture.database.keys() == 0);
  CHECK(fixture.database.payments() == 0);
  fixture.add_account("b", 0);
  CHECK(text_of(fixture.run(fixture.payment("k", "a", "b", 1))) == "201 first");
}

TEST_CASE("a poisoned operation fails alone and its batch goes on") {
  for (const std::string how : {"bug", "statement", "miscount"}) {
    CAPTURE(how);
    EngineFixture fixture(one_lane());
    BreakableExecutor executor;
    fixture.add_account("a", 100);
    fixture.add_account("b", 0);
    auto hold = fixture.database.connect();
    hold.run("BEGIN; LOCK TABLE idempotency_keys IN SHARE MODE");
    std::vector<std::future<Resolution>> futures;
    futures.push_back(fixture.submit(fixture.payment("front", "a", "b", 1)));
    std::this_thread::sleep_for(20ms);  // the lane is busy with it; what comes next is one batch
    futures.push_back(fixture.submit(fixture.payment("1", "a", "b", 1)));
    futures.push_back(fixture.submit(breakable(fixture, executor, "2", how)));
    futures.push_back(fixture.submit(breakable(fixture, executor, "3", "fine")));
    hold.run("COMMIT");
    CHECK(texts_of(std::move(futures)) ==
          std::vector<std::string>{"201 first", "201 first", "failed", "200 first"});
    CHECK(fixture.metric("oncepay_batches_one_by_one_total") == 1);
    CHECK(fixture.database.keys() == 3);  // the failed one's key is free
    CHECK(text_of(fixture.run(breakable(fixture, executor, "2", "fine"))) == "200 first");
  }
}

TEST_CASE("a serialization failure runs the whole batch again, bounded") {
  EngineFixture fixture(one_lane());
  BreakableExecutor executor;
  executor.failures_left = 3;
  CHECK(text_of(fixture.run(breakable(fixture, executor, "a", "deadlock"))) == "200 first");
  CHECK(executor.runs == 4);
  executor.failures_left = 1'000;
  CHECK(text_of(fixture.run(breakable(fixture, executor, "b", "deadlock"))) == "unavailable");
  CHECK(fixture.database.keys() == 1);
}

TEST_CASE("a key past its expiry is claimed again, by one of many, whoever asks") {
  EngineFixture fixture;
  fixture.add_account("a", 1'000);
  fixture.add_account("b", 0);
  runtime::Metrics metrics;
  auto other = fixture.make_engine(metrics);
  for (int round = 0; round < 20; ++round) {
    (void)fixture.run(fixture.payment("k", "a", "b", 1));
    fixture.database.age_keys_by(48h);
    std::vector<std::future<Resolution>> futures;
    for (int i = 0; i < 8; ++i) {
      futures.push_back(fixture.submit(fixture.payment("k", "a", "b", 2), 5s));
      std::swap(fixture.engine, other);
    }
    int first = 0;
    for (const auto& text : texts_of(std::move(futures))) {
      CAPTURE(text);
      CHECK((text == "201 first" || text == "201 replay"));
      first += text == "201 first" ? 1 : 0;
    }
    CHECK(first == 1);
    fixture.database.age_keys_by(48h);
  }
  CHECK(fixture.balance_of("b") == 20 * 3);
}

TEST_CASE("a claim whose lease is over is taken over by the same request only") {
  EngineFixture fixture;
  fixture.add_account("a", 100);
  fixture.add_account("b", 0);
  const auto leave_claim = [&](const std::string& key, const std::string& lease_from_now) {
    auto left = fixture.payment(key, "a", "b", 1);
    fixture.database.sql().run(
        "INSERT INTO idempotency_keys (tenant_id, key, fingerprint, fingerprint_version, "
        "lease_owner, lease_expires_at, created_at, expires_at) "
        "VALUES ($1, $2, decode($3, 'hex'), 1, 'gone', now() + $4::interval, now(), "
        "now() + interval '1 day')",
        {fixture.tenant_id, key, runtime::to_hex(left.fingerprint), lease_from_now});
  };
  leave_claim("over", "-1 second");
  leave_claim("running", "1 hour");
  CHECK(text_of(fixture.run(fixture.payment("over", "a", "b", 2))) == "mismatch");
  CHECK(text_of(fixture.run(fixture.payment("over", "a", "b", 1))) == "201 first");
  CHECK(text_of(fixture.run(fixture.payment("running", "a", "b", 2))) == "mismatch");
  CHECK(text_of(fixture.run(fixture.payment("running", "a", "b", 1))) == "in-progress");
}

TEST_CASE("a wrong request in flight does not push the rightful one off its key") {
  EngineFixture fixture(one_lane());
  fixture.add_account("a", 100);
  fixture.add_account("b", 0);
  (void)fixture.run(fixture.payment("k", "a", "b", 1));
  auto hold = fixture.database.connect();
  hold.run("BEGIN; LOCK TABLE idempotency_keys IN SHARE MODE");
  auto wrong = fixture.submit(fixture.payment("k", "a", "b", 2));
  auto rightful = fixture.submit(fixture.payment("k", "a", "b", 1));
  hold.run("COMMIT");
  CHECK(text_of(wrong.get()) == "mismatch");
  CHECK(text_of(rightful.get()) == "201 replay");
}

TEST_CASE("while a request runs its key answers 422 to another request and 409 to the same") {
  EngineFixture fixture(one_lane());
  fixture.add_account("a", 100);
  fixture.add_account("b", 0);
  auto hold = fixture.database.connect();
  hold.run("BEGIN; SELECT 1 FROM accounts WHERE id = 'a' FOR UPDATE");
  auto first = fixture.submit(fixture.payment("k", "a", "b", 1));
  auto rival = fixture.submit(fixture.payment("k", "a", "b", 2));
  CHECK(text_of(rival.get()) == "mismatch");
  CHECK(text_of(fixture.run(fixture.payment("k", "a", "b", 1))) == "in-progress");
  auto patient = fixture.submit(fixture.payment("k", "a", "b", 1), 10s);
  hold.run("COMMIT");
  CHECK(text_of(first.get()) == "201 first");
  CHECK(text_of(patient.get()) == "201 replay");
}

TEST_CASE("a full queue is an answer at once, and one tenant cannot fill it alone") {
  auto settings = one_lane();
  settings.queue_operations_max = 8;
  settings.batch_operations_max = 1;
  EngineFixture fixture(settings);
  fixture.add_account("a", 100);
  fixture.add_account("b", 0);
  const std::string flooding = fixture.tenant_id;
  const std::string quiet = fixture.make_tenant("two");
  auto hold = fixture.database.connect();
  hold.run("BEGIN; LOCK TABLE idempotency_keys IN SHARE MODE");
  std::vector<std::future<Resolution>> futures;
  futures.push_back(fixture.submit(fixture.payment("front", "a", "b", 1)));
  std::this_thread::sleep_for(20ms);
  int overloaded = 0;
  for (int i = 0; i < 8; ++i) {
    futures.push_back(fixture.submit(fixture.payment(std::to_string(i), "a", "b", 1)));
    overloaded += futures.back().wait_for(0s) == std::future_status::ready ? 1 : 0;
  }
  CHECK(overloaded == 4);  // its half is full
  fixture.tenant_id = quiet;
  futures.push_back(fixture.submit(fixture.payment("0", "a", "b", 1)));
  CHECK(futures.back().wait_for(0s) == std::future_status::timeout);
  fixture.tenant_id = flooding;
  hold.run("COMMIT");
  int done = 0;
  for (const auto& text : texts_of(std::move(futures))) done += text == "201 first" ? 1 : 0;
  CHECK(done == 5);
}

TEST_CASE("a call is told in time that its outcome is unknown, and the key tells later") {
  auto settings = one_lane();
  settings.answer_deadline = 200ms;
  settings.database.lock_timeout = 10s;
  EngineFixture fixture(settings);
  fixture.add_account("a", 100);
  fixture.add_account("b", 0);
  auto hold = fixture.database.connect();
  hold.run("BEGIN; SELECT 1 FROM accounts WHERE id = 'a' FOR UPDATE");
  CHECK(text_of(fixture.run(fixture.payment("k", "a", "b", 1))) == "outcome-unknown");
  CHECK(text_of(fixture.run(fixture.payment("k", "a", "b", 1))) == "in-progress");
  auto patient = fixture.submit(fixture.payment("k", "a", "b", 1), 20s);
  hold.run("COMMIT");
  CHECK(text_of(patient.get()) == "201 replay");
}

TEST_CASE("a draining engine takes nothing new and finishes what runs") {
  EngineFixture fixture(one_lane());
  fixture.add_account("a", 100);
  fixture.add_account("b", 0);
  (void)fixture.run(fixture.payment("old", "a", "b", 1));
  auto hold = fixture.database.connect();
  hold.run("BEGIN; SELECT 1 FROM accounts WHERE id = 'a' FOR UPDATE");
  auto running = fixture.submit(fixture.payment("k", "a", "b", 1));
  fixture.engine->drain();
  CHECK_FALSE(fixture.engine->ready());
  CHECK(text_of(fixture.run(fixture.payment("new", "a", "b", 1))) == "unavailable");
  const once::Operation old = fixture.payment("old", "a", "b", 1);
  const once::Operation fresh = fixture.payment("fresh", "a", "b", 1);
  const once::Operation other = fixture.payment("old", "a", "b", 2);
  const std::array<const once::Operation*, 3> asked{&fresh, &old, &other};
  const auto known = fixture.engine->look_up(asked);
  REQUIRE(known.size() == 3);
  CHECK_FALSE(known[0].has_value());
  REQUIRE(known[1].has_value());
  CHECK(text_of(*known[1]) == "201 replay");
  REQUIRE(known[2].has_value());
  CHECK(text_of(*known[2]).substr(0, 8) == "mismatch");
  CHECK_FALSE(fixture.engine->wait_idle(std::chrono::steady_clock::now() + 10ms));
  hold.run("COMMIT");
  CHECK(text_of(running.get()) == "201 first");
  CHECK(fixture.engine->wait_idle(std::chrono::steady_clock::now() + 5s));
}

}  // namespace oncepay::test

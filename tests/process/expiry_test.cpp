// The life of a key: 24 hours by the database's clock (G8), not extended by replays; past its
// expiry it counts as absent, whether cleanup has come by or not. Time passes by ageing rows. Rows
// that are aged behind an instance's back are asked about on a fresh instance: an instance may
// remember answers it has given together with the expiry it was told.
#include <doctest/doctest.h>

#include "support/crowd.hpp"
#include "support/names.hpp"
#include "support/problem.hpp"
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

// Aged, and asked about by an instance that starts afterwards.
Instance after(std::chrono::seconds age, const Instance::Flags& flags = {"--cleanup=off"}) {
  shop().database.age_keys_by(age);
  return Instance(shop().database, flags);
}

std::int64_t seconds_to_live(const std::string& key) {
  return shop().database.sql().number(
      "SELECT round(extract(epoch FROM expires_at - created_at))::bigint FROM idempotency_keys"
      " WHERE key = $1",
      {key});
}

}  // namespace

TEST_CASE("a key lives 24 hours, or as long as the operator says") {
  const std::string key = fresh_key();
  shop().caller().pay(key, standing_payment());
  CHECK(seconds_to_live(key) == 86'400);
  const Instance brief(shop().database, {"--retention=3600"});
  const std::string brief_key = fresh_key();
  shop().caller_at(brief).pay(brief_key, standing_payment());
  CHECK(seconds_to_live(brief_key) == 3'600);
}

TEST_CASE("replays do not extend a key's life") {
  const std::string key = fresh_key();
  Caller caller = shop().caller();
  caller.pay(key, standing_payment());
  const auto times = [&] {
    return shop().database.sql().text(
        "SELECT created_at::text || ' ' || expires_at FROM idempotency_keys WHERE key = $1", {key});
  };
  const std::string before = times();
  for (int i = 0; i < 5; ++i) {
    caller.replay(key, standing_payment());
  }
  caller.pay(key, standing_payment().of(2));
  CHECK(times() == before);
}

TEST_CASE("a key is replayed until its last minute and is absent after it, without cleanup") {
  // CLN-04
  const std::string key = fresh_key();
  const Answer first = shop().caller().pay(key, standing_payment());
  const Instance in_time = after(day - 60s);
  expect_replay_of(first, shop().caller_at(in_time).replay(key, standing_payment()));
  const Instance too_late = after(61s);
  const Answer second = shop().caller_at(too_late).pay(key, standing_payment());
  expect_succeeded(second);
  CHECK_FALSE(second.replayed());
  CHECK(payment_id_of(second) != payment_id_of(first));
  CHECK(shop().payments_with_key(key) == 2);
  CHECK(shop().key_rows(key) == 1);
  CHECK(seconds_to_live(key) == 86'400);
  expect_replay_of(second, shop().caller_at(too_late).replay(key, standing_payment()));
}

TEST_CASE("the same holds after a cleanup: an expired key is absent either way") {
  const std::string key = fresh_key();
  const Answer first = shop().caller().pay(key, standing_payment());
  const Instance too_late = after(day + 1s);
  CHECK(shop().database.run_oncepay({"cleanup"}).exit_code == 0);
  // With keys in periods it goes with its partition, when the last one has ended.
  if (!keys_in_periods()) CHECK(shop().key_rows(key) == 0);
  const Answer second = shop().caller_at(too_late).pay(key, standing_payment());
  expect_succeeded(second);
  CHECK(payment_id_of(second) != payment_id_of(first));
}

TEST_CASE("an expired key takes another body") {
  const std::string key = fresh_key();
  shop().caller().pay(key, standing_payment());
  const Instance too_late = after(day + 1s);
  const Answer other = shop().caller_at(too_late).pay(key, standing_payment().of(2));
  expect_succeeded(other);
  CHECK(other.json().at("amount") == 2);
  expect_problem(shop().caller_at(too_late).pay(key, standing_payment()), 422,
                 problems::key_reused);
}

TEST_CASE("an expired key that many claim at once is decided once") {
  // CLN-04
  std::vector<std::string> keys;
  for (int i = 0; i < 10; ++i) {
    keys.push_back(fresh_key());
    shop().caller().pay(keys.back(), standing_payment());
  }
  const Instance one = after(day + 1s);
  const Instance two(shop().database, {"--cleanup=off"});
  for (const std::string& key : keys) {
    const auto answers = all_at_once(32, [&](std::size_t number) {
      return shop().caller_at(number % 2 == 0 ? one : two).pay(key, standing_payment());
    });
    std::string body;
    for (const Answer& answer : answers) {
      CHECK((answer.status == 201 || answer.status == 409));
      if (answer.status == 201) {
        CHECK((body.empty() || body == answer.body));
        body = answer.body;
      }
    }
    CHECK_FALSE(body.empty());
    CHECK(shop().payments_with_key(key) == 2);
    CHECK(shop().key_rows(key) == 1);
  }
  CHECK(broken_books(shop().database) == "");
}

TEST_CASE("CLM-02 a key that vanishes while two claim it is decided once") {
  // The row is removed by somebody who has not committed yet; both claims run into it.
  const std::string key = fresh_key();
  shop().caller().pay(key, standing_payment());
  const Instance::Flags patient{"--cleanup=off", "--lock-timeout=20000"};
  const Instance one = after(day + 1s, patient);
  const Instance two(shop().database, patient);
  Sql remover = shop().database.connect();
  remover.run("BEGIN");
  remover.run("DELETE FROM idempotency_keys WHERE key = $1", {key});
  std::vector<Client> clients;
  for (const Instance* instance : {&one, &two}) {
    clients.emplace_back(instance->port());
    clients.back().connect();
    clients.back().write(shop().caller().payment_request(key, standing_payment()).bytes());
  }
  REQUIRE(eventually([&] {
    return shop().database.sql().number(
               "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
               " AND datname = current_database()") == 2;
  }));
  remover.run("COMMIT");
  int succeeded = 0;
  for (Client& client : clients) {
    const Answer answer = client.read();
    CHECK((answer.status == 201 || answer.status == 409));
    succeeded += answer.status == 201 ? 1 : 0;
  }
  CHECK(succeeded >= 1);
  CHECK(shop().payments_with_key(key) == 2);  // the expired one, and one more
  CHECK(shop().key_rows(key) == 1);
  CHECK(broken_books(shop().database) == "");
}

TEST_CASE("an expired key that is claimed for an unknown account is free afterwards") {
  const std::string key = fresh_key();
  shop().caller().pay(key, standing_payment());
  const Instance too_late = after(day + 1s);
  Payment payment = standing_payment();
  payment.destination = "nobody";
  Caller caller = shop().caller_at(too_late);
  expect_problem(caller.pay(key, payment), 422, problems::account_not_found);
  const Answer second = caller.pay(key, standing_payment());
  expect_succeeded(second);
  CHECK_FALSE(second.replayed());
}

TEST_CASE("an expired key is answered 404 by the state of keys") {
  const std::string key = fresh_key();
  shop().caller().pay(key, standing_payment());
  const Instance too_late = after(day + 1s);
  CHECK(shop().caller_at(too_late).get("/v1/idempotency-keys/" + key).status == 404);
}

TEST_CASE("the payments of an expired key stay on the books and can be read") {
  const std::string key = fresh_key();
  const Answer first = shop().caller().pay(key, standing_payment());
  const Instance too_late = after(day + 1s);
  CHECK(shop().database.run_oncepay({"cleanup"}).exit_code == 0);
  const Answer read = shop().caller_at(too_late).get("/v1/payments/" + payment_id_of(first));
  CHECK(read.json() == first.json());
  CHECK(broken_books(shop().database) == "");
}

TEST_CASE("what an instance remembers of a key ends when the key ends") {
  // The one case that lets time pass: two seconds of it, by the database's clock.
  const Instance brief(shop().database, {"--cleanup=off", "--retention=2"});
  Caller caller = shop().caller_at(brief);
  const std::string key = fresh_key();
  const Answer first = caller.pay(key, standing_payment());
  expect_replay_of(first, caller.replay(key, standing_payment()));
  REQUIRE(eventually([&] {
    return shop().database.sql().holds(
        "SELECT expires_at < clock_timestamp() FROM idempotency_keys WHERE key = $1", {key});
  }));
  const Answer second = caller.pay(key, standing_payment());
  expect_succeeded(second);
  CHECK_FALSE(second.replayed());
  CHECK(payment_id_of(second) != payment_id_of(first));
}

TEST_CASE("G8 zones change nothing: service in Shanghai, database in New York, and swapped") {
  // CLN-03
  struct Zones {
    const char* service;
    const char* database;
  };
  for (const Zones& zones :
       {Zones{"Asia/Shanghai", "America/New_York"}, Zones{"America/New_York", "Asia/Shanghai"}}) {
    INFO(zones.service, " and ", zones.database);
    const Environment environment{{"TZ", zones.service}, {"LC_ALL", "C.UTF-8"}};
    const Instance::Flags flags{"--cleanup=off", "--retention=3600"};
    const Instance before(shop().database, flags, environment);
    const std::string key = fresh_key();
    const Answer first = shop().caller_at(before).pay(key, standing_payment());
    CHECK(first.json().at("created_at").get<std::string>().ends_with("Z"));
    CHECK(seconds_to_live(key) == 3'600);
    // Between create and check, as an operator might.
    shop().database.sql().run("ALTER DATABASE " + shop().database.name() + " SET timezone = '" +
                              zones.database + "'");
    shop().database.reconnect();
    shop().database.age_keys_by(3'540s);
    const Instance in_time(shop().database, flags, environment);
    const Answer replay = shop().caller_at(in_time).replay(key, standing_payment());
    expect_replay_of(first, replay);
    CHECK(shop().caller_at(in_time).get("/v1/payments/" + payment_id_of(first)).json() ==
          first.json());
    shop().database.age_keys_by(61s);
    const Instance too_late(shop().database, flags, environment);
    const Answer second = shop().caller_at(too_late).pay(key, standing_payment());
    CHECK_FALSE(second.replayed());
    CHECK(second.status == 201);
  }
}

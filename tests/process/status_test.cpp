// `oncepay status`: how the service and its database are, for people with the next step for
// whatever is not well, and as JSON for programs.
#include <doctest/doctest.h>

#include <map>
#include <set>

#include "support/names.hpp"
#include "support/problem.hpp"
#include "support/shop.hpp"

namespace {

using namespace support;

Shop& shop() {
  static Shop instance({"--cleanup=off", "--lanes=3"});
  return instance;
}

nlohmann::json status_of(const Database& database) {
  const Finished done = database.run_oncepay({"status", "--json"});
  INFO("status said: ", done.all());
  CHECK(done.exit_code == 0);
  CHECK(std::count(done.out.begin(), done.out.end(), '\n') == 1);
  return nlohmann::json::parse(done.out);
}

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// The hint of the warning that holds this word, or nothing.
std::string next_step(const nlohmann::json& status, const std::string& word) {
  for (const auto& warning : status.at("warnings")) {
    if (holds(warning.at("what"), word)) return warning.at("next");
  }
  return "";
}

}  // namespace

TEST_CASE("status names each instance with its lanes, the payments of the minute and the tables") {
  Caller caller = shop().caller();
  const Payment payment = shop().payment_between_new_accounts();
  const auto before = status_of(shop().database).at("payments_last_minute").get<int>();
  for (int i = 0; i < 5; ++i) expect_succeeded(caller.pay(fresh_key(), payment));
  const Instance other(shop().database, {"--cleanup=off", "--lanes=1"});
  const auto status = status_of(shop().database);
  CHECK(status.at("schema") == status.at("schema_known"));
  CHECK(status.at("payments_last_minute") == before + 5);
  std::map<std::string, int> lanes;
  for (const auto& instance : status.at("instances")) {
    lanes[instance.at("name")] = instance.at("lanes");
    CHECK(instance.at("since_s") >= 0);
  }
  const auto ends_with_pid = [&lanes](pid_t pid) {
    for (const auto& [name, count] : lanes) {
      if (name.ends_with("/" + std::to_string(pid))) return count;
    }
    return -1;
  };
  // The lane for operations that wait apart connects when it has some.
  CHECK(ends_with_pid(shop().instance.pid()) >= 3);
  CHECK(ends_with_pid(other.pid()) >= 1);
  std::set<std::string> tables;
  for (const auto& table : status.at("tables")) {
    tables.insert(table.at("name"));
    CHECK(table.at("table_bytes") > 0);
    CHECK(table.at("index_bytes") > 0);
  }
  CHECK(tables == std::set<std::string>{"accounts", "idempotency_keys", "payments", "transfers"});
  CHECK(status.at("violations") == 0);
  CHECK(status.at("warnings").empty());
}

TEST_CASE("status says the same in words") {
  const Finished done = shop().database.run_oncepay({"status"});
  CHECK(done.exit_code == 0);
  for (const char* word :
       {"schema     version", "server     PostgreSQL", "instances  1", "payments   ",
        "expired    0 keys", "cleaner    idle", "table      idempotency_keys: ", "snapshot   ",
        "sessions   ", "books      balances add up to zero"}) {
    INFO(done.out);
    CHECK(holds(done.out, word));
  }
  CHECK_FALSE(holds(done.out, "WARNING"));
  CHECK(done.err.empty());
}

TEST_CASE("status warns of late cleanup, and of nothing once it has run") {
  const std::string model = fresh_key();
  expect_succeeded(shop().caller().pay(model, shop().payment_between_new_accounts()));
  shop().database.copy_key(model, model + "-", 9);
  shop().database.age_keys_by(std::chrono::hours(27));
  const auto late = status_of(shop().database);
  CHECK(late.at("expired_keys") >= 10);
  CHECK(late.at("oldest_expired_s") >= 3 * 3600);
  CHECK(holds(next_step(late, "cleanup is late"), "oncepay cleanup"));
  CHECK(holds(shop().database.run_oncepay({"status"}).out, "WARNING: cleanup is late"));
  shop().database.sql().run("DELETE FROM idempotency_keys");  // copies, no payments of their own
  const auto clean = status_of(shop().database);
  CHECK(clean.at("expired_keys") == 0);
  CHECK(next_step(clean, "cleanup") == "");
}

TEST_CASE("status sees that the books do not balance, and a cleaner at work") {
  Sql damage = shop().database.connect();
  damage.run("BEGIN; SELECT pg_advisory_xact_lock(1869505381, 2)");
  CHECK(status_of(shop().database).at("cleaner_at_work") == true);
  damage.run("ROLLBACK");
  const Payment payment = shop().payment_between_new_accounts();
  damage.run("UPDATE accounts SET balance = balance + 1 WHERE id = $1", {payment.destination});
  const auto status = status_of(shop().database);
  CHECK(status.at("violations") == 1);
  CHECK(holds(next_step(status, "books"), "oncepay verify"));
  damage.run("UPDATE accounts SET balance = balance - 1 WHERE id = $1", {payment.destination});
  CHECK(status_of(shop().database).at("violations") == 0);
}

TEST_CASE("status without an instance, or without a schema, says what to do") {
  Database database;
  CHECK(holds(next_step(status_of(database), "no instance"), "oncepay serve"));
  Database empty = Database::empty();
  const auto status = status_of(empty);
  CHECK(status.at("schema") == 0);
  CHECK(holds(next_step(status, "schema"), "migrate up"));
  CHECK(holds(empty.run_oncepay({"status"}).out, "HINT: run oncepay migrate up"));
}

TEST_CASE("status of a database that is not there exits 1 and says what to check") {
  const Finished failed = run(
      oncepay({"status"}, {{"ONCEPAY_DATABASE_URL", "postgresql://nobody@127.0.0.1:1/nothing"}}));
  CHECK(failed.exit_code == 1);
  CHECK(holds(failed.err, "HINT:"));
}

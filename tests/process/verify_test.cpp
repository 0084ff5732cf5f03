// `oncepay verify`: checks G5 and the key table against the books, prints each violation, exits 1
// if there is any. Each violation is made by hand, behind every constraint and trigger, and mended
// again.
#include <doctest/doctest.h>

#include "support/names.hpp"
#include "support/problem.hpp"
#include "support/scrape.hpp"
#include "support/shop.hpp"

namespace {

using namespace support;

Shop& shop() {
  static Shop instance;
  return instance;
}

struct Booked {
  Payment payment = shop().payment_between_new_accounts(40, 100);
  std::string key = fresh_key();
  std::string id = payment_id_of(shop().caller().pay(key, payment));
};

// Does something that no constraint or trigger would allow. Undone as a whole at the end.
class Damage {
 public:
  explicit Damage(const std::string& statement, const Sql::Parameters& parameters = {})
      : session_(shop().database.url()) {
    // Triggers and foreign keys sleep for a replica; CHECKs are dropped for the time being.
    session_.run("SET session_replication_role = replica");
    for (const char* table : {"accounts", "transfers", "payments", "idempotency_keys"}) {
      session_.run(std::string("CREATE TABLE kept_") + table + " AS TABLE " + table);
    }
    for (const Row& row : session_.rows(
             "SELECT conrelid::regclass, conname, pg_get_constraintdef(oid) FROM pg_constraint"
             " WHERE contype = 'c' AND conrelid IN ('accounts'::regclass, "
             "'transfers'::regclass)")) {
      session_.run("ALTER TABLE " + *row[0] + " DROP CONSTRAINT " + *row[1]);
      constraints_.push_back("ALTER TABLE " + *row[0] + " ADD CONSTRAINT " + *row[1] + " " +
                             *row[2]);
    }
    touched = session_.run(statement, parameters);
  }
  Damage(const Damage&) = delete;
  Damage& operator=(const Damage&) = delete;
  ~Damage() {
    for (const char* table : {"idempotency_keys", "transfers", "payments", "accounts"}) {
      session_.run(std::string("DELETE FROM ") + table);
      session_.run(std::string("INSERT INTO ") + table + " OVERRIDING SYSTEM VALUE TABLE kept_" +
                   table);
      session_.run(std::string("DROP TABLE kept_") + table);
    }
    for (const std::string& statement : constraints_) {
      session_.run(statement);
    }
  }

  std::int64_t touched = 0;

 private:
  Sql session_;
  std::vector<std::string> constraints_;
};

void expect_violation(const std::string& named) {
  const Finished verified = shop().database.run_oncepay({"verify"});
  INFO("verify said: ", verified.all());
  CHECK(verified.exit_code == 1);
  INFO("must name: ", named);
  CHECK(verified.all().find(named) != std::string::npos);
}

}  // namespace

TEST_CASE("books that balance are said to: exit 0, also on empty ones") {
  const Database empty;
  CHECK(empty.run_oncepay({"verify"}).exit_code == 0);
  const Booked booked;
  CHECK(broken_books(shop().database) == "");
}

TEST_CASE("a balance that is not the sum of its entries is a violation") {
  const Booked booked;
  const Damage damage("UPDATE accounts SET balance = balance + 1 WHERE id = $1",
                      {booked.payment.source});
  CHECK(damage.touched == 1);
  expect_violation(booked.payment.source);
}

TEST_CASE("a balance under its floor is a violation, whoever dropped the constraint") {
  const Booked booked;
  const Damage damage("UPDATE accounts SET overdraft_limit = -61 WHERE id = $1",
                      {booked.payment.source});
  CHECK(damage.touched == 1);
  expect_violation(booked.payment.source);
}

TEST_CASE("a succeeded payment without its transfer is a violation") {
  const Booked booked;
  const Damage damage("DELETE FROM transfers WHERE payment_id = $1", {booked.id});
  CHECK(damage.touched == 1);
  expect_violation(booked.id);
}

TEST_CASE("a transfer of another amount than its payment is a violation") {
  const Booked booked;
  const Damage damage("UPDATE transfers SET amount = amount + 1 WHERE payment_id = $1",
                      {booked.id});
  CHECK(damage.touched == 1);
  expect_violation(booked.id);
}

TEST_CASE("a balance after an entry that does not follow from the one before is a violation") {
  const Booked booked;
  const Damage damage(
      "UPDATE transfers SET debit_balance_after = debit_balance_after + 1 WHERE payment_id = $1",
      {booked.id});
  CHECK(damage.touched == 1);
  expect_violation(booked.payment.source);
}

TEST_CASE("a completed key whose payment is not there is a violation") {
  const Booked booked;
  const Damage damage("DELETE FROM payments WHERE id = $1", {booked.id});
  CHECK(damage.touched == 1);
  expect_violation(booked.id);
}

TEST_CASE("a key that points to another key's payment is a violation") {
  const Booked booked;
  const Booked other;
  const Damage damage("UPDATE idempotency_keys SET resource_id = $1 WHERE key = $2",
                      {other.id, booked.key});
  CHECK(damage.touched == 1);
  expect_violation(other.id);
}

TEST_CASE("two payments under one living key are a violation") {
  // G1 itself: N(payments) per key ≤ 1.
  const Booked booked;
  const Damage damage(
      "INSERT INTO payments SELECT (copy).* FROM (SELECT jsonb_populate_record(p,"
      " jsonb_build_object('id', '0197f3c2-0000-7000-8000-00000000000a', 'status', 'declined'))"
      " AS copy FROM payments p WHERE id = $1) copies",
      {booked.id});
  CHECK(damage.touched == 1);
  expect_violation("0197f3c2-0000-7000-8000-00000000000a");
}

TEST_CASE("what verify found is also written for a collector of metrics, whole or not at all") {
  const std::string file = scratch_file("verify.prom");
  {
    const Booked booked;
    const Damage damage("UPDATE accounts SET balance = balance + 1 WHERE id = $1",
                        {booked.payment.destination});
    CHECK(shop().database.run_oncepay({"verify", "--metrics-file", file}).exit_code == 1);
    const Scrape found(contents_of(file));
    CHECK(found.value("oncepay_verify_violations{rule=\"balances\"}") == 1);
    CHECK(found.value("oncepay_verify_violations{rule=\"currency-sums\"}") == 1);
    CHECK(found.has("oncepay_verify_violations{rule=\"keys\"}"));
  }
  CHECK(shop().database.run_oncepay({"verify", "--metrics-file", file}).exit_code == 0);
  const Scrape well(contents_of(file));
  CHECK(well.value("oncepay_verify_violations{rule=\"balances\"}") == 0);
  CHECK(well.value("oncepay_verify_timestamp_seconds") > 1'700'000'000);
  const Finished nowhere =
      shop().database.run_oncepay({"verify", "--metrics-file", "/nowhere/verify.prom"});
  CHECK(nowhere.exit_code == 1);
  CHECK(nowhere.err.find("--metrics-file") != std::string::npos);
}

TEST_CASE(
    "a sample finds what is wrong with the accounts that are in it, and says it is a sample") {
  const Booked booked;
  {
    const Damage damage(
        "UPDATE transfers SET debit_balance_after = debit_balance_after + 1 WHERE payment_id = $1",
        {booked.id});
    const Finished all = shop().database.run_oncepay({"verify", "--sample-accounts=1000000"});
    CHECK(all.exit_code == 1);
    CHECK(all.out.find("violation: sample") != std::string::npos);
    CHECK(all.out.find(booked.payment.source) != std::string::npos);
  }
  {
    const Damage damage("UPDATE accounts SET balance = balance + 1 WHERE id = $1",
                        {booked.payment.destination});
    const Finished all = shop().database.run_oncepay({"verify", "--sample-accounts=1000000"});
    CHECK(all.exit_code == 1);
    CHECK(all.out.find("violation: sample") != std::string::npos);
    CHECK(all.out.find("violation: currency-sums") != std::string::npos);
  }
  const Finished well = shop().database.run_oncepay({"verify", "--sample-accounts=2"});
  CHECK(well.exit_code == 0);
  CHECK(well.out.find("the sample balances") != std::string::npos);
  CHECK(well.err.empty());  // progress is for terminals
}

TEST_CASE("after all repairs the books balance again") { expect_recovered(shop()); }

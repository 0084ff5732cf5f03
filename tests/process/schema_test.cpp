// What the tables themselves promise, to anybody who comes past the service with SQL in hand (G5):
// constraints refuse what may not be, transfers are never changed, and time has a zone.
#include <doctest/doctest.h>

#include "support/names.hpp"
#include "support/problem.hpp"
#include "support/shop.hpp"

namespace {

using namespace support;

Shop& shop() {
  static Shop instance;
  return instance;
}

Sql& sql() { return shop().database.sql(); }

const Payment& paid() {
  static const Payment payment = [] {
    Payment made = shop().payment_between_new_accounts(100, 1000);
    expect_succeeded(shop().caller().pay(fresh_key(), made));
    return made;
  }();
  return payment;
}

// Inserts a copy of the newest transfer with some columns changed (JSON); the SQLSTATE.
std::string insert_transfer_with(const std::string& changes) {
  return sql().sqlstate_of(
      "INSERT INTO transfers OVERRIDING SYSTEM VALUE SELECT (copy).* FROM"
      " (SELECT jsonb_populate_record(t, $1::jsonb) AS"
      " copy FROM transfers t ORDER BY id DESC LIMIT 1) copies",
      {changes});
}

constexpr const char* check_violation = "23514";

}  // namespace

TEST_CASE("MNY-06 the database refuses a transfer of nothing, of less, or to itself") {
  paid();
  CHECK(insert_transfer_with(R"({"amount":0})") == check_violation);
  CHECK(insert_transfer_with(R"({"amount":-1})") == check_violation);
  CHECK(insert_transfer_with(R"({"debit_account":")" + paid().source + R"(","credit_account":")" +
                             paid().source + R"("})") == check_violation);
}

TEST_CASE("MNY-06 the database refuses a payment of nothing, of less, or to itself") {
  paid();
  const auto insert_payment_with = [](const std::string& changes) {
    return sql().sqlstate_of(
        "INSERT INTO payments SELECT (copy).* FROM (SELECT jsonb_populate_record(p, $1::jsonb) AS"
        " copy FROM payments p LIMIT 1) copies",
        {changes});
  };
  const std::string id = R"("id":"0197f3c2-0000-7000-8000-000000000001",)";
  CHECK(insert_payment_with("{" + id + R"("amount":0})") == check_violation);
  CHECK(insert_payment_with("{" + id + R"("amount":-1})") == check_violation);
  CHECK(insert_payment_with("{" + id + R"("source":"a","destination":"a"})") == check_violation);
  CHECK(insert_payment_with("{" + id + R"("status":"perhaps"})") == check_violation);
}

TEST_CASE("G5 the database keeps the floor of an account") {
  paid();
  CHECK(sql().sqlstate_of("UPDATE accounts SET balance = -1 WHERE id = $1", {paid().source}) ==
        check_violation);
  CHECK(sql().sqlstate_of("UPDATE accounts SET overdraft_limit = -1 WHERE id = $1",
                          {paid().source}) == check_violation);
}

TEST_CASE("G5 transfers are never updated, deleted or truncated: the database refuses") {
  paid();
  const std::int64_t before = sql().number("SELECT count(*) FROM transfers");
  CHECK(sql().sqlstate_of("UPDATE transfers SET amount = amount + 1") != "00000");
  CHECK(sql().sqlstate_of("UPDATE transfers SET amount = amount WHERE debit_account = $1",
                          {paid().source}) != "00000");
  CHECK(sql().sqlstate_of("DELETE FROM transfers") != "00000");
  CHECK(sql().sqlstate_of("TRUNCATE transfers CASCADE") != "00000");
  CHECK(sql().number("SELECT count(*) FROM transfers") == before);
}

TEST_CASE("G1 the database itself admits one row for a tenant's key") {
  paid();
  CHECK(sql().sqlstate_of("INSERT INTO idempotency_keys SELECT * FROM idempotency_keys LIMIT 1") ==
        "23505");
}

TEST_CASE("every time has a zone, every table is durable, every index is valid") {
  // CLN-03, CMT-09, CLN-08
  CHECK(sql().number("SELECT count(*) FROM information_schema.columns WHERE table_schema = 'public'"
                     " AND data_type IN ('timestamp without time zone', 'time without time zone',"
                     " 'date')") == 0);
  CHECK(sql().number("SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace"
                     " AND relpersistence <> 'p'") == 0);
  CHECK(sql().number("SELECT count(*) FROM pg_index WHERE NOT indisvalid") == 0);
}

TEST_CASE("the tables of the design are there, each with a comment, and money is bigint") {
  for (const char* table : {"tenants", "api_keys", "accounts", "payments", "transfers",
                            "idempotency_keys", "schema_migrations"}) {
    INFO("table: ", table);
    CHECK(sql().number("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'"
                       " AND tablename = $1",
                       {table}) == 1);
    CHECK(sql().holds("SELECT obj_description($1::regclass, 'pg_class') IS NOT NULL",
                      {std::string("public.") + table}));
  }
  CHECK(sql().number("SELECT count(*) FROM information_schema.columns WHERE table_schema = 'public'"
                     " AND (column_name LIKE '%amount%' OR column_name LIKE '%balance%')"
                     " AND data_type <> 'bigint'") == 0);
}

TEST_CASE("stored answers are bytes: jsonb would reorder them") {
  // RPL-02
  CHECK(sql().text("SELECT data_type FROM information_schema.columns WHERE table_name ="
                   " 'idempotency_keys' AND column_name = 'answer_body'") == "bytea");
  const std::string key = fresh_key();
  const Answer answer = shop().caller().pay(key, paid());
  CHECK(sql().text("SELECT convert_from(answer_body, 'UTF8') FROM idempotency_keys WHERE key = $1",
                   {key}) == answer.body);
}

TEST_CASE("what a payment leaves behind: one payment, one transfer with both balances, one key") {
  const Payment payment = shop().payment_between_new_accounts(40, 100);
  const std::string key = fresh_key();
  const std::string id = payment_id_of(shop().caller().pay(key, payment));
  const std::vector<Row> transfers = sql().rows(
      "SELECT debit_account, credit_account, amount, debit_balance_after,"
      " credit_balance_after FROM transfers WHERE payment_id = $1",
      {id});
  REQUIRE(transfers.size() == 1);
  CHECK(transfers[0] == Row{payment.source, payment.destination, "40", "60", "40"});
  CHECK(sql().number("SELECT count(*) FROM idempotency_keys WHERE key = $1 AND resource_id = $2"
                     " AND status = 'completed' AND answer_status = 201",
                     {key, id}) == 1);
}

TEST_CASE("a decline leaves a payment and a key but no transfer") {
  const Payment payment = shop().payment_between_new_accounts(400, 100);
  const std::string key = fresh_key();
  const std::string id = payment_id_of(shop().caller().pay(key, payment));
  CHECK(shop().payments_with_key(key) == 1);
  CHECK(sql().number("SELECT count(*) FROM transfers WHERE payment_id = $1", {id}) == 0);
  CHECK(sql().number("SELECT answer_status FROM idempotency_keys WHERE key = $1", {key}) == 402);
}

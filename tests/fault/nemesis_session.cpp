#include <stdexcept>

#include "fault/nemesis.hpp"
#include "support/dying_backend.hpp"
#include "support/holds.hpp"

namespace fault {
namespace {

using support::Payment;
using support::Sql;

constexpr int junk_keys = 2500;  // of cleanup: more than two batches

std::string model_key(Field& field) {
  return field.database.sql().text(
      "SELECT key FROM idempotency_keys WHERE tenant_id = $1 AND answer_status = 201"
      " AND resource_id NOT LIKE 'accounts/%' LIMIT 1",
      {field.tenant.id});
}

// The session that is at this step of a batch ends: its statement does not arrive, or arrives and
// is not answered.
std::function<void(Field&, Random&)> session_ends(const std::string& step, Strike::When when) {
  return [=](Field& field, Random& random) {
    Gate& gate = field.any_post(random).to_database;
    const std::string url = field.cluster.url();
    Strike strike{step, when, Strike::Then::pass, nullptr};
    strike.act = [url](int pid) {
      Sql(url).run("SELECT pg_terminate_backend($1::int, 2000)", {std::to_string(pid)});
    };
    gate.arm(strike);
    const bool struck = support::eventually([&] { return gate.struck(); }, 10s);
    gate.disarm();
    if (!struck) throw std::runtime_error("no batch came to this step");
  };
}

void session_ends_inside_commit(Field& field, Random& random) {
  support::DyingBackend backend(field.database, support::DyingBackend::When::inside_commit,
                                1 + static_cast<int>(random() % 3));
  if (!support::eventually([&] { return backend.deaths() > 0; }, 10s)) {
    throw std::runtime_error("no session died inside COMMIT");
  }
}

void sessions_end(Field& field, Random& random) {
  Sql sql = field.database.connect();
  std::size_t ended = 0;
  for (int i = 0; i < 20; ++i) {
    ended += sql.rows(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                    " WHERE datname = current_database() AND backend_type = 'client backend'"
                    " AND application_name <> $1 ORDER BY random() LIMIT 2",
                    {support::test_session})
                 .size();
    last(random, 20ms, 60ms);
  }
  if (ended == 0) throw std::runtime_error("no session was there to be ended");
}

// Another instance stands still in the middle of its transaction, with a claim that customers want.
void hold_key(Field& field, Random& random) {
  const std::string key = support::fresh_key();
  const Payment payment{1, "EUR", field.accounts()[0], field.accounts()[1]};
  support::KeyHold hold(field.database, model_key(field), key);
  for (std::size_t i = 0; i < field.posts(); ++i) {
    Post& post = field.post(i);
    support::Client client(post.to_service.port(), 5s);
    pay_once(client, payment_request(field.tenant, key, payment),
             {"key holder", key, payment, post.name, 0, 0, std::nullopt, ""}, field.recorder);
  }
  last(random, 200ms, 800ms);
  hold.abandon();
  settle(field, key, payment, "key holder");
}

void hold_account(Field& field, Random& random) {
  const std::string& account = field.accounts()[1 + random() % (field.accounts().size() - 1)];
  support::AccountHold hold(field.database, field.tenant.id, account);
  if (!hold.somebody_waits()) throw std::runtime_error("nobody wanted the account");
  last(random, 500ms, 1500ms);
  hold.release();
}

std::function<void(Field&, Random&)> hold_table(const std::string& table) {
  return [=](Field& field, Random& random) {
    Sql session = field.database.connect();
    session.run("BEGIN");
    session.run("LOCK TABLE " + table + " IN ACCESS EXCLUSIVE MODE");
    last(random, 700ms, 1500ms);
    session.run("ROLLBACK");
  };
}

// Somebody reads since before the keys expired; cleanup removes them all the same, under load.
void old_snapshot(Field& field, Random& random) {
  Sql reader = field.database.connect();
  reader.run("BEGIN ISOLATION LEVEL REPEATABLE READ");
  reader.number("SELECT count(*) FROM idempotency_keys");
  const std::string prefix = support::fresh_name("expired-");
  Sql& sql = field.database.sql();
  sql.run("BEGIN");
  field.database.copy_key(model_key(field), prefix, junk_keys);
  sql.run(
      "UPDATE idempotency_keys SET created_at = created_at - interval '2 days',"
      " expires_at = expires_at - interval '2 days' WHERE key LIKE $1",
      {prefix + "%"});
  sql.run("COMMIT");
  const auto cleaned = field.database.run_oncepay({"cleanup"});
  last(random, 100ms, 500ms);
  // Whoever does not get the turn leaves it to the one that cleans right now.
  const bool gone = cleaned.exit_code == 0 && support::eventually([&] {
                      return sql.number("SELECT count(*) FROM idempotency_keys WHERE key LIKE $1",
                                        {prefix + "%"}) == 0;
                    });
  if (!gone) throw std::runtime_error("expired keys were not removed: " + cleaned.all());
  reader.run("ROLLBACK");
}

}  // namespace

std::vector<Nemesis> session_nemeses() {
  using When = Strike::When;
  std::vector<Nemesis> all{{"sessions end at random", sessions_end},
                           {"a session ends inside COMMIT", session_ends_inside_commit},
                           {"a session holds a key", hold_key},
                           {"a session holds an account", hold_account},
                           {"a session holds the table of keys", hold_table("idempotency_keys")},
                           {"a session holds the table of accounts", hold_table("accounts")},
                           {"a session holds the table of payments", hold_table("payments")},
                           {"an old snapshot while expired keys are removed", old_snapshot}};
  for (const std::string step : {"once.claim_keys", "payments.lock_accounts",
                                 "payments.settle_payments", "once.complete_keys", "COMMIT"}) {
    all.push_back({"the session ends before " + step, session_ends(step, When::before)});
    all.push_back({"the session ends after " + step, session_ends(step, When::after)});
  }
  return all;
}

}  // namespace fault

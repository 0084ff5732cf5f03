// Stopped at each step: before and after each round trip of a payment's transaction the instance is
// killed, its session is ended, or the connection is lost; then what the client saw, what is left,
// and what the next request gets. The table in README.md is what this run sees.
//
// A process that is killed leaves what it has sent and nothing else, so every moment that can be
// told apart from outside lies between two messages; the gate holds the message and does the harm.
// The binary is the product's own, with no stop points built in.
#include <doctest/doctest.h>
#include <signal.h>

#include <fstream>
#include <set>

#include "fault/nemesis.hpp"
#include "fault/verdict.hpp"

namespace {

using namespace fault;
using support::Payment;

Field& field() {
  // One lane, so that the connection is known, and a batch that has nothing to prepare.
  static Field instance({.posts = 2, .flags = {"--lanes=1", "--cleanup=off"}, .server = {}}, 1);
  return instance;
}

Post& victim() { return field().post(0); }

// One that succeeds, and one that is declined: that takes a step more.
const Payment& payment(int outcome) {
  static const Payment succeeds{1, "EUR", field().accounts()[0], field().accounts()[1]};
  static const Payment declined{9'000'000, "EUR", field().accounts()[1], field().accounts()[0]};
  return outcome == 201 ? succeeds : declined;
}

std::string sent_to(Post& post, const std::string& key, int outcome) {
  support::Client client(post.to_service.port(), 10s);
  const Payment& sent = payment(outcome);
  const auto seen =
      pay_once(client, payment_request(field().tenant, key, sent),
               {"a client", key, sent, post.name, 0, 0, std::nullopt, ""}, field().recorder);
  if (!seen) return "nothing";
  return std::to_string(seen->status) + (seen->replayed ? " replayed" : "");
}

// Once the dead instance's session has noticed, as far as it still runs.
std::string state_left(const std::string& key) {
  support::Sql& sql = field().database.sql();
  CHECK(support::eventually([&] {
    return sql.number(
               "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
               " AND application_name <> $1 AND state LIKE '%in transaction%'",
               {support::test_session}) == 0;
  }));
  const auto keys = field().database.key_rows(field().tenant.id, key);
  const auto payments = field().database.payments_with_key(field().tenant.id, key);
  if (keys == 0 && payments == 0) return "nothing";
  if (keys == 1 && payments == 1) return "all of it";
  return std::to_string(keys) + " keys and " + std::to_string(payments) + " payments";
}

// A payment that is alone takes one round trip if it succeeds and the one before it did; after a
// decline it takes them all. So the way that a payment goes depends on the one before it.
void warm_up(Post& post, int last) {
  const int other = last == 201 ? 402 : 201;
  for (const int outcome : {other, last}) {
    CHECK(sent_to(post, support::fresh_key(), outcome) == std::to_string(outcome));
  }
}

struct Stop {
  std::string at;
  Strike::When when;
  int outcome;
  int before;  // the outcome of the payment before it
  std::string name() const {
    return std::string(when == Strike::When::before ? "before" : "after") + " `" + at + "`" +
           (outcome == 402 ? " of a decline" : "");
  }
};

std::vector<Stop> all_stops() {
  std::vector<Stop> stops;
  std::set<std::string> known{"BEGIN"};  // a ping has one too; after it is before the claim
  for (const auto& [outcome, before] : {std::pair(201, 201), {201, 402}, {402, 402}}) {
    warm_up(victim(), before);
    CHECK(sent_to(victim(), support::fresh_key(), outcome) == std::to_string(outcome));
    for (const std::string& trip : victim().to_database.last_batch()) {
      if (!known.insert(trip).second) continue;
      stops.push_back({trip, Strike::When::before, outcome, before});
      stops.push_back({trip, Strike::When::after, outcome, before});
    }
  }
  return stops;
}

struct Row {
  std::string client_saw;
  std::string left;
  std::string next;
};

Row strike(const Stop& stop, Strike::Then then, const std::function<void(int)>& act) {
  const std::string key = support::fresh_key();
  warm_up(victim(), stop.before);
  victim().to_database.arm({stop.at, stop.when, then, act});
  Row row;
  row.client_saw = sent_to(victim(), key, stop.outcome);
  CHECK(victim().to_database.struck());
  row.left = state_left(key);
  row.next = sent_to(field().post(1), key, stop.outcome);
  CHECK(field().database.payments_with_key(field().tenant.id, key) == 1);
  return row;
}

Row kill_at(const Stop& stop) {
  const pid_t pid = victim().pid();
  const Row row = strike(stop, Strike::Then::lose, [pid](int) { ::kill(pid, SIGKILL); });
  victim().instance->kill_hard();
  victim().start();
  return row;
}

Row end_session_at(const Stop& stop) {
  return strike(stop, Strike::Then::pass, [](int backend) {
    support::Sql(field().cluster.url())
        .run("SELECT pg_terminate_backend($1::int, 2000)", {std::to_string(backend)});
  });
}

Row lose_connection_at(const Stop& stop) { return strike(stop, Strike::Then::lose, nullptr); }

// The commit is acknowledged and the answer is on its way when the instance dies.
Row kill_with_the_answer_on_its_way() {
  const std::string key = support::fresh_key();
  victim().to_service.turn({Weather::loses_answer});
  Row row;
  row.client_saw = sent_to(victim(), key, 201);
  victim().instance->kill_hard();
  victim().to_service.clear();
  row.left = state_left(key);
  row.next = sent_to(field().post(1), key, 201);
  victim().start();
  return row;
}

std::string line(const std::string& stop, const Row& killed, const Row& session,
                 const Row& connection) {
  std::string text = "| " + stop;
  for (const std::string& cell : {killed.client_saw, killed.left, killed.next, session.client_saw,
                                  session.next, connection.client_saw, connection.next}) {
    text += " | " + cell;
  }
  return text + " |\n";
}

// The rows below the head of the table that follows the mark in README.md.
std::string table_in_readme() {
  std::ifstream readme("README.md");
  std::string rows;
  bool inside = false;
  int skip = 2;  // the head and its rule
  for (std::string text; std::getline(readme, text);) {
    if (text == "<!-- stops -->") inside = true;
    if (!inside || !text.starts_with("|")) {
      if (inside && !rows.empty()) break;
      continue;
    }
    if (skip-- > 0) continue;
    rows += text + "\n";
  }
  return rows;
}

}  // namespace

TEST_CASE("G2 G3 G6 stopped at any step: what clients see, what is left, what the next one gets") {
  std::string table;
  for (const Stop& stop : all_stops()) {
    INFO("stopped ", stop.name());
    const Row killed = kill_at(stop);
    const Row session = end_session_at(stop);
    const Row connection = lose_connection_at(stop);
    CHECK(killed.client_saw == "nothing");
    const bool committed = stop.at.ends_with("COMMIT") && stop.when == Strike::When::after;
    CHECK(killed.left == (committed ? "all of it" : "nothing"));
    const std::string first = std::to_string(stop.outcome);
    CHECK(killed.next == (committed ? first + " replayed" : first));
    // An instance that lives finds out by itself: its client notices nothing.
    for (const Row& row : {session, connection}) {
      CHECK(row.client_saw == first);
      CHECK(row.left == "all of it");
      CHECK(row.next == first + " replayed");
    }
    table += line(stop.name(), killed, session, connection);
  }
  const Row last = kill_with_the_answer_on_its_way();
  CHECK(last.left == "all of it");
  CHECK(last.next == "201 replayed");
  table += "| after the answer was sent | " + last.client_saw + " | " + last.left + " | " +
           last.next + " | – | – | – | – |\n";
  field().expect_recovered();
  const Verdict verdict = judge(field());
  INFO(verdict.text());
  CHECK(verdict.violations.empty());
  INFO("the table that README.md should hold after <!-- stops -->:\n", table);
  CHECK(table_in_readme() == table);
}

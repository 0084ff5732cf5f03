#include <doctest/doctest.h>

#include <map>
#include <random>

#include "once/engine_fixture.hpp"
#include "support/naive_ledger.hpp"

namespace oncepay::test {

namespace {

constexpr std::uint32_t seed = 20'261'129;
struct Rounds {
  int rounds;
  int calls_a_round;  // at once; one alone takes another way than many
};
constexpr Rounds runs[] = {{150, 40}, {1'500, 1}};
constexpr int accounts = 5;

using Random = std::mt19937;

int pick(Random& random, int from, int to) {
  return std::uniform_int_distribution<int>(from, to)(random);
}

struct Call {
  std::string key;
  NaivePayment payment;
  std::future<Resolution> future;
};

std::string body_of(const NaivePayment& payment) {
  return payment.source + ">" + payment.destination + std::to_string(payment.amount);
}

std::string model_answer(const std::string& outcome) {
  if (outcome == "succeeded") return "201";
  if (outcome == "insufficient-funds" || outcome == "balance-limit") return "402";
  return "refused";
}

// One lane, so that the order of arrival is the order of decision and the model can follow; the
// batches form by themselves, with repeated keys, changed requests, unknown accounts and declines
// among them.
void follow_the_model(int rounds, int calls_a_round) {
  once::EngineSettings settings;
  settings.lanes = 1;
  EngineFixture fixture(settings);
  NaiveLedger model;
  Random random(seed);
  for (int i = 0; i < accounts; ++i) {
    const std::string id = "acc" + std::to_string(i);
    const bool no_floor = i == 0;
    fixture.add_account(id, 0, no_floor ? "null" : std::to_string(i * 10));
    model.accounts[id] = {"EUR", 0, no_floor ? std::nullopt : std::optional<std::int64_t>(i * 10)};
  }
  std::map<std::string, std::pair<std::string, std::string>> decided;  // key → request, answer body
  for (int round = 0; round < rounds; ++round) {
    std::vector<Call> calls;
    for (int i = 0; i < calls_a_round; ++i) {
      NaivePayment payment{"acc" + std::to_string(pick(random, 0, accounts)),
                           "acc" + std::to_string(pick(random, 0, accounts - 1)),
                           pick(random, 1, 40), "EUR"};
      if (payment.source == payment.destination) payment.source = "nobody";
      // Of this round's own new keys, or one of any round before: never twice in a round, where the
      // answer would depend on who is still running.
      const bool repeat = !decided.empty() && pick(random, 0, 3) == 0;
      std::string key = "r" + std::to_string(round) + "." + std::to_string(i);
      if (repeat) {
        auto old = decided.begin();
        std::advance(old, pick(random, 0, static_cast<int>(decided.size()) - 1));
        key = old->first;
      }
      bool twice = false;
      for (const auto& call : calls) twice = twice || call.key == key;
      if (twice) continue;
      auto operation = fixture.payment(key, payment.source, payment.destination, payment.amount);
      calls.push_back({key, payment, fixture.submit(std::move(operation))});
    }
    for (auto& call : calls) {
      const Resolution resolution = call.future.get();
      const std::string text = text_of(resolution);
      CAPTURE(call.key);
      const auto known = decided.find(call.key);
      if (known != decided.end()) {
        const bool same = known->second.first == body_of(call.payment);
        REQUIRE(text.find(same ? "replay" : "mismatch") != std::string::npos);
        if (same) REQUIRE(std::get<once::Answered>(resolution).answer.body == known->second.second);
        continue;
      }
      const std::string expected = model_answer(model.pay(call.payment));
      REQUIRE(text.substr(0, expected.size()) == expected);
      if (expected != "refused") {
        decided[call.key] = {body_of(call.payment),
                             std::get<once::Answered>(resolution).answer.body};
      }
    }
    for (const auto& [id, account] : model.accounts) {
      REQUIRE(fixture.balance_of(id) == static_cast<std::int64_t>(account.balance));
    }
  }
  CHECK(fixture.database.payments() == static_cast<std::int64_t>(decided.size()));
  CHECK(support::broken_books(fixture.database) == "");
}

}  // namespace

TEST_CASE("G1 G5 the engine on a database does what the naive model does") {
  for (const auto& [rounds, calls_a_round] : runs) {
    CAPTURE(calls_a_round);
    follow_the_model(rounds, calls_a_round);
  }
}

}  // namespace oncepay::test

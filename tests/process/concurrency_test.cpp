// G1: of any number of requests with one tenant, key and fingerprint at most one is decided. Many
// callers, several instances, one gate; afterwards the books are asked, not the answers alone.
#include <doctest/doctest.h>

#include <barrier>
#include <map>

#include "support/crowd.hpp"
#include "support/names.hpp"
#include "support/problem.hpp"
#include "support/shop.hpp"

namespace {

using namespace support;

struct Stage {
  Shop shop;
  Instance second{shop.database};

  const Instance& instance(std::size_t caller) const {
    return caller % 2 == 0 ? shop.instance : second;
  }
};

Stage& stage() {
  static Stage instance;
  return instance;
}

struct Attempt {
  int status = 0;
  std::string body;
  bool replayed = false;
};

// Everybody sends `request_of(caller, round)` at once, round by round. Attempts by round.
template <typename RequestOf>
std::vector<std::vector<Attempt>> rounds_of_everybody(std::size_t callers, std::size_t rounds,
                                                      RequestOf request_of) {
  std::barrier gate(static_cast<std::ptrdiff_t>(callers));
  const auto by_caller = all_at_once(callers, [&](std::size_t caller_number) {
    std::vector<Attempt> attempts;
    try {
      Caller caller = stage().shop.caller_at(stage().instance(caller_number));
      for (std::size_t round = 0; round < rounds; ++round) {
        const Request request = request_of(caller_number, round);
        gate.arrive_and_wait();
        const Answer answer = caller.send(request);
        attempts.push_back({answer.status, answer.body, answer.replayed()});
      }
    } catch (...) {
      gate.arrive_and_drop();  // the others must not wait for who has failed
      throw;
    }
    return attempts;
  });
  std::vector<std::vector<Attempt>> by_round(rounds);
  for (const auto& attempts : by_caller) {
    for (std::size_t round = 0; round < rounds; ++round) {
      by_round[round].push_back(attempts[round]);
    }
  }
  return by_round;
}

std::map<int, int> statuses(const std::vector<Attempt>& attempts) {
  std::map<int, int> out;
  for (const Attempt& attempt : attempts) {
    ++out[attempt.status];
  }
  return out;
}

// The body that all 201 have in common; empty when they have not.
std::string common_body(const std::vector<Attempt>& attempts) {
  std::string body;
  for (const Attempt& attempt : attempts) {
    if (attempt.status != 201) {
      continue;
    }
    if (!body.empty() && attempt.body != body) {
      return "";
    }
    body = attempt.body;
  }
  return body;
}

std::string text_of(const std::map<int, int>& counts) {
  std::string out;
  for (const auto& [status, count] : counts) {
    out += std::to_string(count) + " x " + std::to_string(status) + "  ";
  }
  return out;
}

}  // namespace

TEST_CASE("G1 64 equal requests at once on two instances are one payment, 200 times over") {
  // CLM-04
  constexpr std::size_t callers = 64;
  constexpr std::size_t keys = 200;
  Shop& shop = stage().shop;
  const Payment payment = shop.payment_between_new_accounts(1, 1'000'000);
  const std::string stem = fresh_key() + "-";
  const Caller template_caller = shop.caller();
  const auto rounds = rounds_of_everybody(callers, keys, [&](std::size_t, std::size_t round) {
    return template_caller.payment_request(stem + std::to_string(round), payment);
  });

  Caller here = shop.caller();
  Caller there = shop.caller_at(stage().second);
  for (std::size_t round = 0; round < keys; ++round) {
    const std::string key = stem + std::to_string(round);
    const std::map<int, int> counts = statuses(rounds[round]);
    INFO("key ", key, ": ", text_of(counts));
    CHECK(counts.contains(201));
    CHECK(counts.size() == (counts.contains(409) ? 2U : 1U));  // nothing but 201 and 409
    const std::string body = common_body(rounds[round]);
    CHECK_FALSE(body.empty());
    CHECK(std::count_if(rounds[round].begin(), rounds[round].end(), [](const Attempt& attempt) {
            return attempt.status == 201 && !attempt.replayed;
          }) == 1);
    for (Caller* caller : {&here, &there}) {
      const Answer replay = caller->replay(key, payment);
      CHECK(replay.replayed());
      CHECK(replay.body == body);
    }
  }
  CHECK(shop.database.sql().number("SELECT count(*) FROM payments WHERE idempotency_key LIKE $1",
                                   {stem + "%"}) == static_cast<std::int64_t>(keys));
  CHECK(here.balance_of(payment.destination) == static_cast<std::int64_t>(keys));
  CHECK(broken_books(shop.database) == "");
}

TEST_CASE("G1 everybody who waits gets the one answer: 32 equal requests with Prefer: wait") {
  Shop& shop = stage().shop;
  const Payment payment = shop.payment_between_new_accounts(1, 1'000'000);
  const std::string stem = fresh_key() + "-";
  const Caller template_caller = shop.caller();
  const auto rounds = rounds_of_everybody(32, 20, [&](std::size_t, std::size_t round) {
    return template_caller.payment_request(stem + std::to_string(round), payment)
        .with("Prefer", "wait=30");
  });
  for (const auto& attempts : rounds) {
    INFO(text_of(statuses(attempts)));
    CHECK(statuses(attempts)[201] == 32);
    CHECK_FALSE(common_body(attempts).empty());
  }
  CHECK(shop.caller().balance_of(payment.destination) == 20);
}

TEST_CASE("G1 two bodies that race for one key: one is decided, the other is a mismatch") {
  constexpr std::size_t keys = 60;
  Shop& shop = stage().shop;
  const Payment small = shop.payment_between_new_accounts(1, 1'000'000);
  const Payment large = small.of(1000);
  const std::string stem = fresh_key() + "-";
  const Caller template_caller = shop.caller();
  const auto rounds = rounds_of_everybody(32, keys, [&](std::size_t caller, std::size_t round) {
    // Both bodies on both instances.
    return template_caller.payment_request(stem + std::to_string(round),
                                           (caller / 2) % 2 == 0 ? small : large);
  });
  for (std::size_t round = 0; round < keys; ++round) {
    const std::string key = stem + std::to_string(round);
    const std::map<int, int> counts = statuses(rounds[round]);
    INFO("key ", key, ": ", text_of(counts));
    const std::string body = common_body(rounds[round]);
    REQUIRE_FALSE(body.empty());
    const bool small_won = nlohmann::json::parse(body).at("amount") == 1;
    for (std::size_t caller = 0; caller < rounds[round].size(); ++caller) {
      const bool winner = ((caller / 2) % 2 == 0) == small_won;
      const int status = rounds[round][caller].status;
      CHECK((status == 409 || status == (winner ? 201 : 422)));
    }
    CHECK(shop.payments_with_key(key) == 1);
  }
  CHECK(broken_books(shop.database) == "");
}

TEST_CASE("tenants with the same key never meet: both pay at once, nobody waits or conflicts") {
  Shop& shop = stage().shop;
  const Tenant other = create_tenant(shop.database);
  Caller ours = shop.caller();
  Caller theirs(shop.instance, other);
  const Payment our_payment = shop.payment_between_new_accounts(1, 1000);
  const Payment their_payment{1, "EUR", theirs.open_funded_account(1000), theirs.open_account()};
  const std::string stem = fresh_key() + "-";
  const Caller stranger(shop.instance, other);
  const Caller template_caller = shop.caller();
  const auto rounds = rounds_of_everybody(4, 50, [&](std::size_t caller, std::size_t round) {
    // Callers 0 and 3 are ours, 1 and 2 are theirs: each tenant on each instance.
    const std::string key = stem + std::to_string(round) + (caller < 2 ? "-a" : "-b");
    return caller % 3 == 0 ? template_caller.payment_request(key, our_payment)
                           : stranger.payment_request(key, their_payment);
  });
  for (const auto& attempts : rounds) {
    CHECK(statuses(attempts)[201] == 4);
    CHECK(std::none_of(attempts.begin(), attempts.end(),
                       [](const Attempt& attempt) { return attempt.replayed; }));
  }
  CHECK(ours.balance_of(our_payment.destination) == 100);
  CHECK(theirs.balance_of(their_payment.destination) == 100);
}

TEST_CASE("HTP-09 a proxy that sends the same bytes to another instance pays once") {
  Shop& shop = stage().shop;
  const Payment payment = shop.payment_between_new_accounts(1, 1000);
  for (int i = 0; i < 30; ++i) {
    const std::string key = fresh_key();
    const std::string bytes = shop.caller().payment_request(key, payment).bytes();
    Client first(shop.instance.port());
    Client second(stage().second.port());
    first.connect();
    second.connect();
    first.write(bytes);
    if (i % 2 == 0) {
      first.read();  // the answer is lost on its way to the client
    }
    second.write(bytes);
    const Answer answer = second.read();
    CHECK((answer.status == 201 || answer.status == 409));
    CHECK(shop.caller().pay_waiting(key, payment, 20).status == 201);
    CHECK(shop.payments_with_key(key) == 1);
  }
  CHECK(shop.caller().balance_of(payment.destination) == 30);
}

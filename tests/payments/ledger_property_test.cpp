#include <doctest/doctest.h>

#include <random>
#include <string>
#include <vector>

#include "payments/ledger.hpp"
#include "payments/requests.hpp"
#include "support/naive_ledger.hpp"

namespace oncepay::payments {

namespace {

constexpr int batches = 100'000;
constexpr std::uint32_t seed = 20'261'129;

using Random = std::mt19937;

std::int64_t pick(Random& random, std::int64_t from, std::int64_t to) {
  return std::uniform_int_distribution<std::int64_t>(from, to)(random);
}

// Amounts around the edges more often than chance would have it.
std::int64_t pick_amount(Random& random) {
  switch (pick(random, 0, 5)) {
    case 0:
      return amount_max - pick(random, 0, 3);
    case 1:
      return amount_max / 2 + pick(random, 0, 3);
    default:
      return pick(random, 1, 300);
  }
}

std::int64_t pick_balance(Random& random, std::optional<std::int64_t> limit) {
  const std::int64_t floor = limit ? -*limit : -amount_max;
  switch (pick(random, 0, 5)) {
    case 0:
      return amount_max - pick(random, 0, 3);
    case 1:
      return floor + pick(random, 0, 3);
    default:
      return std::max<std::int64_t>(floor, pick(random, -50, 1'000));
  }
}

std::optional<std::int64_t> pick_limit(Random& random) {
  switch (pick(random, 0, 4)) {
    case 0:
      return std::nullopt;
    case 1:
      return pick(random, 1, 500);
    case 2:
      return amount_max;
    default:
      return 0;
  }
}

// One random batch, decided by both; false as soon as they differ.
bool agree_on_one_batch(Random& random) {
  const auto count = static_cast<std::size_t>(pick(random, 2, 6));
  std::vector<LedgerAccount> accounts;
  test::NaiveLedger model;
  for (std::size_t i = 0; i < count; ++i) {
    const auto limit = pick_limit(random);
    const std::string currency = pick(random, 0, 9) == 0 ? "USD" : "EUR";
    accounts.push_back({currency, pick_balance(random, limit), limit});
    model.accounts[std::to_string(i)] = {currency, accounts.back().balance, limit};
  }
  Ledger ledger(accounts);
  const auto orders = pick(random, 1, 12);
  for (std::int64_t i = 0; i < orders; ++i) {
    // The place after the last stands for an account that does not exist.
    const auto source = static_cast<std::size_t>(pick(random, 0, static_cast<std::int64_t>(count)));
    auto destination =
        static_cast<std::size_t>(pick(random, 0, static_cast<std::int64_t>(count) - 1));
    if (destination == source) destination = (source + 1) % count;
    const auto amount = pick_amount(random);
    const std::string currency = pick(random, 0, 19) == 0 ? "USD" : "EUR";
    const auto place = [count](std::size_t p) {
      return p < count ? std::optional(p) : std::nullopt;
    };
    const auto outcome = ledger.decide({place(source), place(destination), amount, currency});
    const auto expected =
        model.pay({std::to_string(source), std::to_string(destination), amount, currency});
    if (const auto* moved = std::get_if<Moved>(&outcome)) {
      if (expected != "succeeded") return false;
      if (moved->debit_balance_after != model.accounts[std::to_string(source)].balance)
        return false;
      if (moved->credit_balance_after != model.accounts[std::to_string(destination)].balance) {
        return false;
      }
    } else if (const auto* declined = std::get_if<Declined>(&outcome)) {
      if (expected != name_of(declined->reason)) return false;
    } else {
      const auto& faults = std::get<Undecidable>(outcome);
      const bool missing =
          faults.source == AccountFault::not_found || faults.destination == AccountFault::not_found;
      if (expected != (missing ? "account-not-found" : "currency-mismatch")) return false;
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (ledger.accounts()[i].balance != model.accounts[std::to_string(i)].balance) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("G5 the ledger decides 100,000 random batches as the naive model does") {
  for (int batch = 0; batch < batches; ++batch) {
    Random random(seed + static_cast<std::uint32_t>(batch));
    if (!agree_on_one_batch(random)) {
      FAIL("the ledger and the model differ on the batch with seed ",
           seed + static_cast<std::uint32_t>(batch));
    }
  }
}

}  // namespace oncepay::payments

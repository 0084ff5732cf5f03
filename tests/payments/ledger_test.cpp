#include "payments/ledger.hpp"

#include <doctest/doctest.h>

#include <limits>

#include "payments/requests.hpp"

namespace oncepay::payments {

namespace {

constexpr std::int64_t top = amount_max;

struct Try {
  const char* rule;
  LedgerAccount source;
  LedgerAccount destination;
  std::int64_t amount;
  const char* currency;
  const char* expected;  // "moved", "insufficient-funds", "balance-limit", or the faults
};

const char* fault_name(AccountFault fault) {
  switch (fault) {
    case AccountFault::none:
      return "fine";
    case AccountFault::not_found:
      return "not-found";
    case AccountFault::currency_mismatch:
      return "currency";
  }
  return "?";
}

std::string name_of(const LedgerOutcome& outcome) {
  if (std::holds_alternative<Moved>(outcome)) return "moved";
  if (const auto* declined = std::get_if<Declined>(&outcome)) {
    return std::string(payments::name_of(declined->reason));
  }
  const auto& faults = std::get<Undecidable>(outcome);
  return std::string(fault_name(faults.source)) + "/" + fault_name(faults.destination);
}

}  // namespace

TEST_CASE("a payment is decided by floor first and balance range second") {
  const std::vector<Try> tries{
      {"exactly the balance", {"EUR", 100, 0}, {"EUR", 0, 0}, 100, "EUR", "moved"},
      {"one more than the balance",
       {"EUR", 100, 0},
       {"EUR", 0, 0},
       101,
       "EUR",
       "insufficient-funds"},
      {"exactly the overdraft", {"EUR", 100, 50}, {"EUR", 0, 0}, 150, "EUR", "moved"},
      {"one past the overdraft", {"EUR", 100, 50}, {"EUR", 0, 0}, 151, "EUR", "insufficient-funds"},
      {"nothing there", {"EUR", 0, 0}, {"EUR", 0, 0}, 1, "EUR", "insufficient-funds"},
      {"no floor", {"EUR", 0, {}}, {"EUR", 0, 0}, top, "EUR", "moved"},
      {"no floor, lowest", {"EUR", -top, {}}, {"EUR", 0, 0}, 1, "EUR", "balance-limit"},
      {"no floor, far below", {"EUR", -top, {}}, {"EUR", 0, 0}, top, "EUR", "balance-limit"},
      {"the largest floor", {"EUR", 0, top}, {"EUR", 0, 0}, top, "EUR", "moved"},
      {"past the largest floor", {"EUR", -1, top}, {"EUR", 0, 0}, top, "EUR", "insufficient-funds"},
      {"receiver is full", {"EUR", 5, 0}, {"EUR", top, 0}, 1, "EUR", "balance-limit"},
      {"receiver gets full", {"EUR", top, 0}, {"EUR", 0, 0}, top, "EUR", "moved"},
      {"receiver, both at the top", {"EUR", top, 0}, {"EUR", top, 0}, top, "EUR", "balance-limit"},
      {"floor before range", {"EUR", 0, 0}, {"EUR", top, 0}, 1, "EUR", "insufficient-funds"},
      {"source's currency", {"USD", 9, 0}, {"EUR", 0, 0}, 1, "EUR", "currency/fine"},
      {"destination's currency", {"EUR", 9, 0}, {"USD", 0, 0}, 1, "EUR", "fine/currency"},
      {"both currencies", {"USD", 9, 0}, {"USD", 0, 0}, 1, "EUR", "currency/currency"},
      {"currency before funds", {"USD", 0, 0}, {"EUR", 0, 0}, 1, "EUR", "currency/fine"},
      {"currency is exact", {"EUR", 9, 0}, {"EUR", 0, 0}, 1, "eur", "currency/currency"},
  };
  for (const auto& attempt : tries) {
    CAPTURE(attempt.rule);
    Ledger ledger({attempt.source, attempt.destination});
    const auto outcome = ledger.decide({0, 1, attempt.amount, attempt.currency});
    CHECK(name_of(outcome) == attempt.expected);
    const bool moved = std::holds_alternative<Moved>(outcome);
    CHECK(ledger.changed(0) == moved);
    CHECK(ledger.changed(1) == moved);
    CHECK(ledger.accounts()[0].balance == attempt.source.balance - (moved ? attempt.amount : 0));
    CHECK(ledger.accounts()[1].balance ==
          attempt.destination.balance + (moved ? attempt.amount : 0));
  }
}

TEST_CASE("an unknown account makes a payment undecidable and changes nothing") {
  Ledger ledger({{"EUR", 100, 0}});
  CHECK(name_of(ledger.decide({0, std::nullopt, 1, "EUR"})) == "fine/not-found");
  CHECK(name_of(ledger.decide({std::nullopt, 0, 1, "EUR"})) == "not-found/fine");
  CHECK(name_of(ledger.decide({std::nullopt, std::nullopt, 1, "EUR"})) == "not-found/not-found");
  CHECK(name_of(ledger.decide({std::nullopt, 0, 1, "USD"})) == "not-found/currency");
  CHECK_FALSE(ledger.changed(0));
}

TEST_CASE("orders of one batch see what the orders before them moved") {
  Ledger ledger({{"EUR", 100, 0}, {"EUR", 0, 0}, {"EUR", 0, 0}});
  CHECK(name_of(ledger.decide({1, 2, 1, "EUR"})) == "insufficient-funds");
  CHECK(name_of(ledger.decide({0, 1, 60, "EUR"})) == "moved");
  CHECK(name_of(ledger.decide({1, 2, 60, "EUR"})) == "moved");
  CHECK(name_of(ledger.decide({0, 1, 41, "EUR"})) == "insufficient-funds");
  CHECK(name_of(ledger.decide({0, 1, 40, "EUR"})) == "moved");
}

TEST_CASE("what no request can ask for is a bug and not a decision") {
  Ledger ledger({{"EUR", 100, 0}, {"EUR", 0, 0}});
  CHECK_THROWS_AS(ledger.decide({0, 1, 0, "EUR"}), std::logic_error);
  CHECK_THROWS_AS(ledger.decide({0, 1, -1, "EUR"}), std::logic_error);
  CHECK_THROWS_AS(ledger.decide({0, 1, top + 1, "EUR"}), std::logic_error);
  CHECK_THROWS_AS(ledger.decide({0, 1, std::numeric_limits<std::int64_t>::min(), "EUR"}),
                  std::logic_error);
  CHECK_THROWS_AS(ledger.decide({0, 0, 1, "EUR"}), std::logic_error);
}

}  // namespace oncepay::payments

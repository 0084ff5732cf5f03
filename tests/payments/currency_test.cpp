#include "payments/currency.hpp"

#include <doctest/doctest.h>

#include <limits>

using namespace oncepay::payments;

TEST_CASE("only active ISO 4217 codes are currencies, as exact capitals") {
  struct Attempt {
    std::string_view code;
    bool is_one;
  };
  const Attempt attempts[] = {
      {"EUR", true},   {"USD", true},        {"JPY", true},  {"KWD", true},   {"CLF", true},
      {"XAF", true},   {"AED", true},        {"ZMW", true},  {"ZWG", true},   {"XCG", true},
      {"SLE", true},   {"XAD", true},        {"CUP", true},  {"VED", true},   {"BGN", false},
      {"ANG", false},  {"HRK", false},       {"SLL", false}, {"ZWL", false},  {"CUC", false},
      {"DEM", false},  {"BTC", false},       {"XXX", false}, {"XTS", false},  {"XAU", false},
      {"XDR", false},  {"AAA", false},       {"ZZZ", false}, {"eur", false},  {"Eur", false},
      {"EU", false},   {"EURO", false},      {"", false},    {" EUR", false}, {"EUR ", false},
      {"E\0R", false}, {"\xC3\x89U", false}, {"E1R", false},
  };
  for (const auto& attempt : attempts) {
    CAPTURE(attempt.code);
    CHECK(is_currency(attempt.code) == attempt.is_one);
  }
}

TEST_CASE("the whole of list one is known: 165 codes have a minor unit") {
  int known = 0;
  for (char a = 'A'; a <= 'Z'; ++a)
    for (char b = 'A'; b <= 'Z'; ++b)
      for (char c = 'A'; c <= 'Z'; ++c) known += is_currency(std::string{a, b, c}) ? 1 : 0;
  CHECK(known == 165);
}

TEST_CASE("MNY-01 an amount is shown with the digits of its currency, never scaled by 100") {
  struct Attempt {
    std::int64_t amount;
    std::string_view code;
    std::string_view shown;
  };
  constexpr auto least = std::numeric_limits<std::int64_t>::min();
  const Attempt attempts[] = {
      {500, "JPY", "500"},
      {1500, "KWD", "1.500"},
      {1, "BHD", "0.001"},
      {1999, "EUR", "19.99"},
      {5, "EUR", "0.05"},
      {0, "EUR", "0.00"},
      {-5, "EUR", "-0.05"},
      {-1999, "EUR", "-19.99"},
      {12345, "CLF", "1.2345"},
      {0, "JPY", "0"},
      {9'007'199'254'740'991, "USD", "90071992547409.91"},
      {least, "EUR", "-92233720368547758.08"},
      {7, "???", "7"},
  };
  for (const auto& attempt : attempts) {
    CAPTURE(attempt.amount);
    CHECK(format_minor(attempt.amount, attempt.code) == attempt.shown);
  }
}

TEST_CASE("currencies have none, two, three or four digits behind the point") {
  CHECK(minor_unit_digits("JPY") == 0);
  CHECK(minor_unit_digits("EUR") == 2);
  CHECK(minor_unit_digits("TND") == 3);
  CHECK(minor_unit_digits("UYW") == 4);
  CHECK_FALSE(minor_unit_digits("XXX").has_value());
}

#include "payments/currency.hpp"

#include <array>
#include <cstddef>

namespace oncepay::payments {
namespace {

constexpr std::size_t code_length = 3;
constexpr std::size_t letters = 26;
constexpr std::int8_t not_a_currency = -1;

constexpr std::string_view without_minor_unit =
    "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF ";
constexpr std::string_view of_two_digits =
    "AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BMD BND BOB BOV BRL BSD BTN BWP BYN BZD "
    "CAD CDF CHE CHF CHW CNY COP COU CRC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP "
    "GEL GHS GIP GMD GTQ GYD HKD HNL HTG HUF IDR ILS INR IRR JMD KES KGS KHR KPW KYD KZT LAK "
    "LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR MZN NAD NGN NIO "
    "NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SOS "
    "SRD SSP STN SVC SYP SZL THB TJS TMT TOP TRY TTD TWD TZS UAH USD USN UYU UZS VED VES WST "
    "XAD XCD XCG YER ZAR ZMW ZWG ";
constexpr std::string_view of_three_digits = "BHD IQD JOD KWD LYD OMR TND ";
constexpr std::string_view of_four_digits = "CLF UYW ";

// One slot for each word of three capitals.
using DigitsByCode = std::array<std::int8_t, letters * letters * letters>;

constexpr std::size_t slot_of(std::string_view code) {
  std::size_t slot = 0;
  for (const char letter : code) slot = slot * letters + static_cast<std::size_t>(letter - 'A');
  return slot;
}

constexpr void enter(DigitsByCode& table, std::string_view codes, std::int8_t digits) {
  for (std::size_t at = 0; at < codes.size(); at += code_length + 1)
    table[slot_of(codes.substr(at, code_length))] = digits;
}

constexpr DigitsByCode make_table() {
  DigitsByCode table{};
  for (auto& digits : table) digits = not_a_currency;
  enter(table, without_minor_unit, 0);
  enter(table, of_two_digits, 2);
  enter(table, of_three_digits, 3);
  enter(table, of_four_digits, 4);
  return table;
}

constexpr DigitsByCode digits_by_code = make_table();

}  // namespace

std::optional<int> minor_unit_digits(std::string_view code) {
  if (code.size() != code_length) return std::nullopt;
  for (const char letter : code)
    if (letter < 'A' || letter > 'Z') return std::nullopt;
  const int digits = digits_by_code[slot_of(code)];
  if (digits == not_a_currency) return std::nullopt;
  return digits;
}

bool is_currency(std::string_view code) { return minor_unit_digits(code).has_value(); }

std::string format_minor(std::int64_t amount, std::string_view code) {
  std::string text = std::to_string(amount);
  const auto digits = static_cast<std::size_t>(minor_unit_digits(code).value_or(0));
  if (digits == 0) return text;
  const std::size_t sign = amount < 0 ? 1 : 0;
  // One digit stands before the point at least.
  if (text.size() - sign <= digits) text.insert(sign, digits + 1 - (text.size() - sign), '0');
  text.insert(text.size() - digits, 1, '.');
  return text;
}

}  // namespace oncepay::payments

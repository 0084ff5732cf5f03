// What clients ask of the books, typed and already checked for form.
//
// Everything that can be refused without the database has been refused before one of these exists
// (http/requests.hpp makes them from JSON). Amounts are minor units of the currency.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "once/executor.hpp"

namespace oncepay::payments {

inline constexpr std::int64_t amount_max =
    9'007'199'254'740'991;  // 2^53 - 1: exact in every JSON reader

// 1 to 64 of A-Z a-z 0-9 : . _ -
bool is_account_id(std::string_view text);

struct PaymentRequest final : once::Payload {
  std::int64_t amount = 0;  // 1 to amount_max
  std::string currency;     // ISO 4217
  std::string source;       // account ids, different from each other
  std::string destination;
  std::optional<std::string> description;
  std::string metadata = "{}";  // JSON object text, as it will be answered
  std::string request_id;       // for the problem document of a decline or refusal
};

struct AccountRequest final : once::Payload {
  std::string id;
  std::string currency;
  std::optional<std::int64_t> overdraft_limit = 0;  // 0 to amount_max; nothing = no floor
  std::string request_id;
};

}  // namespace oncepay::payments

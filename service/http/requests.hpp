// From a JSON document to a typed request of payments, or to everything that is wrong with it at
// once.
//
// What the contract leaves open is decided here: `null` for the optional `description` and
// `metadata` is the same as leaving them out (many clients write all members); an empty
// description, an empty metadata name and an empty metadata value are texts like any other.
// Characters are code points. Metadata keeps the order in which the client sent it.
//
// Deliberately not here: the idempotency key, headers, accounts that do not exist. Nothing is
// normalized, trimmed or truncated.
//
// Threads: pure functions. Errors: one FieldError a fault, known members first, in the contract's
// order, then unknown ones in the order sent. Source: RFC 6901 (pointers).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "http/json_reader.hpp"
#include "http/problem.hpp"
#include "payments/requests.hpp"

namespace oncepay::http {

// In characters, that is code points.
inline constexpr std::size_t description_length_max = 500;
inline constexpr std::size_t metadata_pairs_max = 50;
inline constexpr std::size_t metadata_name_length_max = 40;
inline constexpr std::size_t metadata_value_length_max = 500;
inline constexpr std::size_t errors_max = 500;  // told of one request; more are left out

using FieldErrors = std::vector<FieldError>;

// request_id is left empty: it is not the document's.
std::variant<payments::PaymentRequest, FieldErrors> read_payment_request(const JsonValue& document);
std::variant<payments::AccountRequest, FieldErrors> read_account_request(const JsonValue& document);

// One member of a pointer, `/` in front: "a/b~" becomes "/a~1b~0".
std::string pointer_to(std::string_view name);

// `utf8` is valid UTF-8.
std::size_t count_code_points(std::string_view utf8);

}  // namespace oncepay::http

// The idempotency key: the client's name for one intended operation, read from the raw bytes of its
// header field.
//
// Accepted are an RFC 9651 string (`"abc"`) and the bare value (`abc`); both name the same key.
// Parameters after the string are refused: a key that silently means something else is worse than
// an error. Nothing is percent-decoded. Counting the fields (exactly one) is the caller's part.
//
// Threads: pure functions. Source: RFC 9651 section 3.3.3;
// draft-ietf-httpapi-idempotency-key-header.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>

namespace oncepay::once {

inline constexpr std::size_t key_length_max = 255;  // characters after decoding

enum class KeyFormat { any, uuid };

struct KeyRefused {
  std::string detail;  // what is wrong with it, without the key itself
};

// `field_value` has no surrounding white space. The key holds 1 to 255 characters from '!' to '~'.
std::variant<std::string, KeyRefused> parse_key(std::string_view field_value, KeyFormat format);

}  // namespace oncepay::once

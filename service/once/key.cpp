#include "once/key.hpp"

#include <algorithm>

#include "runtime/uuid.hpp"

namespace oncepay::once {

namespace {

bool is_visible(char c) { return c >= '!' && c <= '~'; }

// RFC 9651 section 4.2.5: between the quotes any of %x20-7E, where only `"` and `\` may follow a
// backslash.
std::variant<std::string, KeyRefused> parse_string(std::string_view text) {
  std::string key;
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (text[i] == '"') {
      if (i + 1 == text.size()) return key;
      return KeyRefused{"Nothing may follow the closing quote of the Idempotency-Key."};
    }
    if (text[i] == '\\') {
      ++i;
      if (i == text.size() || (text[i] != '"' && text[i] != '\\')) {
        return KeyRefused{"Only \\\" and \\\\ may follow a backslash in a quoted Idempotency-Key."};
      }
    }
    key.push_back(text[i]);
  }
  return KeyRefused{"The quoted Idempotency-Key has no closing quote."};
}

}  // namespace

std::variant<std::string, KeyRefused> parse_key(std::string_view field_value, KeyFormat format) {
  if (field_value.empty()) return KeyRefused{"The Idempotency-Key is empty."};
  std::variant<std::string, KeyRefused> parsed;
  if (field_value.front() == '"') {
    parsed = parse_string(field_value);
  } else {
    parsed = std::string(field_value);
  }
  if (std::holds_alternative<KeyRefused>(parsed)) return parsed;

  const std::string& key = std::get<std::string>(parsed);
  if (key.empty()) return KeyRefused{"The Idempotency-Key is empty."};
  if (key.size() > key_length_max) {
    return KeyRefused{"The Idempotency-Key is longer than 255 characters."};
  }
  if (!std::all_of(key.begin(), key.end(), is_visible)) {
    return KeyRefused{
        "The Idempotency-Key may hold visible ASCII characters only, without spaces."};
  }
  if (format == KeyFormat::uuid && !runtime::is_uuid(key)) {
    return KeyRefused{"This service admits UUIDs alone as Idempotency-Key."};
  }
  return parsed;
}

}  // namespace oncepay::once

#include "http/query.hpp"

#include <algorithm>
#include <charconv>

#include "runtime/uuid.hpp"

namespace oncepay::http {
namespace {

constexpr std::string_view detail_escape = "has a broken percent-escape";
constexpr std::string_view detail_twice = "was sent more than once";
constexpr std::string_view detail_unknown = "is not a parameter of this call";
constexpr std::string_view detail_too_many = "has too many parameters";
constexpr std::string_view detail_limit = "must be a number from 1 to 100";
constexpr std::string_view detail_cursor = "must be a next_cursor of this list, unchanged";

constexpr std::string_view payment_cursor_kind = "payment:";
constexpr std::string_view account_payment_cursor_kind = "account-payment:";
constexpr std::string_view entry_cursor_kind = "entry:";

std::optional<unsigned> hex_digit(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A' + 10);
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a' + 10);
  return std::nullopt;
}

// Visible ASCII alone, so that a pointer is text whatever the client sent as a name.
std::string shown(std::string_view name) {
  constexpr std::string_view hex = "0123456789ABCDEF";
  std::string text;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (c > ' ' && c <= '~') {
      text += c;
    } else {
      text += {'%', hex[byte >> 4], hex[byte & 0xF]};
    }
  }
  return text;
}

constexpr std::string_view base64url =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

std::string encode_base64url(std::string_view bytes) {
  std::string text;
  unsigned bits = 0;
  int count = 0;
  for (const char c : bytes) {
    bits = (bits << 8 | static_cast<unsigned char>(c)) & 0xFFFF;
    for (count += 8; count >= 6; count -= 6) text += base64url[bits >> (count - 6) & 0x3F];
  }
  if (count > 0) text += base64url[bits << (6 - count) & 0x3F];
  return text;
}

// Nothing unless `text` is what encode_base64url makes of some bytes.
std::optional<std::string> decode_base64url(std::string_view text) {
  std::string bytes;
  unsigned bits = 0;
  int count = 0;
  for (const char c : text) {
    const auto digit = base64url.find(c);
    if (digit == std::string_view::npos) return std::nullopt;
    bits = (bits << 6 | static_cast<unsigned>(digit)) & 0xFFFF;
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes += static_cast<char>(bits >> count & 0xFF);
  }
  if (encode_base64url(bytes) != text) return std::nullopt;
  return bytes;
}

std::optional<std::string> take_cursor(Query& query, std::string_view kind) {
  const auto sent = query.take("cursor");
  if (!sent) return std::nullopt;
  constexpr std::size_t length_max = 128;
  const auto decoded = sent->size() <= length_max ? decode_base64url(*sent) : std::nullopt;
  if (!decoded || !decoded->starts_with(kind)) {
    query.refuse("cursor", detail_cursor);
    return std::nullopt;
  }
  return decoded->substr(kind.size());
}

template <class Integer>
std::optional<Integer> parse_digits(std::string_view text) {
  Integer number = 0;
  if (text.empty() || text.find_first_not_of("0123456789") != std::string_view::npos)
    return std::nullopt;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec != std::errc{}) return std::nullopt;
  return number;
}

}  // namespace

std::optional<std::string> percent_decoded(std::string_view text) {
  std::string decoded;
  decoded.reserve(text.size());
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '%') {
      decoded += text[at];
      continue;
    }
    if (text.size() - at < 3) return std::nullopt;
    const auto high = hex_digit(text[at + 1]);
    const auto low = hex_digit(text[at + 2]);
    if (!high || !low) return std::nullopt;
    decoded += static_cast<char>(*high << 4 | *low);
    at += 2;
  }
  return decoded;
}

Query::Query(std::string_view text) {
  if (text.empty()) return;
  const auto count = static_cast<std::size_t>(std::count(text.begin(), text.end(), '&')) + 1;
  if (count > query_parameters_max) {
    errors_.push_back({"?", std::string(detail_too_many)});
    return;
  }
  for (std::size_t begin = 0; begin <= text.size();) {
    const auto end = std::min(text.find('&', begin), text.size());
    add(text.substr(begin, end - begin));
    begin = end + 1;
  }
}

void Query::add(std::string_view piece) {
  const auto equals = std::min(piece.find('='), piece.size());
  const auto raw_name = piece.substr(0, equals);
  auto name = percent_decoded(raw_name);
  auto value = percent_decoded(piece.substr(std::min(equals + 1, piece.size())));
  if (!name || !value) {
    errors_.push_back({"?" + shown(raw_name), std::string(detail_escape)});
    return;
  }
  const auto same = [&](const Parameter& other) { return other.name == *name; };
  if (std::any_of(parameters_.begin(), parameters_.end(), same)) {
    errors_.push_back({"?" + shown(raw_name), std::string(detail_twice)});
    return;
  }
  parameters_.push_back({shown(raw_name), std::move(*name), std::move(*value)});
}

std::optional<std::string> Query::take(std::string_view name) {
  for (auto& parameter : parameters_) {
    if (parameter.name != name) continue;
    parameter.taken = true;
    return parameter.value;
  }
  return std::nullopt;
}

void Query::refuse(std::string_view name, std::string_view detail) {
  errors_.push_back({"?" + std::string(name), std::string(detail)});
}

FieldErrors Query::finish() {
  for (const auto& parameter : parameters_)
    if (!parameter.taken) errors_.push_back({"?" + parameter.shown, std::string(detail_unknown)});
  return std::move(errors_);
}

int take_limit(Query& query) {
  const auto sent = query.take("limit");
  if (!sent) return page_limit_default;
  const auto limit = parse_digits<int>(*sent);
  if (limit && *limit >= 1 && *limit <= page_limit_max) return *limit;
  query.refuse("limit", detail_limit);
  return page_limit_default;
}

std::string payment_cursor(std::string_view payment_id) {
  return encode_base64url(std::string(payment_cursor_kind).append(payment_id));
}

// "account-payment:12:0197f3c2-…": the transfer's id, or nothing, and the payment's.
std::string account_payment_cursor(const payments::PaymentPosition& position) {
  std::string text(account_payment_cursor_kind);
  if (position.transfer_id) text += std::to_string(*position.transfer_id);
  return encode_base64url(text.append(":").append(position.payment_id.value_or("")));
}

std::string entry_cursor(std::int64_t entry_id) {
  return encode_base64url(std::string(entry_cursor_kind) + std::to_string(entry_id));
}

std::optional<std::string> take_payment_cursor(Query& query) {
  auto id = take_cursor(query, payment_cursor_kind);
  if (!id || runtime::is_uuid(*id)) return id;
  query.refuse("cursor", detail_cursor);
  return std::nullopt;
}

std::optional<payments::PaymentPosition> take_account_payment_cursor(Query& query,
                                                                     bool has_transfers) {
  const auto text = take_cursor(query, account_payment_cursor_kind);
  if (!text) return std::nullopt;
  const auto colon = text->find(':');
  const auto transfer_id = parse_digits<std::int64_t>(text->substr(0, colon));
  const auto payment_id = colon == std::string::npos ? "" : text->substr(colon + 1);
  if (runtime::is_uuid(payment_id) && (has_transfers ? transfer_id.has_value() : colon == 0))
    return payments::PaymentPosition{payment_id, transfer_id};
  query.refuse("cursor", detail_cursor);
  return std::nullopt;
}

std::optional<std::int64_t> take_entry_cursor(Query& query) {
  const auto text = take_cursor(query, entry_cursor_kind);
  if (!text) return std::nullopt;
  const auto id = parse_digits<std::int64_t>(*text);
  if (!id) query.refuse("cursor", detail_cursor);
  return id;
}

}  // namespace oncepay::http

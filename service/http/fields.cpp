#include "http/fields.hpp"

#include <algorithm>
#include <charconv>

#include "runtime/uuid.hpp"

namespace oncepay::http {
namespace {

bool is_alphanumeric(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

bool is_token_character(char c) {
  return is_alphanumeric(c) ||
         std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

// Walks over one field value. Each take_ function moves on only if it found what it looks for.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : rest_(text) {}

  [[nodiscard]] bool at_end() const { return rest_.empty(); }

  void skip_white_space() {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\t'))
      rest_.remove_prefix(1);
  }
  bool take(char wanted) {
    if (rest_.empty() || rest_.front() != wanted) return false;
    rest_.remove_prefix(1);
    return true;
  }
  // May be empty.
  std::string_view take_token() {
    const auto end = std::find_if_not(rest_.begin(), rest_.end(), is_token_character);
    const auto token = rest_.substr(0, static_cast<std::size_t>(end - rest_.begin()));
    rest_.remove_prefix(token.size());
    return token;
  }
  // A token or a quoted string without its quotes and escapes.
  std::optional<std::string> take_word() {
    if (!take('"')) {
      const auto token = take_token();
      if (token.empty()) return std::nullopt;
      return std::string(token);
    }
    std::string text;
    while (!rest_.empty()) {
      char c = rest_.front();
      rest_.remove_prefix(1);
      if (c == '"') return text;
      if (c == '\\') {
        if (rest_.empty()) return std::nullopt;
        c = rest_.front();
        rest_.remove_prefix(1);
      }
      text += c;
    }
    return std::nullopt;
  }
  // To behind the next comma that stands outside quotes.
  void skip_element() {
    bool quoted = false;
    while (!rest_.empty()) {
      const char c = rest_.front();
      rest_.remove_prefix(1);
      if (c == '"') quoted = !quoted;
      if (c == '\\' && quoted && !rest_.empty()) rest_.remove_prefix(1);
      if (c == ',' && !quoted) return;
    }
  }

 private:
  std::string_view rest_;
};

std::optional<std::chrono::seconds> parse_wait(std::string_view digits) {
  if (digits.empty() || digits.find_first_not_of("0123456789") != std::string_view::npos)
    return std::nullopt;
  long long seconds = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), seconds);
  // Out of range is merely very long.
  if (read.ec != std::errc{} || seconds > prefer_wait_max.count()) return prefer_wait_max;
  return std::chrono::seconds(seconds);
}

struct WaitPreference {
  std::optional<std::chrono::seconds> wait;  // nothing: malformed
};

// The first preference named wait in one field value; nothing when there is none.
std::optional<WaitPreference> find_wait(std::string_view field_value) {
  Cursor cursor(field_value);
  while (!cursor.at_end()) {
    cursor.skip_white_space();
    const bool is_wait = equals_ignoring_case(cursor.take_token(), "wait");
    if (is_wait) {
      cursor.skip_white_space();
      if (!cursor.take('=')) return WaitPreference{};
      cursor.skip_white_space();
      const auto word = cursor.take_word();
      cursor.skip_white_space();
      const bool ended = cursor.at_end() || cursor.take(',') || cursor.take(';');
      return WaitPreference{word && ended ? parse_wait(*word) : std::nullopt};
    }
    cursor.skip_element();
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string_view> bearer_token(const Request& request) {
  constexpr std::string_view scheme = "Bearer";
  const auto field = request.header("Authorization");
  if (!field || field->size() <= scheme.size()) return std::nullopt;
  if (!equals_ignoring_case(field->substr(0, scheme.size()), scheme)) return std::nullopt;
  const auto token_begin = field->find_first_not_of(' ', scheme.size());
  if (token_begin == std::string_view::npos || token_begin == scheme.size()) return std::nullopt;
  const auto token = field->substr(token_begin);
  // b64token: letters, digits, -._~+/ and '=' at the end alone.
  const auto body = token.substr(0, token.find_last_not_of('=') + 1);
  const bool well_formed = !body.empty() && std::all_of(body.begin(), body.end(), [](char c) {
    return is_alphanumeric(c) || std::string_view("-._~+/").find(c) != std::string_view::npos;
  });
  if (!well_formed) return std::nullopt;
  return token;
}

bool is_json_media_type(std::string_view field_value) {
  Cursor cursor(field_value);
  cursor.skip_white_space();
  if (!equals_ignoring_case(cursor.take_token(), "application") || !cursor.take('/') ||
      !equals_ignoring_case(cursor.take_token(), "json"))
    return false;
  bool charset_seen = false;
  for (cursor.skip_white_space(); !cursor.at_end(); cursor.skip_white_space()) {
    if (!cursor.take(';')) return false;
    cursor.skip_white_space();
    const auto name = cursor.take_token();
    if (name.empty()) continue;  // RFC 9110 allows an empty parameter
    if (!cursor.take('=')) return false;
    const auto value = cursor.take_word();
    if (!value) return false;
    if (!equals_ignoring_case(name, "charset")) continue;
    if (charset_seen || !equals_ignoring_case(*value, "utf-8")) return false;
    charset_seen = true;
  }
  return true;
}

std::chrono::seconds preferred_wait(const Request& request) {
  for (const auto& field : request.headers) {
    if (!equals_ignoring_case(field.name, "Prefer")) continue;
    if (const auto found = find_wait(field.value))
      return found->wait.value_or(std::chrono::seconds::zero());
  }
  return std::chrono::seconds::zero();
}

std::string request_id_for(const Request& request) {
  constexpr std::size_t length_max = 128;
  const auto admitted = [](char c) {
    return is_alphanumeric(c) || c == '.' || c == '_' || c == ':' || c == '-';
  };
  const auto sent = request.header("X-Request-Id");
  if (sent && !sent->empty() && sent->size() <= length_max &&
      std::all_of(sent->begin(), sent->end(), admitted))
    return std::string(*sent);
  return runtime::make_uuid_v7();
}

}  // namespace oncepay::http

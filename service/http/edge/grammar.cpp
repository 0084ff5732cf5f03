#include "http/edge/grammar.hpp"

#include <algorithm>
#include <array>

#include "http/message.hpp"

namespace oncepay::http::edge {
namespace {

enum CharClass : unsigned char {
  token_char = 1,       // RFC 9110 tchar
  unreserved_char = 2,  // RFC 3986 unreserved and sub-delims
  path_char = 4,        // what may stand in a path or a query, '%' apart
  hex_char = 8,
  digit_char = 16,
};

constexpr std::array<unsigned char, 256> make_classes() {
  std::array<unsigned char, 256> classes{};
  const auto mark = [&classes](std::string_view chars, unsigned bits) {
    for (const char c : chars) {
      auto& entry = classes[static_cast<unsigned char>(c)];
      entry = static_cast<unsigned char>(entry | bits);
    }
  };
  mark("0123456789", token_char | unreserved_char | path_char | hex_char | digit_char);
  mark("abcdefABCDEF", token_char | unreserved_char | path_char | hex_char);
  mark("ghijklmnopqrstuvwxyzGHIJKLMNOPQRSTUVWXYZ", token_char | unreserved_char | path_char);
  mark("!#$%&'*+-.^_`|~", token_char);
  mark("-._~!$&'()*+,;=", unreserved_char | path_char);
  mark(":@/?", path_char);
  return classes;
}

constexpr std::array<unsigned char, 256> classes = make_classes();

bool is(char c, CharClass wanted) { return (classes[static_cast<unsigned char>(c)] & wanted) != 0; }

bool all(std::string_view text, CharClass wanted) {
  return std::all_of(text.begin(), text.end(), [wanted](char c) { return is(c, wanted); });
}

// Characters of the class, or '%' and two hexadecimal digits.
bool all_or_percent_encoded(std::string_view text, CharClass wanted) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (is(text[i], wanted)) continue;
    if (text[i] != '%' || text.size() - i < 3) return false;
    if (!is(text[i + 1], hex_char) || !is(text[i + 2], hex_char)) return false;
    i += 2;
  }
  return true;
}

bool is_ip_literal(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(),
                                      [](char c) { return is(c, unreserved_char) || c == ':'; });
}

struct Version2 {
  bool well_formed = false;
  std::optional<Version> spoken;
};

Version2 parse_version(std::string_view text) {
  if (text.size() != 8 || text.substr(0, 5) != "HTTP/" || text[6] != '.') return {};
  if (!is(text[5], digit_char) || !is(text[7], digit_char)) return {};
  if (text == "HTTP/1.1") return {true, Version::http_1_1};
  if (text == "HTTP/1.0") return {true, Version::http_1_0};
  return {true, std::nullopt};
}

// Cuts "http://authority/path?query" in two. False: not an absolute form that is served here.
bool split_absolute_form(std::string_view text, RequestLine& line) {
  const std::size_t colon = text.find("://");
  if (colon == std::string_view::npos) return false;
  const std::string_view scheme = text.substr(0, colon);
  if (!equals_ignoring_case(scheme, "http") && !equals_ignoring_case(scheme, "https")) return false;
  const std::string_view rest = text.substr(colon + 3);
  const std::size_t end = std::min(rest.find_first_of("/?"), rest.size());
  const std::string_view authority = rest.substr(0, end);
  // User information in a target is a phisher's trick (RFC 9110 section 4.2.4): is_host knows no
  // '@'.
  if (authority.empty() || authority.front() == ':' || !is_host(authority)) return false;
  const std::string_view path = rest.substr(end);
  if (!all_or_percent_encoded(path, path_char)) return false;
  line.authority = authority;
  if (path.empty()) {
    line.target = line.method == "OPTIONS" ? "*" : "/";
  } else {
    line.target = path.front() == '/' ? std::string(path) : "/" + std::string(path);
  }
  return true;
}

bool parse_target(std::string_view text, RequestLine& line) {
  if (text.front() == '/') {
    if (!all_or_percent_encoded(text, path_char)) return false;
    line.target = text;
    return true;
  }
  if (text == "*") {
    line.target = text;
    return line.method == "OPTIONS";
  }
  return split_absolute_form(text, line);
}

}  // namespace

bool is_token(std::string_view text) { return !text.empty() && all(text, token_char); }

bool is_host(std::string_view text) {
  std::string_view port;
  if (!text.empty() && text.front() == '[') {
    const std::size_t close = text.find(']');
    if (close == std::string_view::npos || !is_ip_literal(text.substr(1, close - 1))) return false;
    port = text.substr(close + 1);
  } else {
    const std::size_t colon = std::min(text.find(':'), text.size());
    if (!all_or_percent_encoded(text.substr(0, colon), unreserved_char)) return false;
    port = text.substr(colon);
  }
  return port.empty() || (port.front() == ':' && all(port.substr(1), digit_char));
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::variant<RequestLine, Refusal> parse_request_line(std::string_view line) {
  const std::size_t first = line.find(' ');
  if (first == std::string_view::npos) return refusals::request_line_invalid;
  const std::size_t second = line.find(' ', first + 1);
  if (second == std::string_view::npos) return refusals::request_line_invalid;

  RequestLine parsed;
  parsed.method = line.substr(0, first);
  const std::string_view target = line.substr(first + 1, second - first - 1);
  const auto [well_formed, spoken] = parse_version(line.substr(second + 1));
  if (!is_token(parsed.method) || target.empty() || !well_formed) {
    return refusals::request_line_invalid;
  }
  // Before the target: the preface of HTTP/2 has a target that nothing else may have.
  if (!spoken) return refusals::version_unsupported;
  parsed.version = *spoken;
  if (!parse_target(target, parsed)) return refusals::target_invalid;
  return parsed;
}

}  // namespace oncepay::http::edge

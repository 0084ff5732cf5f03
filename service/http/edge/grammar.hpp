// The words of a request head: tokens, hosts, targets and the request line, accepted or refused.
//
// Deliberately not here: where lines begin and end (framing.hpp), what header fields mean
// (head.hpp).
//
// Threads: pure functions. Source: RFC 9110 section 5.6 (tokens), RFC 9112 section 3 (request line
// and target forms), RFC 3986 section 3 (characters of a path, a query and an authority).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "http/edge/refusal.hpp"

namespace oncepay::http::edge {

enum class Version { http_1_0, http_1_1 };

struct RequestLine {
  std::string method;
  std::string target;                    // origin form, or "*" for OPTIONS
  std::optional<std::string> authority;  // of an absolute-form target: it stands in for Host
  Version version = Version::http_1_1;
};

// 1*tchar: methods and field names.
[[nodiscard]] bool is_token(std::string_view text);

// uri-host [ ":" port ]; an empty host is what a client without an authority has to send.
[[nodiscard]] bool is_host(std::string_view text);

// Without spaces and tabs at both ends.
[[nodiscard]] std::string_view trimmed(std::string_view text);

// `line` has no CR LF and no control characters but tabs. Single spaces, nothing before or behind.
// An absolute-form target is reduced to its path and query (RFC 9112 section 3.2.2 makes servers
// accept it).
[[nodiscard]] std::variant<RequestLine, Refusal> parse_request_line(std::string_view line);

}  // namespace oncepay::http::edge

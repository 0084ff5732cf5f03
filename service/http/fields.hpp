// What single header fields say: credentials, media types, preferences, request ids.
//
// Each function reads one rule of one RFC; what an answer follows from it is decided elsewhere.
//
// Threads: pure functions; make_uuid_v7 aside. Source: RFC 6750 section 2.1 (Bearer), RFC 9110
// sections 5.6.6 and 8.3.1 (parameters, media types), RFC 7240 sections 2 and 4.3 (Prefer: wait).
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "http/message.hpp"

namespace oncepay::http {

inline constexpr std::chrono::seconds prefer_wait_max{30};

// The token of `Authorization: Bearer <token>`; nothing unless the field was sent exactly once and
// has that form. The scheme's case does not matter.
std::optional<std::string_view> bearer_token(const Request& request);

// `application/json` of any case, with charset=utf-8 at most once; other parameters mean nothing to
// JSON and are ignored, another charset or a malformed parameter is not.
bool is_json_media_type(std::string_view field_value);

// The `wait` preference, capped at prefer_wait_max; zero when there is none. Malformed preferences
// are ignored, and so is every wait after the first.
std::chrono::seconds preferred_wait(const Request& request);

// The client's X-Request-Id if it sent exactly one of 1 to 128 of A-Z a-z 0-9 . _ : -, else a new
// UUIDv7.
std::string request_id_for(const Request& request);

}  // namespace oncepay::http

// Writes JSON strings and numbers, in the one form that this service ever writes.
//
// The form is that of RFC 8785 section 3.2.2.2: `\"` `\\` `\b` `\t` `\n` `\f` `\r`, `\u00xx` in
// lower case for the other control characters, and everything else as it is. Two equal strings are
// always written the same, which is what the fingerprint and the byte-identical replay rely on.
//
// Deliberately not here: structure. Whoever assembles a document writes its braces.
//
// Threads: pure functions. Source: RFC 8259 section 7; RFC 8785 section 3.2.2.2.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace oncepay::http {

// With its quotes. `utf8` must be valid UTF-8: what a JsonValue holds, or ASCII.
void append_json_string(std::string& out, std::string_view utf8);

void append_json_number(std::string& out, std::int64_t number);

// "2026-11-29T14:00:00.123456Z" with its quotes, from microseconds since 1970. RFC 3339, UTC.
void append_json_time(std::string& out, std::int64_t time_us);

}  // namespace oncepay::http

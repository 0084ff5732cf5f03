// The canonical text of a JSON value: what the fingerprint is made of.
//
// Two documents have the same canonical text exactly when they hold the same values: member order,
// white space and escapes do not show, array order, types and numbers as written do (`1000` is not
// `"1000"`). The text is stored under no key, but its digest is: a change of a single byte here
// needs a new fingerprint version.
//
// How it relates to RFC 8785 (JCS): strings are written the same way. Members are sorted by the
// bytes of their UTF-8 names, that is by code point, where JCS sorts by UTF-16 code units; the two
// differ for names beyond U+FFFF only. Numbers keep their text, where JCS writes the nearest
// double: an integer stays exact at any size, and `10`, `10.0` and `-0` stay apart.
//
// Threads: pure functions. Recursion is bounded by JsonLimits::depth_max.
#pragma once

#include <string>

#include "http/json_reader.hpp"

namespace oncepay::http {

std::string canonical_json(const JsonValue& value);

}  // namespace oncepay::http

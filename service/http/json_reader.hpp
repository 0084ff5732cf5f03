// Reads one strict, bounded JSON document into a small tree that says exactly what was sent.
//
// Stricter than RFC 8259 has to be, because two readers of one payment must never see two amounts:
// refused are duplicate members (by decoded name, at every level), U+0000 in names and strings, a
// byte order mark, bytes behind the document, invalid UTF-8, lone surrogates, and whatever is over
// JsonLimits. Numbers keep their text: `10`, `10.0`, `1e1`, `-0` and integers of any size stay
// apart.
//
// Deliberately not here: what members mean (requests.hpp). No recursion deeper than depth_max,
// neither here nor in whoever walks the tree or destroys it.
//
// Threads: pure functions. Errors: a JsonError, never an exception, never a word of the input.
// Source: RFC 8259; RFC 7493 (I-JSON) section 2 for members and strings.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace oncepay::http {

struct JsonLimits {
  std::size_t depth_max = 16;  // arrays and objects inside each other; a scalar alone has depth 0
  std::size_t values_max = 65'536;  // in the whole document, itself included
};

enum class JsonKind {
  null,
  boolean,
  integer,  // without fraction and exponent; any size, `-0` too
  number,   // any other number
  string,
  array,
  object
};

struct JsonMember;

struct JsonValue {
  JsonKind kind = JsonKind::null;
  std::string text;  // string: decoded, UTF-8; integer, number: as sent; boolean: "true" or "false"
  std::vector<JsonMember> members;  // of an object, in the order sent
  std::vector<JsonValue> items;     // of an array

  // The member's value; nothing when there is none or this is no object.
  [[nodiscard]] const JsonValue* find(std::string_view name) const;
};

struct JsonMember {
  std::string name;  // decoded, UTF-8
  JsonValue value;
};

struct JsonError {
  std::string_view reason;              // a sentence for the client
  std::optional<std::size_t> position;  // bytes read when it was noticed, where that is known
};

std::variant<JsonValue, JsonError> read_json(std::string_view document,
                                             const JsonLimits& limits = {});

}  // namespace oncepay::http

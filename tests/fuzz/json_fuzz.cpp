// libFuzzer target: whatever the bytes, reading them ends, within the limits, and what is accepted
// has one canonical text that reads back to itself.
//
// Seeds are in corpus/json: documents that are accepted, and one for each reason to refuse.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "http/canonical_json.hpp"
#include "http/json_reader.hpp"
#include "runtime/utf8.hpp"

namespace {

using namespace oncepay::http;

[[noreturn]] void broken(const char* rule) {
  std::fprintf(stderr, "broken: %s\n", rule);
  std::abort();
}

void check_text(std::string_view text) {
  if (text.find('\0') != std::string_view::npos) broken("no U+0000 is accepted");
  if (!oncepay::runtime::is_valid_utf8(text)) broken("what is accepted is UTF-8");
}

// Returns the number of values.
std::size_t check(const JsonValue& value, std::size_t depth) {
  if (depth > JsonLimits{}.depth_max + 1) broken("nesting is bounded");
  check_text(value.text);
  std::size_t values = 1;
  for (const auto& item : value.items) values += check(item, depth + 1);
  for (auto member = value.members.begin(); member != value.members.end(); ++member) {
    check_text(member->name);
    const bool again = std::any_of(value.members.begin(), member, [&](const JsonMember& earlier) {
      return earlier.name == member->name;
    });
    if (again) broken("no name comes twice");
    values += check(member->value, depth + 1);
  }
  return values;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view document(reinterpret_cast<const char*>(data), size);
  const auto read = read_json(document);
  const auto* value = std::get_if<JsonValue>(&read);
  if (value == nullptr) return 0;
  if (check(*value, 0) > JsonLimits{}.values_max) broken("the number of values is bounded");
  const auto canonical = canonical_json(*value);
  const auto again = read_json(canonical);
  if (!std::holds_alternative<JsonValue>(again)) broken("a canonical text is accepted");
  if (canonical_json(std::get<JsonValue>(again)) != canonical)
    broken("the canonical text of a canonical text is itself");
  return 0;
}

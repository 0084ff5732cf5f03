#include "http/canonical_json.hpp"

#include <algorithm>
#include <vector>

#include "http/json_text.hpp"

namespace oncepay::http {
namespace {

void append(std::string& out, const JsonValue& value);

void append_object(std::string& out, const std::vector<JsonMember>& members) {
  std::vector<const JsonMember*> sorted;
  sorted.reserve(members.size());
  for (const auto& member : members) sorted.push_back(&member);
  std::sort(sorted.begin(), sorted.end(),
            [](const JsonMember* a, const JsonMember* b) { return a->name < b->name; });
  out += '{';
  for (std::size_t at = 0; at < sorted.size(); ++at) {
    if (at != 0) out += ',';
    append_json_string(out, sorted[at]->name);
    out += ':';
    append(out, sorted[at]->value);
  }
  out += '}';
}

void append_array(std::string& out, const std::vector<JsonValue>& items) {
  out += '[';
  for (std::size_t at = 0; at < items.size(); ++at) {
    if (at != 0) out += ',';
    append(out, items[at]);
  }
  out += ']';
}

void append(std::string& out, const JsonValue& value) {
  switch (value.kind) {
    case JsonKind::null:
      out += "null";
      return;
    case JsonKind::boolean:
    case JsonKind::integer:
    case JsonKind::number:
      out += value.text;
      return;
    case JsonKind::string:
      append_json_string(out, value.text);
      return;
    case JsonKind::array:
      append_array(out, value.items);
      return;
    case JsonKind::object:
      append_object(out, value.members);
      return;
  }
}

}  // namespace

std::string canonical_json(const JsonValue& value) {
  constexpr std::size_t usual_bytes = 512;
  std::string out;
  out.reserve(usual_bytes);
  append(out, value);
  return out;
}

}  // namespace oncepay::http

#include "http/trace.hpp"

#include <algorithm>

namespace oncepay::http {
namespace {

// version "-" trace-id "-" parent-id "-" trace-flags
constexpr std::size_t version_length = 2, trace_id_length = 32, parent_id_length = 16;
constexpr std::size_t trace_id_begin = version_length + 1;
constexpr std::size_t parent_id_begin = trace_id_begin + trace_id_length + 1;
constexpr std::size_t flags_begin = parent_id_begin + parent_id_length + 1;
constexpr std::size_t length_of_version_0 = flags_begin + 2;

bool is_hex(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

bool is_zero(std::string_view text) {
  return text.find_first_not_of('0') == std::string_view::npos;
}

// Later versions may go on behind the flags, after another dash.
bool has_length(std::string_view field) {
  if (field.size() == length_of_version_0) return true;
  return field.size() > length_of_version_0 && !field.starts_with("00") &&
         field[length_of_version_0] == '-';
}

}  // namespace

std::optional<TraceParent> parse_trace_parent(std::string_view field) {
  if (!has_length(field)) return std::nullopt;
  const auto version = field.substr(0, version_length);
  const auto trace_id = field.substr(trace_id_begin, trace_id_length);
  const auto parent_id = field.substr(parent_id_begin, parent_id_length);
  const auto flags = field.substr(flags_begin, 2);
  for (const std::size_t dash : {trace_id_begin - 1, parent_id_begin - 1, flags_begin - 1}) {
    if (field[dash] != '-') return std::nullopt;
  }
  if (!is_hex(version) || version == "ff" || !is_hex(trace_id) || is_zero(trace_id) ||
      !is_hex(parent_id) || is_zero(parent_id) || !is_hex(flags)) {
    return std::nullopt;
  }
  return TraceParent{std::string(trace_id), std::string(parent_id)};
}

std::optional<TraceParent> trace_parent_of(const Request& request) {
  const auto field = request.header("traceparent");
  return field ? parse_trace_parent(*field) : std::nullopt;
}

}  // namespace oncepay::http

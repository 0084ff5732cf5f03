#include "http/json_reader.hpp"

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>

namespace oncepay::http {
namespace {

using Json = nlohmann::json;

constexpr std::string_view reason_empty = "The body is empty; send one JSON document.";
constexpr std::string_view reason_nul = "The body holds a NUL byte.";
constexpr std::string_view reason_mark = "The body begins with a byte order mark; send none.";
constexpr std::string_view reason_syntax =
    "The body is not one JSON document by RFC 8259, in UTF-8.";
constexpr std::string_view reason_range = "A number is too large to be read.";
constexpr std::string_view reason_duplicate = "An object has two members of the same name.";
constexpr std::string_view reason_zero = "A string or name holds U+0000.";
constexpr std::string_view reason_depth = "Arrays and objects are nested too deeply.";
constexpr std::string_view reason_values = "The document has too many values.";

// Comparing each with each is fastest for the few members that honest requests have; the sort keeps
// a hostile object from costing the square of its size.
bool has_duplicates(const std::vector<JsonMember>& members) {
  constexpr std::size_t few = 12;
  if (members.size() <= few) {
    for (std::size_t later = 1; later < members.size(); ++later)
      for (std::size_t earlier = 0; earlier < later; ++earlier)
        if (members[earlier].name == members[later].name) return true;
    return false;
  }
  std::vector<std::string_view> names;
  names.reserve(members.size());
  for (const auto& member : members) names.emplace_back(member.name);
  std::sort(names.begin(), names.end());
  return std::adjacent_find(names.begin(), names.end()) != names.end();
}

// Digits and sign alone. The library writes the locale's decimal point, so asking for '.' would not
// do.
bool is_integer_text(std::string_view text) {
  return text.find_first_not_of("-0123456789") == std::string_view::npos;
}

// Takes the library's SAX events (false = stop) and builds the tree. An event for a value goes to
// the innermost open array, or to the member that was begun last in the innermost open object.
// Pointers to open values stay good: only the innermost one's children grow.
class TreeBuilder {
 public:
  explicit TreeBuilder(const JsonLimits& limits) : limits_(limits) {}

  bool null() { return add(JsonKind::null, {}) != nullptr; }
  bool boolean(bool yes) { return add(JsonKind::boolean, yes ? "true" : "false") != nullptr; }
  // Comes for negative integers alone, so its zero was sent as `-0`.
  bool number_integer(std::int64_t number) {
    return add(JsonKind::integer, number == 0 ? "-0" : std::to_string(number)) != nullptr;
  }
  // JSON has no leading zeros and no plus sign: the digits are those that were sent.
  bool number_unsigned(std::uint64_t number) {
    return add(JsonKind::integer, std::to_string(number)) != nullptr;
  }
  // Comes for integers beyond 64 bits too.
  bool number_float(double, const std::string& text) {
    const auto kind = is_integer_text(text) ? JsonKind::integer : JsonKind::number;
    return add(kind, text) != nullptr;
  }
  bool string(std::string& text) {
    if (text.find('\0') != std::string::npos) return stop(reason_zero);
    return add(JsonKind::string, std::move(text)) != nullptr;
  }
  bool binary(Json::binary_t&) { return stop(reason_syntax); }  // never comes from text

  bool start_object(std::size_t) { return open(JsonKind::object); }
  bool start_array(std::size_t) { return open(JsonKind::array); }
  bool key(std::string& name) {
    if (name.find('\0') != std::string::npos) return stop(reason_zero);
    open_.back()->members.push_back({std::move(name), {}});
    return true;
  }
  bool end_object() {
    if (has_duplicates(open_.back()->members)) return stop(reason_duplicate);
    open_.pop_back();
    return true;
  }
  bool end_array() {
    open_.pop_back();
    return true;
  }

  // The exception's text repeats the input: only its kind is looked at.
  bool parse_error(std::size_t position, const std::string&, const Json::exception& error) {
    constexpr int number_overflow = 406;
    error_ = {error.id == number_overflow ? reason_range : reason_syntax, position};
    return false;
  }

  JsonValue take() { return std::move(root_); }
  [[nodiscard]] const JsonError& error() const { return error_; }

 private:
  bool stop(std::string_view reason) {
    error_ = {reason, std::nullopt};
    return false;
  }

  JsonValue* add(JsonKind kind, std::string text) {
    if (++values_ > limits_.values_max) {
      stop(reason_values);
      return nullptr;
    }
    JsonValue* place = &root_;
    if (!open_.empty()) {
      JsonValue& parent = *open_.back();
      place = parent.kind == JsonKind::array ? &parent.items.emplace_back()
                                             : &parent.members.back().value;
    }
    place->kind = kind;
    place->text = std::move(text);
    return place;
  }

  bool open(JsonKind kind) {
    if (open_.size() == limits_.depth_max) return stop(reason_depth);
    JsonValue* const value = add(kind, {});
    if (value == nullptr) return false;
    constexpr std::size_t usual_members = 8;
    if (kind == JsonKind::object) value->members.reserve(usual_members);
    open_.push_back(value);
    return true;
  }

  const JsonLimits& limits_;
  JsonValue root_;
  std::vector<JsonValue*> open_;
  std::size_t values_ = 0;
  JsonError error_{reason_syntax, std::nullopt};
};

}  // namespace

const JsonValue* JsonValue::find(std::string_view name) const {
  for (const auto& member : members)
    if (member.name == name) return &member.value;
  return nullptr;
}

std::variant<JsonValue, JsonError> read_json(std::string_view document, const JsonLimits& limits) {
  if (document.empty()) return JsonError{reason_empty, 0};
  // The library takes a NUL for the end of the input and never looks at what follows.
  if (const auto at = document.find('\0'); at != std::string_view::npos)
    return JsonError{reason_nul, at};
  // The library skips a byte order mark.
  if (document.starts_with("\xEF\xBB\xBF")) return JsonError{reason_mark, 0};

  TreeBuilder builder(limits);
  const bool whole = Json::sax_parse(document.begin(), document.end(), &builder,
                                     Json::input_format_t::json, /*strict=*/true);
  if (!whole) return builder.error();
  return builder.take();
}

}  // namespace oncepay::http

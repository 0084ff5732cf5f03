#include "http/requests.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <span>

#include "http/json_text.hpp"
#include "payments/currency.hpp"

namespace oncepay::http {
namespace {

constexpr std::string_view detail_missing = "is required";
constexpr std::string_view detail_string = "must be a string";
constexpr std::string_view detail_amount =
    "must be an integer of minor units from 1 to 9007199254740991, without fraction or exponent";
constexpr std::string_view detail_overdraft_limit =
    "must be null (no floor) or an integer of minor units from 0 to 9007199254740991";
constexpr std::string_view detail_currency = "must be an active ISO 4217 code of three capitals";
constexpr std::string_view detail_account_id = "must be 1 to 64 of A-Z a-z 0-9 : . _ -";
constexpr std::string_view detail_same_account = "must differ from source";
constexpr std::string_view detail_description = "must have at most 500 characters";
constexpr std::string_view detail_metadata = "must be an object of strings";
constexpr std::string_view detail_metadata_pairs = "must have at most 50 members";
constexpr std::string_view detail_metadata_name = "must have a name of at most 40 characters";
constexpr std::string_view detail_metadata_value = "must be a string of at most 500 characters";
constexpr std::string_view detail_unknown = "is not a member of this request";
constexpr std::string_view detail_document = "must be an object";

// Collects the faults of one document; readers of single members return a value or note why not.
class DocumentReader {
 public:
  explicit DocumentReader(const JsonValue& document) : document_(document) {}

  std::optional<std::int64_t> integer(std::string_view name, std::int64_t least,
                                      std::string_view detail);
  std::string currency(std::string_view name);
  std::string account_id(std::string_view name);
  std::optional<std::string> description(std::string_view name);
  std::string metadata(std::string_view name);
  void refuse_unknown(std::span<const std::string_view> known);

  // Null counts as a value here.
  const JsonValue* present(std::string_view name) { return document_.find(name); }
  // A list that nobody reads to its end stays bounded.
  void note(std::string pointer, std::string_view detail) {
    if (errors_.size() >= errors_max) return;
    errors_.push_back({std::move(pointer), std::string(detail)});
  }
  [[nodiscard]] FieldErrors& errors() { return errors_; }

 private:
  const JsonValue* required(std::string_view name) {
    const JsonValue* value = present(name);
    if (value == nullptr) note(pointer_to(name), detail_missing);
    return value;
  }
  const JsonValue* optional(std::string_view name) {
    const JsonValue* value = present(name);
    return value == nullptr || value->kind == JsonKind::null ? nullptr : value;
  }
  bool check_metadata(const JsonValue& value, const std::string& pointer);

  const JsonValue& document_;
  FieldErrors errors_;
};

std::optional<std::int64_t> DocumentReader::integer(std::string_view name, std::int64_t least,
                                                    std::string_view detail) {
  const JsonValue* value = required(name);
  if (value == nullptr) return std::nullopt;
  std::int64_t number = 0;
  const char* const end = value->text.data() + value->text.size();
  // No minus sign: nothing here may be negative, and `-0` is no amount that anybody means.
  const bool fits = value->kind == JsonKind::integer && value->text.front() != '-' &&
                    std::from_chars(value->text.data(), end, number).ec == std::errc{};
  if (fits && number >= least && number <= payments::amount_max) return number;
  note(pointer_to(name), detail);
  return std::nullopt;
}

std::string DocumentReader::currency(std::string_view name) {
  const JsonValue* value = required(name);
  if (value == nullptr) return {};
  if (value->kind == JsonKind::string && payments::is_currency(value->text)) return value->text;
  note(pointer_to(name), detail_currency);
  return {};
}

std::string DocumentReader::account_id(std::string_view name) {
  const JsonValue* value = required(name);
  if (value == nullptr) return {};
  if (value->kind == JsonKind::string && payments::is_account_id(value->text)) return value->text;
  note(pointer_to(name), detail_account_id);
  return {};
}

std::optional<std::string> DocumentReader::description(std::string_view name) {
  const JsonValue* value = optional(name);
  if (value == nullptr) return std::nullopt;
  if (value->kind != JsonKind::string) {
    note(pointer_to(name), detail_string);
  } else if (count_code_points(value->text) > description_length_max) {
    note(pointer_to(name), detail_description);
  } else {
    return value->text;
  }
  return std::nullopt;
}

bool DocumentReader::check_metadata(const JsonValue& value, const std::string& pointer) {
  if (value.kind != JsonKind::object) {
    note(pointer, detail_metadata);
    return false;
  }
  const std::size_t before = errors_.size();
  if (value.members.size() > metadata_pairs_max) note(pointer, detail_metadata_pairs);
  for (const auto& [name, text] : value.members) {
    if (count_code_points(name) > metadata_name_length_max)
      note(pointer + pointer_to(name), detail_metadata_name);
    if (text.kind != JsonKind::string || count_code_points(text.text) > metadata_value_length_max)
      note(pointer + pointer_to(name), detail_metadata_value);
  }
  return errors_.size() == before;
}

std::string DocumentReader::metadata(std::string_view name) {
  const JsonValue* value = optional(name);
  if (value == nullptr || !check_metadata(*value, pointer_to(name))) return "{}";
  std::string text = "{";
  for (std::size_t at = 0; at < value->members.size(); ++at) {
    if (at != 0) text += ',';
    append_json_string(text, value->members[at].name);
    text += ':';
    append_json_string(text, value->members[at].value.text);
  }
  text += '}';
  return text;
}

void DocumentReader::refuse_unknown(std::span<const std::string_view> known) {
  for (const auto& member : document_.members)
    if (std::find(known.begin(), known.end(), member.name) == known.end())
      note(pointer_to(member.name), detail_unknown);
}

}  // namespace

std::variant<payments::PaymentRequest, FieldErrors> read_payment_request(
    const JsonValue& document) {
  if (document.kind != JsonKind::object)
    return FieldErrors{{std::string(), std::string(detail_document)}};
  static constexpr std::string_view known[] = {"amount",      "currency",    "source",
                                               "destination", "description", "metadata"};
  DocumentReader reader(document);
  payments::PaymentRequest request;
  request.amount = reader.integer("amount", 1, detail_amount).value_or(0);
  request.currency = reader.currency("currency");
  request.source = reader.account_id("source");
  request.destination = reader.account_id("destination");
  if (!request.source.empty() && request.source == request.destination)
    reader.note("/destination", detail_same_account);
  request.description = reader.description("description");
  request.metadata = reader.metadata("metadata");
  reader.refuse_unknown(known);
  if (!reader.errors().empty()) return std::move(reader.errors());
  return request;
}

std::variant<payments::AccountRequest, FieldErrors> read_account_request(
    const JsonValue& document) {
  if (document.kind != JsonKind::object)
    return FieldErrors{{std::string(), std::string(detail_document)}};
  static constexpr std::string_view known[] = {"id", "currency", "overdraft_limit"};
  DocumentReader reader(document);
  payments::AccountRequest request;
  request.id = reader.account_id("id");
  request.currency = reader.currency("currency");
  // Absent is not null here: absent is the default, null is no floor.
  if (const JsonValue* limit = reader.present("overdraft_limit"); limit != nullptr) {
    request.overdraft_limit.reset();
    if (limit->kind != JsonKind::null)
      request.overdraft_limit = reader.integer("overdraft_limit", 0, detail_overdraft_limit);
  }
  reader.refuse_unknown(known);
  if (!reader.errors().empty()) return std::move(reader.errors());
  return request;
}

std::string pointer_to(std::string_view name) {
  std::string pointer = "/";
  for (const char c : name) {
    if (c == '~') {
      pointer += "~0";
    } else if (c == '/') {
      pointer += "~1";
    } else {
      pointer += c;
    }
  }
  return pointer;
}

std::size_t count_code_points(std::string_view utf8) {
  const auto begins_one = [](char byte) {
    return (static_cast<unsigned char>(byte) & 0xC0) != 0x80;
  };
  return static_cast<std::size_t>(std::count_if(utf8.begin(), utf8.end(), begins_one));
}

}  // namespace oncepay::http

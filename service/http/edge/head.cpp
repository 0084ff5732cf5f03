#include "http/edge/head.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

namespace oncepay::http::edge {
namespace {

// The fields that frame a message, gathered in one pass.
struct FramingFields {
  std::size_t hosts = 0;
  std::string_view host;
  std::size_t lengths = 0;
  std::string_view length;
  std::size_t codings = 0;
  std::string_view coding;
  bool continue_expected = false;
  bool expects_unknown = false;
  bool close = false;
  bool keep_alive = false;
};

void read_connection_options(std::string_view value, FramingFields& fields) {
  while (!value.empty()) {
    const std::size_t comma = std::min(value.find(','), value.size());
    const std::string_view option = trimmed(value.substr(0, comma));
    fields.close = fields.close || equals_ignoring_case(option, "close");
    fields.keep_alive = fields.keep_alive || equals_ignoring_case(option, "keep-alive");
    value.remove_prefix(std::min(comma + 1, value.size()));
  }
}

FramingFields gather(const std::vector<Header>& headers) {
  FramingFields fields;
  for (const auto& [name, value] : headers) {
    if (equals_ignoring_case(name, "Host")) {
      ++fields.hosts;
      fields.host = value;
    } else if (equals_ignoring_case(name, "Content-Length")) {
      ++fields.lengths;
      fields.length = value;
    } else if (equals_ignoring_case(name, "Transfer-Encoding")) {
      ++fields.codings;
      fields.coding = value;
    } else if (equals_ignoring_case(name, "Connection")) {
      read_connection_options(value, fields);
    } else if (equals_ignoring_case(name, "Expect")) {
      const bool known = equals_ignoring_case(value, "100-continue");
      fields.continue_expected = fields.continue_expected || known;
      fields.expects_unknown = fields.expects_unknown || !known;
    }
  }
  return fields;
}

// "gzip, chunked" is a coding that we do not know and would be told about; whatever does not end in
// one "chunked" has no end that two readers would agree on.
Refusal refuse_coding(std::string_view coding) {
  const std::size_t comma = coding.rfind(',');
  if (comma == std::string_view::npos) return refusals::transfer_coding_invalid;
  const std::string_view before = coding.substr(0, comma);
  const bool ends_chunked = equals_ignoring_case(trimmed(coding.substr(comma + 1)), "chunked");
  const bool one_token_before = is_token(trimmed(before));
  const bool chunked_twice = equals_ignoring_case(trimmed(before), "chunked");
  return ends_chunked && one_token_before && !chunked_twice ? refusals::transfer_coding_unsupported
                                                            : refusals::transfer_coding_invalid;
}

// Digits alone; from_chars takes neither signs nor spaces nor prefixes for an unsigned number.
std::optional<std::uint64_t> parse_length(std::string_view text) {
  std::uint64_t length = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, fault] = std::from_chars(text.data(), end, length);
  if (fault != std::errc{} || stopped != end) return std::nullopt;
  return length;
}

std::optional<Refusal> read_body_length(Version version, const FramingFields& fields,
                                        std::size_t body_bytes_max, HeadMeaning& meaning) {
  if (fields.codings > 0) {
    if (fields.lengths > 0) return refusals::length_conflict;
    // A coding in HTTP/1.0 was added by somebody who did not know: its framing is faulty.
    if (version == Version::http_1_0 || fields.codings > 1) {
      return refusals::transfer_coding_invalid;
    }
    if (!equals_ignoring_case(fields.coding, "chunked")) return refuse_coding(fields.coding);
    meaning.body = BodyKind::chunked;
    return std::nullopt;
  }
  if (fields.lengths == 0) return std::nullopt;
  // Two equal lengths may be folded, but a sender that repeats itself is not one to trust with
  // money.
  if (fields.lengths > 1) return refusals::length_invalid;
  const std::optional<std::uint64_t> length = parse_length(fields.length);
  if (!length) return refusals::length_invalid;
  if (*length > body_bytes_max) return refusals::body_too_large;
  if (*length > 0) {
    meaning.body = BodyKind::sized;
    meaning.body_bytes = static_cast<std::size_t>(*length);
  }
  return std::nullopt;
}

}  // namespace

std::variant<HeadMeaning, Refusal> read_head(Version version, const std::vector<Header>& headers,
                                             std::size_t body_bytes_max) {
  const FramingFields fields = gather(headers);
  const std::size_t hosts_min = version == Version::http_1_1 ? 1 : 0;
  if (fields.hosts < hosts_min || fields.hosts > 1 || !is_host(fields.host)) {
    return refusals::host_invalid;
  }
  HeadMeaning meaning;
  if (const auto refusal = read_body_length(version, fields, body_bytes_max, meaning)) {
    return *refusal;
  }
  // An expectation in HTTP/1.0 is to be ignored: such a client could not read the interim answer.
  if (version == Version::http_1_1) {
    if (fields.expects_unknown) return refusals::expectation_unknown;
    meaning.continue_expected = fields.continue_expected && meaning.body != BodyKind::none;
  }
  meaning.keep_alive = !fields.close && (version == Version::http_1_1 || fields.keep_alive);
  return meaning;
}

}  // namespace oncepay::http::edge

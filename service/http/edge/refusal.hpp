// Every answer that the edge gives by itself: a status, a stable reason and a sentence that helps.
//
// Deliberately not here: problem documents. EdgeConfig::refuse turns a Refusal into a Response, so
// the look of errors has one home. No text of the request is ever in a refusal.
//
// Threads: constants. Source: RFC 9110 section 15 (statuses), RFC 9112 (what is malformed).
#pragma once

#include <string_view>

namespace oncepay::http::edge {

struct Refusal {
  int status = 500;
  std::string_view reason;  // kebab-case, stable: programs and metrics may rely on it
  std::string_view detail;  // what the sender has to change
};

inline bool operator==(const Refusal& a, const Refusal& b) { return a.reason == b.reason; }

namespace refusals {

// Framing: decided from the bytes alone, by framing.hpp. The connection is closed afterwards,
// because where the next request begins is unknown.
inline constexpr Refusal request_line_invalid{
    400, "request-line-invalid", "The request line must be: method, target, HTTP/1.1."};
inline constexpr Refusal target_invalid{
    400, "target-invalid",
    "The request target must be a path with an optional query, percent-encoded."};
inline constexpr Refusal version_unsupported{505, "version-unsupported",
                                             "Only HTTP/1.1 and HTTP/1.0 are spoken here."};
inline constexpr Refusal control_character{400, "control-character",
                                           "The request has a control character outside its body."};
inline constexpr Refusal line_end_invalid{400, "line-end-invalid",
                                          "Every line must end in CR LF; neither may stand alone."};
inline constexpr Refusal field_invalid{
    400, "field-invalid", "A header line must be: name, colon, value, without folding."};
inline constexpr Refusal host_invalid{400, "host-invalid",
                                      "Send exactly one Host header with a valid host."};
inline constexpr Refusal length_invalid{
    400, "length-invalid", "Send one Content-Length of digits alone, once, or chunked alone."};
inline constexpr Refusal length_conflict{
    400, "length-conflict", "Content-Length and Transfer-Encoding must not be sent together."};
inline constexpr Refusal transfer_coding_invalid{
    400, "transfer-coding-invalid", "Transfer-Encoding must be chunked, once, in HTTP/1.1."};
inline constexpr Refusal transfer_coding_unsupported{
    501, "transfer-coding-unsupported", "No transfer coding but chunked is understood here."};
inline constexpr Refusal chunk_invalid{
    400, "chunk-invalid", "The chunked body breaks the rules of RFC 9112, section 7.1."};
inline constexpr Refusal expectation_unknown{417, "expectation-unknown",
                                             "The only expectation met here is 100-continue."};
inline constexpr Refusal head_too_large{431, "head-too-large", "Send fewer or shorter headers."};
inline constexpr Refusal too_many_fields{431, "too-many-fields", "Send fewer headers."};
inline constexpr Refusal body_too_large{413, "body-too-large", "Send a smaller body."};

// The loop: decided from time and load. Those marked (retry) carry Retry-After.
inline constexpr Refusal request_timeout{
    408, "request-timeout", "The request did not arrive in time. Send it again, faster."};
inline constexpr Refusal overloaded{
    503, "overloaded", "Too much is waiting here. Send the same request again later."};  // (retry)
inline constexpr Refusal too_many_connections{
    503, "too-many-connections", "Too many connections are open. Try again later."};  // (retry)
inline constexpr Refusal address_connections{
    429, "address-connections",
    "Too many connections are open from this address. Reuse those."};  // (retry)
inline constexpr Refusal internal{500, "internal", "The service failed to answer this request."};

}  // namespace refusals
}  // namespace oncepay::http::edge

// Problem documents: the one place where anything that goes wrong gets its HTTP look.
//
// Each kind has a stable type, a status and the two answers that a client's retry loop needs: may
// the same request be sent again by itself (`retryable`), and with the same key (`same_key`)? The
// latter stays true wherever the key is not used up: the corrected request may use it. `detail`
// says what to do next. No SQL, no host names, no request text; the one exception are names of
// unknown members and parameters, because the contract promises them by pointer.
//
// Deliberately not here: when a problem arises (admission, routes, edge).
//
// Threads: pure functions. Source: RFC 9457; RFC 6901 (pointers); RFC 9110 section 10.2.3.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "http/message.hpp"

namespace oncepay::http {

enum class ProblemKind {
  malformed_request,
  request_timeout,
  payload_too_large,
  head_too_large,
  expectation_failed,
  not_implemented,
  version_not_supported,
  too_many_connections,
  unauthorized,
  forbidden,
  not_found,
  method_not_allowed,
  unsupported_media_type,
  idempotency_key_missing,
  idempotency_key_invalid,
  invalid_json,
  invalid_request,
  idempotency_key_reused,
  request_in_progress,
  overloaded,
  unavailable,
  account_not_found,
  currency_mismatch,
  account_exists,
  insufficient_funds,
  balance_limit,
  internal,
  outcome_unknown,
};

// One thing to change in a request. The pointer is an RFC 6901 JSON pointer into the body ("" is
// the whole of it), or `?name` for a query parameter.
struct FieldError {
  std::string pointer;
  std::string detail;
};

struct Problem {
  ProblemKind kind = ProblemKind::internal;
  std::string detail = {};  // empty: what the kind says by itself
  std::vector<FieldError> errors = {};
  std::string payment_id = {};       // left out when empty
  std::string_view reason = {};      // a finer, stable code; left out when empty
  std::vector<Header> headers = {};  // beyond those of the kind, e.g. Allow
};

// "insufficient-funds": the last part of the type, and the label in metrics.
std::string_view slug_of(ProblemKind kind);
int status_of(ProblemKind kind);

inline constexpr std::string_view problem_media_type = "application/problem+json";

// The slug of a document that problem_body() made, now or before it was stored; empty for any other
// text. It views a constant, so it may be a label.
std::string_view slug_in(std::string_view body);

// The document alone. `request_id` becomes `instance`.
std::string problem_body(const Problem& problem, std::string_view request_id);

// With Content-Type, Retry-After and WWW-Authenticate where the kind has them.
Response problem_response(const Problem& problem, std::string_view request_id);

// For whoever refuses bytes before they are a request. The kind follows from the status;
// `reason_code` is a constant of the caller's and becomes the member `reason`, `detail` is taken as
// it is.
Response refuse(int status, std::string_view reason_code, std::string_view detail);

}  // namespace oncepay::http

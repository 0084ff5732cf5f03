#include "http/problem.hpp"

#include <array>
#include <optional>

#include "http/json_text.hpp"
#include "runtime/uuid.hpp"

namespace oncepay::http {
namespace {

enum class Retry { no, yes };
enum class Key { change, keep };

struct Traits {
  ProblemKind kind;
  int status;
  std::string_view slug;
  std::string_view title;
  Retry retry;
  Key key;
  int retry_after_s;  // 0: none
  std::string_view detail;
};

// In the order of the enum, which static_assert checks below.
constexpr auto traits = std::to_array<Traits>({
    {ProblemKind::malformed_request, 400, "malformed-request", "Malformed request", Retry::no,
     Key::keep, 0, "Send a well-formed HTTP/1.1 request."},
    {ProblemKind::request_timeout, 408, "request-timeout", "Request timeout", Retry::yes, Key::keep,
     0, "The request did not arrive in time. Send it again."},
    {ProblemKind::payload_too_large, 413, "payload-too-large", "Body too large", Retry::no,
     Key::keep, 0, "Send a smaller body."},
    {ProblemKind::head_too_large, 431, "head-too-large", "Header too large", Retry::no, Key::keep,
     0, "Send fewer or shorter header fields."},
    {ProblemKind::expectation_failed, 417, "expectation-failed", "Expectation failed", Retry::no,
     Key::keep, 0, "Send no Expect header but 100-continue."},
    {ProblemKind::not_implemented, 501, "not-implemented", "Not implemented", Retry::no, Key::keep,
     0, "Send the request without this feature."},
    {ProblemKind::version_not_supported, 505, "version-not-supported", "HTTP version not supported",
     Retry::no, Key::keep, 0, "Send the request in HTTP/1.1."},
    {ProblemKind::too_many_connections, 429, "too-many-connections", "Too many connections",
     Retry::yes, Key::keep, 1, "Reuse the connections that are open."},
    {ProblemKind::unauthorized, 401, "unauthorized", "API key missing or unknown", Retry::no,
     Key::keep, 0, "Send exactly one header `Authorization: Bearer` with a valid API key."},
    {ProblemKind::forbidden, 403, "forbidden", "Scope missing", Retry::no, Key::keep, 0,
     "The API key lacks the scope for this call: POST needs `write`, reading needs `read`. Use "
     "another API key."},
    {ProblemKind::not_found, 404, "not-found", "Not found", Retry::no, Key::keep, 0,
     "There is nothing here. Check the path and the id in it."},
    {ProblemKind::method_not_allowed, 405, "method-not-allowed", "Method not allowed", Retry::no,
     Key::keep, 0, "Use one of the methods that the Allow header names."},
    {ProblemKind::unsupported_media_type, 415, "unsupported-media-type", "Unsupported media type",
     Retry::no, Key::keep, 0,
     "Send the body as `Content-Type: application/json` in UTF-8, without a Content-Encoding."},
    {ProblemKind::idempotency_key_missing, 400, "idempotency-key-missing",
     "Idempotency key missing", Retry::no, Key::change, 0,
     "Send one Idempotency-Key header: a value of yours that names this one operation, and the "
     "same one whenever you send it again."},
    {ProblemKind::idempotency_key_invalid, 400, "idempotency-key-invalid",
     "Idempotency key invalid", Retry::no, Key::change, 0,
     "Send exactly one Idempotency-Key of 1 to 255 visible ASCII characters, bare or as a quoted "
     "string."},
    {ProblemKind::invalid_json, 400, "invalid-json", "Body is not strict JSON", Retry::no,
     Key::keep, 0, "Correct the body. Nothing was stored: the key may be used again."},
    {ProblemKind::invalid_request, 400, "invalid-request", "Request breaks a rule", Retry::no,
     Key::keep, 0, "Correct what `errors` names. Nothing was stored: the key may be used again."},
    {ProblemKind::idempotency_key_reused, 422, "idempotency-key-reused",
     "Idempotency key belongs to another request", Retry::no, Key::change, 0,
     "This key was first sent with another method, path or body. Use a new key for a new "
     "operation, or send the first request unchanged to get its answer."},
    {ProblemKind::request_in_progress, 409, "request-in-progress", "Request in progress",
     Retry::yes, Key::keep, 1,
     "The same request is being processed. Send it again with the same key after Retry-After to "
     "get its answer."},
    {ProblemKind::overloaded, 503, "overloaded", "Overloaded", Retry::yes, Key::keep, 1,
     "Too much is waiting here and nothing was claimed. Send the same request with the same key "
     "again after Retry-After."},
    {ProblemKind::unavailable, 503, "unavailable", "Unavailable", Retry::yes, Key::keep, 2,
     "The service cannot take requests now and nothing was claimed. Send the same request with "
     "the same key again after Retry-After."},
    {ProblemKind::account_not_found, 422, "account-not-found", "Account not found", Retry::no,
     Key::keep, 0,
     "Nothing was moved and the key is not used up. Open the account, or correct the request."},
    {ProblemKind::currency_mismatch, 422, "currency-mismatch", "Currency mismatch", Retry::no,
     Key::keep, 0,
     "Nothing was moved and the key is not used up. Pay in the currency of both accounts."},
    {ProblemKind::account_exists, 409, "account-exists", "Account exists", Retry::no, Key::keep, 0,
     "An account with this id is open already; nothing was changed and the key is not used up. "
     "Read the account, or choose another id."},
    {ProblemKind::insufficient_funds, 402, "insufficient-funds", "Insufficient funds", Retry::no,
     Key::change, 0,
     "The payment was declined and this answer stays under its key. To try again, use a new key "
     "once the source account has the money."},
    {ProblemKind::balance_limit, 402, "balance-limit", "Balance limit reached", Retry::no,
     Key::change, 0,
     "The payment was declined, because a balance would leave the range that is exact in JSON, "
     "and this answer stays under its key. To try again, use a new key and a smaller amount."},
    {ProblemKind::internal, 500, "internal", "Internal error", Retry::yes, Key::keep, 0,
     "The service failed and everything was rolled back. Send the same request with the same key "
     "again, and report the instance if it fails again."},
    {ProblemKind::outcome_unknown, 503, "outcome-unknown", "Outcome unknown", Retry::yes, Key::keep,
     2,
     "It is not known yet whether this request was executed. Send it again with the same key "
     "after Retry-After: that tells, and never executes it twice. A new key might pay twice."},
});

constexpr bool in_order() {
  for (std::size_t at = 0; at < traits.size(); ++at)
    if (static_cast<std::size_t>(traits[at].kind) != at) return false;
  return traits.size() == static_cast<std::size_t>(ProblemKind::outcome_unknown) + 1;
}
static_assert(in_order());

const Traits& of(ProblemKind kind) { return traits[static_cast<std::size_t>(kind)]; }

void append_member(std::string& out, std::string_view name, std::string_view text) {
  out += ",\"";
  out += name;
  out += "\":";
  append_json_string(out, text);
}

void append_errors(std::string& out, const std::vector<FieldError>& errors) {
  out += ",\"errors\":[";
  for (std::size_t at = 0; at < errors.size(); ++at) {
    out += at == 0 ? "{\"pointer\":" : ",{\"pointer\":";
    append_json_string(out, errors[at].pointer);
    append_member(out, "detail", errors[at].detail);
    out += '}';
  }
  out += ']';
}

ProblemKind kind_for_status(int status) {
  switch (status) {
    case 408:
      return ProblemKind::request_timeout;
    case 413:
      return ProblemKind::payload_too_large;
    case 417:
      return ProblemKind::expectation_failed;
    case 429:
      return ProblemKind::too_many_connections;
    case 431:
      return ProblemKind::head_too_large;
    case 500:
      return ProblemKind::internal;
    case 501:
      return ProblemKind::not_implemented;
    case 503:
      return ProblemKind::overloaded;
    case 505:
      return ProblemKind::version_not_supported;
    default:
      return ProblemKind::malformed_request;
  }
}

}  // namespace

std::string_view slug_of(ProblemKind kind) { return of(kind).slug; }

std::string_view slug_in(std::string_view body) {
  constexpr std::string_view opening = "{\"type\":\"/problems/";
  if (!body.starts_with(opening)) return {};
  body.remove_prefix(opening.size());
  for (const Traits& kind : traits) {
    if (body.starts_with(kind.slug) && body.substr(kind.slug.size()).starts_with('"'))
      return kind.slug;
  }
  return {};
}

int status_of(ProblemKind kind) { return of(kind).status; }

std::string problem_body(const Problem& problem, std::string_view request_id) {
  const Traits& kind = of(problem.kind);
  constexpr std::size_t usual_bytes = 512;
  std::string out;
  out.reserve(usual_bytes);
  out += "{\"type\":\"/problems/";
  out += kind.slug;
  out += '"';
  append_member(out, "title", kind.title);
  out += ",\"status\":";
  append_json_number(out, kind.status);
  append_member(out, "detail", problem.detail.empty() ? kind.detail : problem.detail);
  append_member(out, "instance", request_id);
  out += kind.retry == Retry::yes ? ",\"retryable\":true" : ",\"retryable\":false";
  out += kind.key == Key::keep ? ",\"same_key\":true" : ",\"same_key\":false";
  if (!problem.reason.empty()) append_member(out, "reason", problem.reason);
  if (!problem.payment_id.empty()) append_member(out, "payment_id", problem.payment_id);
  if (!problem.errors.empty()) append_errors(out, problem.errors);
  out += '}';
  return out;
}

Response problem_response(const Problem& problem, std::string_view request_id) {
  const Traits& kind = of(problem.kind);
  Response response;
  response.status = kind.status;
  response.headers = problem.headers;
  response.set("Content-Type", problem_media_type);
  if (kind.retry_after_s > 0) response.set("Retry-After", std::to_string(kind.retry_after_s));
  if (problem.kind == ProblemKind::unauthorized) response.set("WWW-Authenticate", "Bearer");
  response.body = problem_body(problem, request_id);
  return response;
}

Response refuse(int status, std::string_view reason_code, std::string_view detail) {
  const std::string request_id = runtime::make_uuid_v7();
  Response response = problem_response(
      {.kind = kind_for_status(status), .detail = std::string(detail), .reason = reason_code},
      request_id);
  response.set("Cache-Control", "no-store");
  response.set("X-Request-Id", request_id);
  return response;
}

}  // namespace oncepay::http

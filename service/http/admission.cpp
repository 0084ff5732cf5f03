#include "http/admission.hpp"

#include <stdexcept>

#include "http/canonical_json.hpp"
#include "http/fields.hpp"
#include "http/json_reader.hpp"
#include "http/query.hpp"
#include "http/requests.hpp"

namespace oncepay::http {
namespace {

std::optional<Problem> check_content(const Request& request) {
  const auto media_type = request.header("Content-Type");
  if (!media_type || !is_json_media_type(*media_type) || request.count("Content-Encoding") != 0)
    return Problem{.kind = ProblemKind::unsupported_media_type};
  return std::nullopt;
}

std::variant<std::string, Problem> read_key(const Request& request, once::KeyFormat format) {
  const auto count = request.count("Idempotency-Key");
  if (count == 0) return Problem{.kind = ProblemKind::idempotency_key_missing};
  if (count > 1)
    return Problem{.kind = ProblemKind::idempotency_key_invalid,
                   .detail = "The Idempotency-Key was sent more than once. Send exactly one."};
  auto parsed = once::parse_key(*request.header("Idempotency-Key"), format);
  if (auto* refused = std::get_if<once::KeyRefused>(&parsed))
    return Problem{.kind = ProblemKind::idempotency_key_invalid,
                   .detail = std::move(refused->detail)};
  return std::get<std::string>(std::move(parsed));
}

Problem invalid_json(const JsonError& error) {
  std::string detail(error.reason);
  if (error.position) detail += " Noticed at byte " + std::to_string(*error.position) + ".";
  detail += " Nothing was stored: correct the body, the key may be used again.";
  return {.kind = ProblemKind::invalid_json, .detail = std::move(detail)};
}

template <class Typed>
std::variant<std::unique_ptr<const once::Payload>, Problem> make_payload(
    std::variant<Typed, FieldErrors> read, FieldErrors query_errors, std::string_view request_id) {
  auto* typed = std::get_if<Typed>(&read);
  if (typed != nullptr && query_errors.empty()) {
    typed->request_id = request_id;
    return std::make_unique<const Typed>(std::move(*typed));
  }
  Problem problem{.kind = ProblemKind::invalid_request};
  if (typed == nullptr) problem.errors = std::get<FieldErrors>(std::move(read));
  for (auto& error : query_errors) problem.errors.push_back(std::move(error));
  return problem;
}

}  // namespace

std::optional<Problem> check_scope(access::Scopes scopes, std::string_view method) {
  const bool missing = (method == "POST" && !scopes.has(access::Scope::write)) ||
                       ((method == "GET" || method == "HEAD") && !scopes.has(access::Scope::read));
  if (missing) return Problem{.kind = ProblemKind::forbidden};
  return std::nullopt;
}

std::optional<Problem> check_method(const std::optional<RouteMatch>& match,
                                    std::string_view method) {
  if (!match) return Problem{.kind = ProblemKind::not_found};
  if (allows(match->route, method)) return std::nullopt;
  return Problem{.kind = ProblemKind::method_not_allowed,
                 .headers = {{"Allow", std::string(allowed_methods(match->route))}}};
}

std::variant<AdmittedOperation, Problem> read_operation(const Request& request, Route route,
                                                        once::KeyFormat key_format,
                                                        std::string_view request_id) {
  if (auto problem = check_content(request)) return std::move(*problem);

  auto key = read_key(request, key_format);
  if (auto* problem = std::get_if<Problem>(&key)) return std::move(*problem);

  const auto document = read_json(request.body);
  if (const auto* error = std::get_if<JsonError>(&document)) return invalid_json(*error);
  const auto& json = std::get<JsonValue>(document);

  const Target target = split_target(request.target);
  FieldErrors query_errors = Query(target.query).finish();  // these calls know no parameter
  auto payload =
      route == Route::payments
          ? make_payload(read_payment_request(json), std::move(query_errors), request_id)
          : make_payload(read_account_request(json), std::move(query_errors), request_id);
  if (auto* problem = std::get_if<Problem>(&payload)) return std::move(*problem);

  AdmittedOperation admitted;
  admitted.key = std::get<std::string>(std::move(key));
  admitted.identity = {request.method, std::string(target.path), canonical_json(json)};
  auto fingerprint = once::fingerprint_of(admitted.identity, once::fingerprint_version_current);
  if (!fingerprint) throw std::logic_error("the current fingerprint version is unknown");
  admitted.fingerprint = std::move(*fingerprint);
  admitted.payload = std::get<0>(std::move(payload));
  admitted.wait = preferred_wait(request);
  return admitted;
}

}  // namespace oncepay::http

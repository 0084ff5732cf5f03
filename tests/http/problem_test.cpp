#include "http/problem.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "http/json_reader.hpp"

using namespace oncepay::http;

namespace {

constexpr auto last_kind = ProblemKind::outcome_unknown;

JsonValue document_of(const std::string& body) {
  auto read = read_json(body);
  REQUIRE(std::holds_alternative<JsonValue>(read));
  return std::get<JsonValue>(std::move(read));
}

std::string header_of(const Response& response, std::string_view name) {
  for (const auto& header : response.headers)
    if (header.name == name) return header.value;
  return {};
}

}  // namespace

TEST_CASE(
    "every problem says what it is, what to do next, and whether to repeat with the same key") {
  struct Attempt {
    ProblemKind kind;
    int status;
    std::string_view slug;
    std::string_view retryable;
    std::string_view same_key;
    std::string_view retry_after;
  };
  const Attempt attempts[] = {
      {ProblemKind::unauthorized, 401, "unauthorized", "false", "true", ""},
      {ProblemKind::forbidden, 403, "forbidden", "false", "true", ""},
      {ProblemKind::not_found, 404, "not-found", "false", "true", ""},
      {ProblemKind::method_not_allowed, 405, "method-not-allowed", "false", "true", ""},
      {ProblemKind::unsupported_media_type, 415, "unsupported-media-type", "false", "true", ""},
      {ProblemKind::idempotency_key_missing, 400, "idempotency-key-missing", "false", "false", ""},
      {ProblemKind::idempotency_key_invalid, 400, "idempotency-key-invalid", "false", "false", ""},
      {ProblemKind::invalid_json, 400, "invalid-json", "false", "true", ""},
      {ProblemKind::invalid_request, 400, "invalid-request", "false", "true", ""},
      {ProblemKind::idempotency_key_reused, 422, "idempotency-key-reused", "false", "false", ""},
      {ProblemKind::request_in_progress, 409, "request-in-progress", "true", "true", "1"},
      {ProblemKind::overloaded, 503, "overloaded", "true", "true", "1"},
      {ProblemKind::unavailable, 503, "unavailable", "true", "true", "2"},
      {ProblemKind::account_not_found, 422, "account-not-found", "false", "true", ""},
      {ProblemKind::currency_mismatch, 422, "currency-mismatch", "false", "true", ""},
      {ProblemKind::account_exists, 409, "account-exists", "false", "true", ""},
      {ProblemKind::insufficient_funds, 402, "insufficient-funds", "false", "false", ""},
      {ProblemKind::balance_limit, 402, "balance-limit", "false", "false", ""},
      {ProblemKind::internal, 500, "internal", "true", "true", ""},
      {ProblemKind::outcome_unknown, 503, "outcome-unknown", "true", "true", "2"},
  };
  for (const auto& attempt : attempts) {
    CAPTURE(attempt.slug);
    const auto response = problem_response({.kind = attempt.kind}, "request-1");
    CHECK(response.status == attempt.status);
    CHECK(header_of(response, "Content-Type") == "application/problem+json");
    CHECK(header_of(response, "Retry-After") == attempt.retry_after);
    const auto document = document_of(response.body);
    CHECK(document.find("type")->text == "/problems/" + std::string(attempt.slug));
    CHECK(document.find("status")->text == std::to_string(attempt.status));
    CHECK(document.find("instance")->text == "request-1");
    CHECK(document.find("retryable")->text == attempt.retryable);
    CHECK(document.find("same_key")->text == attempt.same_key);
    CHECK_FALSE(document.find("title")->text.empty());
    CHECK_FALSE(document.find("detail")->text.empty());
    CHECK(document.find("errors") == nullptr);
    CHECK(document.find("payment_id") == nullptr);
  }
}

TEST_CASE("no two kinds of problem share a type") {
  std::set<std::string_view> slugs;
  for (int kind = 0; kind <= static_cast<int>(last_kind); ++kind)
    slugs.insert(slug_of(static_cast<ProblemKind>(kind)));
  CHECK(slugs.size() == static_cast<std::size_t>(last_kind) + 1);
}

TEST_CASE("errors, a payment id and further headers are carried along") {
  const auto response = problem_response({.kind = ProblemKind::method_not_allowed,
                                          .detail = "Do this.",
                                          .errors = {{"/a~1\"", "is \"wrong\""}, {"", "x"}},
                                          .payment_id = "p1",
                                          .headers = {{"Allow", "GET"}}},
                                         "r");
  const auto document = document_of(response.body);
  CHECK(header_of(response, "Allow") == "GET");
  CHECK(document.find("detail")->text == "Do this.");
  CHECK(document.find("payment_id")->text == "p1");
  REQUIRE(document.find("errors")->items.size() == 2);
  CHECK(document.find("errors")->items[0].find("pointer")->text == "/a~1\"");
  CHECK(document.find("errors")->items[0].find("detail")->text == "is \"wrong\"");
}

TEST_CASE("a 401 carries the challenge") {
  CHECK(header_of(problem_response({.kind = ProblemKind::unauthorized}, "r"), "WWW-Authenticate") ==
        "Bearer");
}

TEST_CASE("what the edge refuses looks like every other problem") {
  struct Attempt {
    int status;
    std::string_view type;
    std::string_view retry_after;
  };
  const Attempt attempts[] = {
      {400, "/problems/malformed-request", ""},
      {408, "/problems/request-timeout", ""},
      {413, "/problems/payload-too-large", ""},
      {417, "/problems/expectation-failed", ""},
      {429, "/problems/too-many-connections", "1"},
      {431, "/problems/head-too-large", ""},
      {500, "/problems/internal", ""},
      {501, "/problems/not-implemented", ""},
      {503, "/problems/overloaded", "1"},
      {505, "/problems/version-not-supported", ""},
  };
  for (const auto& attempt : attempts) {
    CAPTURE(attempt.status);
    const auto response = refuse(attempt.status, "chunk-invalid", "Send it right.");
    const auto document = document_of(response.body);
    CHECK(response.status == attempt.status);
    CHECK(document.find("type")->text == attempt.type);
    CHECK(document.find("reason")->text == "chunk-invalid");
    CHECK(document.find("detail")->text == "Send it right.");
    CHECK(header_of(response, "Retry-After") == attempt.retry_after);
    CHECK(header_of(response, "Cache-Control") == "no-store");
    CHECK(header_of(response, "X-Request-Id") == document.find("instance")->text);
  }
}

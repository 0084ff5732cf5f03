#include "http/paths.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace oncepay::http;

TEST_CASE("paths match byte for byte") {
  struct Attempt {
    std::string_view path;
    std::string_view route;  // its template, empty for none
    std::string_view segment;
  };
  const Attempt attempts[] = {
      {"/v1/payments", "/v1/payments", ""},
      {"/v1/payments/abc", "/v1/payments/{id}", "abc"},
      {"/v1/accounts", "/v1/accounts", ""},
      {"/v1/accounts/customer%3A42", "/v1/accounts/{id}", "customer%3A42"},
      {"/v1/accounts/customer:42/entries", "/v1/accounts/{id}/entries", "customer:42"},
      {"/v1/accounts/entries", "/v1/accounts/{id}", "entries"},
      {"/v1/accounts/entries/entries", "/v1/accounts/{id}/entries", "entries"},
      {"/v1/idempotency-keys/a%2Fb", "/v1/idempotency-keys/{key}", "a%2Fb"},
      {"/healthz", "/healthz", ""},
      {"/readyz", "/readyz", ""},
      {"/metrics", "/metrics", ""},
      {"/", "", ""},
      {"", "", ""},
      {"*", "", ""},
      {"/v1", "", ""},
      {"/v1/", "", ""},
      {"/v1/payments/", "", ""},
      {"/v1/payments/a/b", "", ""},
      {"/v1/payments/a/", "", ""},
      {"//v1/payments", "", ""},
      {"/V1/payments", "", ""},
      {"/v1/%70ayments", "", ""},
      {"/v1/../v1/payments", "", ""},
      {"/v1/accounts//entries", "", ""},
      {"/v1/accounts/a/entries/", "", ""},
      {"/v1/idempotency-keys", "", ""},
      {"/v1/idempotency-keys/", "", ""},
      {"/healthz/", "", ""},
      {"/health", "", ""},
  };
  for (const auto& attempt : attempts) {
    CAPTURE(attempt.path);
    const auto match = match_route(attempt.path);
    CHECK((match ? template_of(match->route) : "") == attempt.route);
    if (match) CHECK(match->segment == attempt.segment);
  }
}

TEST_CASE("an API key is asked for below /v1, known path or not, and nowhere else") {
  for (const std::string_view path : {"/v1", "/v1/", "/v1/nothing", "/v1/payments"})
    CHECK(needs_api_key(path));
  for (const std::string_view path : {"/healthz", "/", "*", "/v2/payments", "/v1x"})
    CHECK_FALSE(needs_api_key(path));
}

TEST_CASE("HTP-12 methods: HEAD wherever GET is, OPTIONS everywhere, the rest by name and case") {
  struct Attempt {
    std::string_view path;
    std::string_view methods;
  };
  const Attempt attempts[] = {
      {"/v1/payments", "GET, HEAD, POST, OPTIONS"},
      {"/v1/payments/x", "GET, HEAD, OPTIONS"},
      {"/v1/accounts", "POST, OPTIONS"},
      {"/v1/accounts/x", "GET, HEAD, OPTIONS"},
      {"/v1/accounts/x/entries", "GET, HEAD, OPTIONS"},
      {"/v1/idempotency-keys/x", "GET, HEAD, OPTIONS"},
      {"/healthz", "GET, HEAD, OPTIONS"},
  };
  for (const auto& attempt : attempts) {
    CAPTURE(attempt.path);
    const auto route = match_route(attempt.path)->route;
    CHECK(allowed_methods(route) == attempt.methods);
    for (const std::string_view method : {"GET", "HEAD", "POST", "OPTIONS"})
      CHECK(allows(route, method) == (attempt.methods.find(method) != std::string_view::npos));
    for (const std::string_view method :
         {"PUT", "DELETE", "PATCH", "TRACE", "CONNECT", "FOO", "get", "Post", "", ",", "GET, HEAD"})
      CHECK_FALSE(allows(route, method));
  }
}

TEST_CASE("the query begins behind the first question mark") {
  CHECK(split_target("/a?b=c?d").path == "/a");
  CHECK(split_target("/a?b=c?d").query == "b=c?d");
  CHECK(split_target("/a").query == "");
  CHECK(split_target("/a?").path == "/a");
}

// Which paths there are, what they admit, and how they are called in logs and metrics.
//
// Paths match byte for byte: no percent-decoding of fixed parts, no trailing slash, no dot
// segments. Only the one variable segment is decoded, and by whoever knows what it may hold.
//
// Threads: pure functions. Source: RFC 9110 sections 9.3 (methods), 10.2.1 (Allow).
#pragma once

#include <optional>
#include <string_view>

namespace oncepay::http {

enum class Route {
  payments,
  payment,
  accounts,
  account,
  account_entries,
  idempotency_key,
  health,
  readiness,
  metrics
};

struct Target {
  std::string_view path;
  std::string_view query;  // without its question mark
};
Target split_target(std::string_view target);

struct RouteMatch {
  Route route;
  std::string_view segment;  // the variable one, as sent; empty where there is none
};
std::optional<RouteMatch> match_route(std::string_view path);

// Every call below /v1 needs an API key, whether the path is known or not.
bool needs_api_key(std::string_view path);

// HEAD wherever GET is, OPTIONS everywhere.
bool allows(Route route, std::string_view method);
std::string_view allowed_methods(Route route);  // the value of Allow

// "/v1/payments/{id}": from a fixed set, unlike the path itself.
std::string_view template_of(Route route);

}  // namespace oncepay::http

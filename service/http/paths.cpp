#include "http/paths.hpp"

#include <algorithm>
#include <array>

namespace oncepay::http {
namespace {

struct Known {
  Route route;
  std::string_view pattern;
  std::string_view before;  // the variable segment
  std::string_view behind;
  std::string_view methods;
};

constexpr std::string_view reads = "GET, HEAD, OPTIONS";

// In the order of the enum, which static_assert checks below.
constexpr auto known = std::to_array<Known>({
    {Route::payments, "/v1/payments", {}, {}, "GET, HEAD, POST, OPTIONS"},
    {Route::payment, "/v1/payments/{id}", "/v1/payments/", {}, reads},
    {Route::accounts, "/v1/accounts", {}, {}, "POST, OPTIONS"},
    {Route::account, "/v1/accounts/{id}", "/v1/accounts/", {}, reads},
    {Route::account_entries, "/v1/accounts/{id}/entries", "/v1/accounts/", "/entries", reads},
    {Route::idempotency_key, "/v1/idempotency-keys/{key}", "/v1/idempotency-keys/", {}, reads},
    {Route::health, "/healthz", {}, {}, reads},
    {Route::readiness, "/readyz", {}, {}, reads},
    {Route::metrics, "/metrics", {}, {}, reads},
});

constexpr bool in_order() {
  for (std::size_t at = 0; at < known.size(); ++at)
    if (static_cast<std::size_t>(known[at].route) != at) return false;
  return true;
}
static_assert(in_order());

const Known& of(Route route) { return known[static_cast<std::size_t>(route)]; }

}  // namespace

Target split_target(std::string_view target) {
  const auto mark = target.find('?');
  if (mark == std::string_view::npos) return {target, {}};
  return {target.substr(0, mark), target.substr(mark + 1)};
}

std::optional<RouteMatch> match_route(std::string_view path) {
  for (const auto& one : known) {
    if (one.before.empty()) {
      if (path == one.pattern) return RouteMatch{one.route, {}};
      continue;
    }
    if (path.size() <= one.before.size() + one.behind.size()) continue;
    if (!path.starts_with(one.before) || !path.ends_with(one.behind)) continue;
    const auto length = path.size() - one.before.size() - one.behind.size();
    const auto segment = path.substr(one.before.size(), length);
    if (segment.find('/') == std::string_view::npos) return RouteMatch{one.route, segment};
  }
  return std::nullopt;
}

bool needs_api_key(std::string_view path) { return path == "/v1" || path.starts_with("/v1/"); }

bool allows(Route route, std::string_view method) {
  std::string_view methods = of(route).methods;
  while (!methods.empty()) {
    const auto end = std::min(methods.find(", "), methods.size());
    if (methods.substr(0, end) == method) return true;
    methods.remove_prefix(std::min(end + 2, methods.size()));
  }
  return false;
}

std::string_view allowed_methods(Route route) { return of(route).methods; }

std::string_view template_of(Route route) { return of(route).pattern; }

}  // namespace oncepay::http

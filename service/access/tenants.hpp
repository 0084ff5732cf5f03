// Who is asking: tenants, their API keys and scopes.
//
// An API key is `opk_` and 43 base64url characters (32 random bytes). Only its SHA-256 is stored; the key is
// shown once, when it is made. Here are the administrative calls; authentication of requests is in
// authenticator.hpp.
//
// Threads: one at a time per Connection. Errors: RequestRefused-like outcomes are values; db errors pass.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "db/connection.hpp"

namespace oncepay::access {

enum class Scope : std::uint8_t { read = 1, write = 2 };

struct Scopes {
  std::uint8_t bits = 0;
  [[nodiscard]] bool has(Scope scope) const { return (bits & static_cast<std::uint8_t>(scope)) != 0; }
  void add(Scope scope) { bits = static_cast<std::uint8_t>(bits | static_cast<std::uint8_t>(scope)); }
};

// "read,write" → scopes; nothing for an unknown or empty list.
std::optional<Scopes> parse_scopes(std::string_view text);

struct Tenant {
  std::string id;  // UUIDv7
  std::string name;
  std::string created_at;  // RFC 3339, UTC
};

struct ApiKey {
  std::string id;  // UUIDv7
  std::string tenant_name;
  Scopes scopes;
  std::string created_at;
  std::optional<std::string> revoked_at;
};

// Nothing when the name is taken.
std::optional<Tenant> create_tenant(db::Connection& connection, std::string_view name);
std::vector<Tenant> list_tenants(db::Connection& connection);

struct NewApiKey {
  std::string id;
  std::string key;  // the only time it is seen
};

// Nothing when there is no such tenant.
std::optional<NewApiKey> create_api_key(db::Connection& connection, std::string_view tenant_name,
                                        Scopes scopes);
std::vector<ApiKey> list_api_keys(db::Connection& connection);

// False when there is no such key; true also when it was revoked before.
bool revoke_api_key(db::Connection& connection, std::string_view id);

}  // namespace oncepay::access

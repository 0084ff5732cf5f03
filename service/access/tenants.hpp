// Who may ask: tenants, their API keys and scopes. The administrative side; requests are
// authenticated in authenticator.hpp.
//
// An API key is shown once, when it is made; only its SHA-256 is stored. Ending a key keeps its
// row.
//
// Threads: one at a time per Connection. Errors: what an operator can expect is a value (no tenant
// of that name, a name that is taken); db errors pass.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "db/connection.hpp"

namespace oncepay::access {

enum class Scope : std::uint8_t { read = 1, write = 2 };

struct Scopes {
  std::uint8_t bits = 0;
  [[nodiscard]] bool has(Scope scope) const {
    return (bits & static_cast<std::uint8_t>(scope)) != 0;
  }
  void add(Scope scope) {
    bits = static_cast<std::uint8_t>(bits | static_cast<std::uint8_t>(scope));
  }
};

// "read,write" → scopes; nothing for an unknown, empty or repeated one.
std::optional<Scopes> parse_scopes(std::string_view text);

// The other way round.
std::string to_text(Scopes scopes);

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

// 1 to 100 characters of valid UTF-8, none of them a control character.
bool is_tenant_name(std::string_view name);

// Nothing when the name is taken. `name` is a tenant name.
std::optional<Tenant> create_tenant(db::Connection& connection, std::string_view name);
std::vector<Tenant> list_tenants(db::Connection& connection);

struct NewApiKey {
  std::string id;
  std::string key;  // the only time it is seen
};

// Nothing when there is no such tenant. `scopes` holds at least one.
std::optional<NewApiKey> create_api_key(db::Connection& connection, std::string_view tenant_name,
                                        Scopes scopes);
std::vector<ApiKey> list_api_keys(db::Connection& connection);

// False when there is no such key; true also when it was revoked before.
bool revoke_api_key(db::Connection& connection, std::string_view id);

}  // namespace oncepay::access

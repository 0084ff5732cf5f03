#include <cstdio>
#include <string>

#include "access/tenants.hpp"
#include "cli/commands.hpp"
#include "cli/connections.hpp"
#include "cli/operator_error.hpp"

namespace oncepay::cli {
namespace {

void print(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stdout); }

}  // namespace

int run_tenant_create(const Config& config) {
  if (!access::is_tenant_name(config.tenant_name)) {
    throw OperatorError("NAME: must be 1 to 100 characters, none of them a control character", "",
                        exit_usage);
  }
  db::Connection connection(connection_settings(config, "tenant"));
  const auto tenant = access::create_tenant(connection, config.tenant_name);
  if (!tenant) {
    throw OperatorError("there is a tenant " + config.tenant_name + " already",
                        "oncepay tenant list shows all of them");
  }
  print(tenant->id + " " + tenant->name + "\n");
  return 0;
}

int run_tenant_list(const Config& config) {
  db::Connection connection(connection_settings(config, "tenant"));
  for (const auto& tenant : access::list_tenants(connection)) {
    print(tenant.id + " " + tenant.created_at + " " + tenant.name + "\n");
  }
  return 0;
}

int run_apikey_create(const Config& config) {
  const auto scopes = access::parse_scopes(config.scopes);
  if (!scopes) {
    throw OperatorError("--scopes: must be read, write, or read,write", "", exit_usage);
  }
  db::Connection connection(connection_settings(config, "apikey"));
  const auto made = access::create_api_key(connection, config.tenant_name, *scopes);
  if (!made) {
    throw OperatorError("there is no tenant " + config.tenant_name,
                        "oncepay tenant create NAME makes one");
  }
  print(made->id + " " + made->key + "\n");
  std::fputs("The key is not stored and will not be shown again.\n", stderr);
  return 0;
}

int run_apikey_list(const Config& config) {
  db::Connection connection(connection_settings(config, "apikey"));
  for (const auto& key : access::list_api_keys(connection)) {
    std::string line = key.id + " " + access::to_text(key.scopes) + " " + key.created_at + " ";
    line += key.revoked_at ? "revoked " + *key.revoked_at : "active";
    print(line + " " + key.tenant_name + "\n");
  }
  return 0;
}

int run_apikey_revoke(const Config& config) {
  db::Connection connection(connection_settings(config, "apikey"));
  if (!access::revoke_api_key(connection, config.api_key_id)) {
    throw OperatorError("there is no API key with that id",
                        "oncepay apikey list shows all of them");
  }
  print("revoked " + config.api_key_id + "\n");
  std::fputs("Running instances forget the key within a few seconds.\n", stderr);
  return 0;
}

}  // namespace oncepay::cli

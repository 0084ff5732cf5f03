#include "access/tenants.hpp"

#include "access/api_key.hpp"
#include "runtime/utf8.hpp"
#include "runtime/uuid.hpp"
#include "sql/statements.hpp"

namespace oncepay::access {
namespace {

constexpr std::size_t tenant_name_length_max = 100;

Scopes scopes_of(bool may_read, bool may_write) {
  Scopes scopes;
  if (may_read) scopes.add(Scope::read);
  if (may_write) scopes.add(Scope::write);
  return scopes;
}

Tenant tenant_at(const db::Rows& rows, std::size_t row) {
  return {std::string(rows.text(row, 0)), std::string(rows.text(row, 1)),
          std::string(rows.text(row, 2))};
}

}  // namespace

std::optional<Scopes> parse_scopes(std::string_view text) {
  Scopes scopes;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::string_view word = text.substr(begin, text.find(',', begin) - begin);
    const auto scope = word == "read"    ? std::optional(Scope::read)
                       : word == "write" ? std::optional(Scope::write)
                                         : std::nullopt;
    if (!scope || scopes.has(*scope)) return std::nullopt;
    scopes.add(*scope);
    begin += word.size() + 1;
  }
  return scopes;
}

std::string to_text(Scopes scopes) {
  if (scopes.has(Scope::read) && scopes.has(Scope::write)) return "read,write";
  return scopes.has(Scope::write) ? "write" : "read";
}

bool is_tenant_name(std::string_view name) {
  std::size_t length = 0;
  while (!name.empty()) {
    const runtime::Utf8Piece piece = runtime::first_utf8_piece(name);
    const bool control =
        piece.code_point < 0x20 || (piece.code_point >= 0x7f && piece.code_point < 0xa0);
    if (!piece.valid || control) return false;
    name.remove_prefix(piece.bytes);
    ++length;
  }
  return length >= 1 && length <= tenant_name_length_max;
}

std::optional<Tenant> create_tenant(db::Connection& connection, std::string_view name) {
  db::Transaction transaction(connection);
  const db::Rows rows = transaction.run(sql::access::create_tenant,
                                        db::Params().add(runtime::make_uuid_v7()).add(name));
  if (rows.empty()) return std::nullopt;
  transaction.commit();
  return tenant_at(rows, 0);
}

std::vector<Tenant> list_tenants(db::Connection& connection) {
  db::Transaction transaction(connection, db::Access::read_only);
  const db::Rows rows = transaction.run(sql::access::list_tenants);
  std::vector<Tenant> tenants;
  for (std::size_t row = 0; row < rows.size(); ++row) tenants.push_back(tenant_at(rows, row));
  return tenants;
}

std::optional<NewApiKey> create_api_key(db::Connection& connection, std::string_view tenant_name,
                                        Scopes scopes) {
  const NewApiKey made{runtime::make_uuid_v7(), make_api_key()};
  db::Array scope_names;
  if (scopes.has(Scope::read)) scope_names.add("read");
  if (scopes.has(Scope::write)) scope_names.add("write");
  db::Transaction transaction(connection);
  const db::Rows rows =
      transaction.run(sql::access::create_api_key, db::Params()
                                                       .add(made.id)
                                                       .add_bytes(digest_of_api_key(made.key))
                                                       .add(scope_names)
                                                       .add(tenant_name));
  if (rows.empty()) return std::nullopt;
  transaction.commit();
  return made;
}

std::vector<ApiKey> list_api_keys(db::Connection& connection) {
  db::Transaction transaction(connection, db::Access::read_only);
  const db::Rows rows = transaction.run(sql::access::list_api_keys);
  std::vector<ApiKey> keys;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    keys.push_back({std::string(rows.text(row, 0)), std::string(rows.text(row, 1)),
                    scopes_of(rows.flag(row, 2), rows.flag(row, 3)), std::string(rows.text(row, 4)),
                    rows.maybe_text(row, 5)});
  }
  return keys;
}

bool revoke_api_key(db::Connection& connection, std::string_view id) {
  if (!runtime::is_uuid(id)) return false;
  db::Transaction transaction(connection);
  const bool found = !transaction.run(sql::access::revoke_api_key, db::Params().add(id)).empty();
  transaction.commit();
  return found;
}

}  // namespace oncepay::access

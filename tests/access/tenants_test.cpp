#include "access/tenants.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "access/api_key.hpp"
#include "runtime/uuid.hpp"
#include "support/crowd.hpp"
#include "support/database.hpp"

using namespace oncepay::access;
using oncepay::db::Connection;
using oncepay::db::ConnectionSettings;

namespace {

struct Office {
  ConnectionSettings settings() const {
    ConnectionSettings settings;
    settings.url = database.url();
    return settings;
  }
  support::Database database;
  Connection connection{settings()};
};

Scopes only(Scope scope) {
  Scopes scopes;
  scopes.add(scope);
  return scopes;
}

}  // namespace

TEST_CASE("scopes are read, write or both, each once") {
  CHECK(to_text(parse_scopes("read").value()) == "read");
  CHECK(to_text(parse_scopes("write").value()) == "write");
  CHECK(to_text(parse_scopes("read,write").value()) == "read,write");
  CHECK(to_text(parse_scopes("write,read").value()) == "read,write");
  for (const char* text : {"", ",", "read,", ",read", "read,read", "Read", "read write", "admin"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_scopes(text).has_value());
  }
}

TEST_CASE("a tenant's name is 1 to 100 characters of valid text") {
  const std::string hundred_umlauts = [] {
    std::string text;
    for (int i = 0; i < 100; ++i) text += "\xc3\xbc";
    return text;
  }();
  for (const std::string& name : {std::string("a"), std::string("Käse & Söhne"), hundred_umlauts}) {
    CHECK(is_tenant_name(name));
  }
  for (const std::string& name :
       {std::string(), std::string("a\nb"), std::string("a\0b", 3), std::string("\xff"),
        hundred_umlauts + "x", std::string("\x7f"), std::string("\xc2\x85")}) {
    CHECK_FALSE(is_tenant_name(name));
  }
}

TEST_CASE("a tenant's name is taken once") {
  Office office;
  const auto made = create_tenant(office.connection, "demo");
  REQUIRE(made.has_value());
  CHECK(oncepay::runtime::is_uuid(made->id));
  CHECK_FALSE(create_tenant(office.connection, "demo").has_value());
  CHECK(create_tenant(office.connection, "Demo").has_value());

  const auto all = list_tenants(office.connection);
  REQUIRE(all.size() == 2);
  CHECK(std::any_of(all.begin(), all.end(), [&](const Tenant& tenant) {
    return tenant.id == made->id && tenant.name == "demo" && tenant.created_at.ends_with("Z");
  }));
}

TEST_CASE("of many who take one name at the same time one gets it") {
  Office office;
  const auto got = support::all_at_once(8, [&](std::size_t) {
    Connection connection(office.settings());
    return create_tenant(connection, "rush").has_value();
  });
  CHECK(std::count(got.begin(), got.end(), true) == 1);
}

TEST_CASE("an API key is shown once, and the database holds nothing that could be used as one") {
  Office office;
  create_tenant(office.connection, "demo");
  const auto made = create_api_key(office.connection, "demo", only(Scope::read));
  REQUIRE(made.has_value());
  CHECK(is_api_key(made->key));
  for (const auto& row : office.database.sql().column("SELECT k::text FROM api_keys AS k")) {
    CHECK(row.find(made->key) == std::string::npos);
    CHECK(row.find(made->key.substr(4)) == std::string::npos);
  }
  CHECK(
      office.database.sql().holds("SELECT digest = sha256($1::bytea) FROM api_keys", {made->key}));
}

TEST_CASE("an API key needs a tenant that exists") {
  Office office;
  CHECK_FALSE(create_api_key(office.connection, "nobody", only(Scope::write)).has_value());
  CHECK(list_api_keys(office.connection).empty());
}

TEST_CASE("a revoked API key stays in the list, with the time of its first end") {
  Office office;
  create_tenant(office.connection, "demo");
  const auto made = create_api_key(office.connection, "demo", parse_scopes("read,write").value());
  CHECK_FALSE(list_api_keys(office.connection).at(0).revoked_at.has_value());

  CHECK(revoke_api_key(office.connection, made->id));
  const auto listed = list_api_keys(office.connection).at(0);
  CHECK(listed.id == made->id);
  CHECK(listed.tenant_name == "demo");
  CHECK(to_text(listed.scopes) == "read,write");
  REQUIRE(listed.revoked_at.has_value());

  CHECK(revoke_api_key(office.connection, made->id));
  CHECK(list_api_keys(office.connection).at(0).revoked_at == listed.revoked_at);
  CHECK_FALSE(revoke_api_key(office.connection, oncepay::runtime::make_uuid_v7()));
  CHECK_FALSE(revoke_api_key(office.connection, "1 OR true"));
}

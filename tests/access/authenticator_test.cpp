#include "access/authenticator.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <string>

#include "access/api_key.hpp"
#include "support/database.hpp"
#include "support/waiting.hpp"

using namespace oncepay::access;
using namespace oncepay;
using namespace std::chrono_literals;

namespace {

struct Door {
  db::ConnectionSettings settings() const {
    db::ConnectionSettings settings;
    settings.url = database.url();
    return settings;
  }
  NewApiKey make_key(const char* scopes = "read,write") {
    db::Connection connection(settings());
    create_tenant(connection, "demo");
    return create_api_key(connection, "demo", parse_scopes(scopes).value()).value();
  }
  void revoke(const NewApiKey& key) {
    db::Connection connection(settings());
    REQUIRE(revoke_api_key(connection, key.id));
  }
  std::string tenant_id() {
    return database.sql().text("SELECT id FROM tenants WHERE name = 'demo'");
  }
  // From now on nobody can ask the database.
  void take_database_away() { database.sql().run("ALTER TABLE api_keys RENAME TO api_keys_away"); }

  support::Database database;
  db::Pool pool{settings(), 2, 2s};
};

}  // namespace

TEST_CASE("a key gives its tenant and scopes") {
  Door door;
  Authenticator authenticator(door.pool, 1min, 100);
  const auto key = door.make_key("read");

  const auto caller = authenticator.authenticate(key.key);
  REQUIRE(caller.has_value());
  CHECK(caller->tenant_id == door.tenant_id());
  CHECK(caller->scopes.has(Scope::read));
  CHECK_FALSE(caller->scopes.has(Scope::write));
}

TEST_CASE("a wrong key gives nobody") {
  Door door;
  Authenticator authenticator(door.pool, 1min, 100);
  door.make_key();
  CHECK_FALSE(authenticator.authenticate(make_api_key()).has_value());
}

TEST_CASE("a key is asked for once and then remembered, good or wrong") {
  Door door;
  Authenticator authenticator(door.pool, 1min, 100);
  const auto key = door.make_key();
  const auto wrong = make_api_key();
  CHECK_FALSE(authenticator.remembered(key.key).has_value());
  authenticator.authenticate(key.key);
  authenticator.authenticate(wrong);
  door.take_database_away();

  REQUIRE(authenticator.remembered(key.key).has_value());
  CHECK(authenticator.remembered(key.key)->caller.has_value());
  CHECK(authenticator.authenticate(key.key).has_value());
  REQUIRE(authenticator.remembered(wrong).has_value());
  CHECK_FALSE(authenticator.remembered(wrong)->caller.has_value());
  CHECK_FALSE(authenticator.authenticate(wrong).has_value());
  CHECK_THROWS_AS(authenticator.authenticate(make_api_key()), db::StatementError);
}

TEST_CASE("a revoked key stops working once it is forgotten") {
  Door door;
  Authenticator authenticator(door.pool, 100ms, 100);
  const auto key = door.make_key();
  REQUIRE(authenticator.authenticate(key.key).has_value());
  door.revoke(key);

  CHECK(support::eventually([&] { return !authenticator.authenticate(key.key).has_value(); }, 5s));
}

TEST_CASE("a revoked key never worked for an instance that did not know it") {
  Door door;
  Authenticator authenticator(door.pool, 1min, 100);
  const auto key = door.make_key();
  door.revoke(key);
  CHECK_FALSE(authenticator.authenticate(key.key).has_value());
}

TEST_CASE("G9 a flood of wrong keys pushes no good key out, and is bounded itself") {
  Door door;
  Authenticator authenticator(door.pool, 1min, 4);
  const auto key = door.make_key();
  authenticator.authenticate(key.key);
  const auto first_wrong = make_api_key();
  authenticator.authenticate(first_wrong);
  for (int i = 0; i < 20; ++i) authenticator.authenticate(make_api_key());

  REQUIRE(authenticator.remembered(key.key).has_value());
  CHECK(authenticator.remembered(key.key)->caller.has_value());
  CHECK_FALSE(authenticator.remembered(first_wrong).has_value());
}

TEST_CASE("what has not the form of a key is wrong without asking the database") {
  db::ConnectionSettings nowhere;
  nowhere.url = "postgresql://nobody@127.0.0.1:1/nothing";
  db::Pool pool(nowhere, 1, 100ms);
  Authenticator authenticator(pool, 1min, 100);
  for (const std::string& text : {std::string(), std::string("opk_short"),
                                  std::string(1'000'000, 'A'), std::string("opk_\0", 5)}) {
    CHECK_FALSE(authenticator.authenticate(text).has_value());
  }
  CHECK_THROWS_AS(authenticator.authenticate(make_api_key()), db::TransientError);
}

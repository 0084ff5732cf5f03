// Tenants and API keys from the command line: a key is printed once and stored as its hash, does
// what its scopes say, and is worth nothing once revoked.
#include <doctest/doctest.h>

#include <regex>

#include "support/names.hpp"
#include "support/problem.hpp"
#include "support/shop.hpp"

namespace {

using namespace support;

Shop& shop() {
  static Shop instance;
  return instance;
}

Finished oncepay_here(const std::vector<std::string>& arguments) {
  return shop().database.run_oncepay(arguments);
}

// The id that `apikey list` shows for the tenant's only key.
std::string only_key_id(const std::string& tenant) {
  return shop().database.sql().text(
      "SELECT k.id FROM api_keys k JOIN tenants t ON t.id = k.tenant_id WHERE t.name = $1",
      {tenant});
}

}  // namespace

TEST_CASE("an API key is printed once and only its SHA-256 is stored") {
  const std::string key = create_api_key(shop().database, shop().tenant.name, "read,write");
  CHECK(key.size() >= 32);
  CHECK(shop().database.sql().number(
            "SELECT count(*) FROM api_keys k WHERE strpos(k::text, $1) > 0", {key}) == 0);
  CHECK(shop().database.sql().number("SELECT count(*) FROM api_keys k WHERE strpos(k::text,"
                                     " encode(sha256($1::bytea), 'hex')) > 0",
                                     {key}) == 1);
  const Finished list = oncepay_here({"apikey", "list"});
  CHECK(list.exit_code == 0);
  CHECK(list.all().find(key) == std::string::npos);
}

TEST_CASE("every API key is another one") {
  CHECK(create_api_key(shop().database, shop().tenant.name, "read") !=
        create_api_key(shop().database, shop().tenant.name, "read"));
}

TEST_CASE("tenants are created once and listed") {
  const std::string name = fresh_name("shop-");
  CHECK(oncepay_here({"tenant", "create", name}).exit_code == 0);
  const Finished again = oncepay_here({"tenant", "create", name});
  CHECK(again.exit_code != 0);
  CHECK(again.all().find(name) != std::string::npos);
  CHECK(oncepay_here({"tenant", "list"}).out.find(name) != std::string::npos);
  CHECK(oncepay_here({"tenant", "create", ""}).exit_code != 0);
}

TEST_CASE("a key for an unknown tenant or with unknown scopes is refused") {
  const Finished nobody =
      oncepay_here({"apikey", "create", "--tenant", "nobody-here", "--scopes", "read"});
  CHECK(nobody.exit_code != 0);
  CHECK(nobody.all().find("nobody-here") != std::string::npos);
  CHECK(nobody.all().find("opk_") == std::string::npos);
  for (const char* scopes : {"admin", "", "read,admin", "READ", ","}) {
    INFO("scopes: ", scopes);
    const Finished refused =
        oncepay_here({"apikey", "create", "--tenant", shop().tenant.name, "--scopes", scopes});
    CHECK(refused.exit_code != 0);
    CHECK(refused.all().find("opk_") == std::string::npos);
  }
}

TEST_CASE("a revoked key is answered 401 by every instance within seconds; others stay") {
  const Instance other(shop().database);
  const Tenant tenant = create_tenant(shop().database);
  Caller here(shop().instance, tenant);
  Caller there(other, tenant);
  CHECK(here.get("/v1/payments").status == 200);
  CHECK(there.get("/v1/payments").status == 200);
  CHECK(oncepay_here({"apikey", "list"}).out.find(only_key_id(tenant.name)) != std::string::npos);
  CHECK(oncepay_here({"apikey", "revoke", only_key_id(tenant.name)}).exit_code == 0);
  // An instance may remember a key it has seen, for a short while.
  for (Caller* caller : {&here, &there}) {
    CHECK(eventually([&] { return caller->get("/v1/payments").status == 401; }, 15s, 100ms));
  }
  CHECK(shop().caller().get("/v1/payments").status == 200);
  // A new key for the same tenant works at once.
  Caller renewed(shop().instance.port(), create_api_key(shop().database, tenant.name, "read"));
  CHECK(renewed.get("/v1/payments").status == 200);
}

TEST_CASE("revoking what is no key is refused") {
  for (const char* id : {"nothing", "0197f3c2-0000-7000-8000-000000000000", "'; --", ""}) {
    INFO("id: ", id);
    CHECK(oncepay_here({"apikey", "revoke", id}).exit_code != 0);
  }
}

TEST_CASE("tenants never see each other's accounts, payments or keys") {
  Caller ours = shop().caller();
  const Payment payment = shop().payment_between_new_accounts();
  const std::string key = fresh_key();
  const std::string id = payment_id_of(ours.pay(key, payment));
  Caller stranger(shop().instance, create_tenant(shop().database));
  for (const std::string& target :
       {"/v1/payments/" + id, "/v1/accounts/" + payment.source,
        "/v1/accounts/" + payment.source + "/entries", "/v1/idempotency-keys/" + key}) {
    INFO("target: ", target);
    CHECK(stranger.get(target).status == 404);
  }
  for (const std::string& query : {"idempotency_key=" + key, "account=" + payment.source}) {
    CHECK(stranger.get("/v1/payments?" + query).json().at("data").empty());
  }
  // Nor can they move each other's money.
  expect_problem(stranger.pay(fresh_key(), payment), 422, problems::account_not_found);
}

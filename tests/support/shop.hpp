// The verbs of the domain: tenants, accounts and payments as a client sees them. `Shop` is the
// smallest place where one can pay: a database, an instance on it and a tenant. Verbs that only
// prepare (`open_account`, `fund`) throw when they fail; verbs under test return the answer. A
// Caller belongs to one thread.
#pragma once

#include <cstdint>
#include <string>

#include "support/client.hpp"
#include "support/database.hpp"
#include "support/instance.hpp"

namespace support {

struct Tenant {
  std::string name;
  std::string id;
  std::string api_key;
};

// The key that `oncepay apikey create` prints. Throws when none is printed.
std::string create_api_key(const Database& database, const std::string& tenant,
                           const std::string& scopes);
Tenant create_tenant(Database& database, const std::string& scopes = "read,write");

struct Payment {
  std::int64_t amount = 100;
  std::string currency = "EUR";
  std::string source;
  std::string destination;

  std::string json() const;
  Payment of(std::int64_t other_amount) const;
};

std::string json_text(const std::string& text);  // a JSON string
std::string fresh_key();                         // bare, 20 to 60 visible characters

class Caller {
 public:
  Caller(std::uint16_t port, std::string api_key);
  Caller(const Instance& instance, const Tenant& tenant);

  Answer send(const Request& request) { return client_.send(request); }
  Answer get(const std::string& target);
  Answer pay(const std::string& key, const Payment& payment);
  Answer pay(const std::string& key, const std::string& body);
  Answer pay_waiting(const std::string& key, const Payment& payment, int seconds);
  Answer replay(const std::string& key, const Payment& payment) { return pay(key, payment); }
  Answer open(const std::string& key, const std::string& body);

  Request get_request(const std::string& target) const;
  Request post_request(std::string_view path, const std::string& key,
                       const std::string& body) const;
  Request payment_request(const std::string& key, const Payment& payment) const;

  // 1 to 64 characters long ids, new each time. `overdraft_limit` is JSON: "0", "500", "null".
  std::string open_account(const std::string& currency = "EUR",
                           const std::string& overdraft_limit = "0");
  // An account that the outside world has put `amount` into.
  std::string open_funded_account(std::int64_t amount, const std::string& currency = "EUR");
  void fund(const std::string& account, std::int64_t amount, const std::string& currency = "EUR");
  std::int64_t balance_of(const std::string& account);

  Client& client() { return client_; }
  const std::string& api_key() const { return api_key_; }

 private:
  std::string api_key_;
  Client client_;
};

class Shop {
 public:
  explicit Shop(const Instance::Flags& flags = {}, const Environment& environment = {});
  Shop(Database database, const Instance::Flags& flags);

  Caller caller() const { return Caller(instance, tenant); }
  Caller caller_at(const Instance& other) const { return Caller(other, tenant); }
  // From a funded account to an empty one, both new.
  Payment payment_between_new_accounts(std::int64_t amount = 100, std::int64_t funds = 1'000'000);
  std::int64_t payments_with_key(const std::string& key);
  std::int64_t key_rows(const std::string& key);

  Database database;
  Instance instance;
  Tenant tenant;
};

// Pays, replays, and is refused: another amount under the key, and more than is left. `payment`
// takes more than half of what its source has.
void expect_paid_once(Caller& caller, const std::string& key, const Payment& payment);

// What every fault test ends with: a fresh payment works on this instance, and the books balance.
void expect_recovered(Shop& shop, const Instance& instance);
void expect_recovered(Shop& shop);

}  // namespace support

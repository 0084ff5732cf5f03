// A database of a test's own, dropped with everything in it when the test is over, and the
// questions that tests ask of it behind the service's back. Made from a template that the real
// binary has migrated once for the run; test processes that start together make that template once.
// One thread at a time; `connect` gives another thread its own session.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "support/child.hpp"
#include "support/sql.hpp"

namespace support {

// Whether this run tests the layout of keys in periods: TEST_KEY_LAYOUT=periods.
bool keys_in_periods();

inline constexpr const char* owner_role = "oncepay_owner";
inline constexpr const char* runtime_role = "oncepay_runtime";

// The same database, by another role.
std::string as_role(std::string url, const std::string& role);

// Runs a file below deploy/ with psql. Throws with what it said when it fails.
void run_deploy_file(const std::string& url, const std::string& file);

class Database {
 public:
  Database();                                      // migrated, from the run's template
  static Database empty();                         // nothing in it
  static Database on(const std::string& cluster);  // migrated, on another cluster
  // The same database on a replica of its server; not dropped.
  Database replica_on(const std::string& cluster) const;
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  Database(Database&& other) noexcept;
  Database& operator=(Database&&) = delete;
  ~Database();

  const std::string& url() const { return url_; }
  // As the service connects to a migrated one: the runtime role of deploy/postgresql.
  std::string service_url() const { return as_role(url_, runtime_role); }
  const std::string& name() const { return name_; }
  Sql& sql();
  // After the server went away under the test's own session.
  void reconnect();
  Sql connect() const { return Sql(url_); }

  // `oncepay <arguments>` with this database in its environment.
  Command oncepay(std::vector<std::string> arguments, Environment environment = {}) const;
  Finished run_oncepay(std::vector<std::string> arguments, Environment environment = {}) const;

  // N(key): payments, succeeded or declined, that this key has decided.
  std::int64_t payments_with_key(const std::string& tenant_id, const std::string& key);
  std::int64_t key_rows(const std::string& tenant_id, const std::string& key);
  std::int64_t payments();
  std::int64_t keys();
  std::int64_t expired_keys();
  // Everything about keys happened that much earlier.
  void age_keys_by(std::chrono::seconds age);
  // Copies of an existing row's key under other names `<prefix>1 … <prefix>count`.
  void copy_key(const std::string& key, const std::string& prefix, int count);
  // Deadlocks that PostgreSQL has counted here. Exact once the service's sessions have ended.
  std::int64_t deadlocks();

 private:
  Database(std::string cluster, std::string name, std::string url);
  static Database created(const std::string& cluster, const std::string& from_template);

  std::string cluster_;
  std::string name_;
  std::string url_;
  std::unique_ptr<Sql> sql_;
};

// The same server, another database.
std::string with_database(const std::string& url, const std::string& database);

// A name that no other test process on this cluster uses.
std::string fresh_name(const std::string& prefix);

// Runs `oncepay verify` (G5 and the key table against the books); its report when something is
// wrong, an empty text when the books balance.
std::string broken_books(const Database& database);

}  // namespace support

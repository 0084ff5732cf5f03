#include "support/holds.hpp"

#include <stdexcept>

namespace support {

AccountHold::AccountHold(const Database& database, const std::string& tenant_id,
                         const std::string& account)
    : session_(database.url()), watcher_(database.url()) {
  session_.run("BEGIN");
  if (session_
          .rows("SELECT FROM accounts WHERE tenant_id = $1 AND id = $2 FOR UPDATE",
                {tenant_id, account})
          .size() != 1) {
    throw std::runtime_error("no such account to hold: " + account);
  }
}

bool AccountHold::somebody_waits(std::chrono::milliseconds budget) {
  return eventually(
      [this] {
        return watcher_.number(
                   "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
                   " AND wait_event_type = 'Lock'") > 0;
      },
      budget);
}

void AccountHold::release() { session_.run("ROLLBACK"); }

KeyHold::KeyHold(const Database& database, const std::string& model, const std::string& key)
    : session_(database.url()) {
  session_.run("BEGIN");
  if (session_.run("INSERT INTO idempotency_keys SELECT (copy).* FROM"
                   " (SELECT jsonb_populate_record(k, jsonb_build_object('key', $2::text)) AS copy"
                   "  FROM idempotency_keys k WHERE k.key = $1) copies",
                   {model, key}) != 1) {
    throw std::runtime_error("no such key to copy: " + model);
  }
}

void KeyHold::abandon() { session_.run("ROLLBACK"); }

void KeyHold::commit() { session_.run("COMMIT"); }

}  // namespace support

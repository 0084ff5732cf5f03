// From the API key of a request to its tenant and scopes, usually without a round trip.
//
// Known keys are remembered for a few seconds (bounded in number), so a revoked key stops working within
// `remember` on every instance; unknown keys are remembered too, so that a flood of them costs no database time.
//
// Threads: any. Errors: db errors pass when a key that is not remembered cannot be looked up.
#pragma once

#include <chrono>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "access/tenants.hpp"
#include "db/pool.hpp"

namespace oncepay::access {

struct Caller {
  std::string tenant_id;
  Scopes scopes;
};

class Authenticator {
 public:
  Authenticator(db::Pool& pool, std::chrono::milliseconds remember, std::size_t remembered_max);

  // What is remembered about a key without asking the database: nothing = ask; a null Caller = known to be wrong.
  struct Remembered {
    std::optional<Caller> caller;
  };
  [[nodiscard]] std::optional<Remembered> remembered(std::string_view api_key) const;

  // Asks the database if need be. Nothing when the key is unknown or revoked.
  std::optional<Caller> authenticate(std::string_view api_key);

 private:
  struct Cache;
  db::Pool& pool_;
  std::shared_ptr<Cache> cache_;
};

}  // namespace oncepay::access

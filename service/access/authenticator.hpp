// From the API key of a request to its tenant and scopes, usually without a round trip.
//
// Keys that the database knew are remembered for a few seconds, so a revoked key stops working
// within `remember` on every instance; keys that it did not know are remembered apart from them, so
// that a flood of wrong keys neither costs a round trip each time nor pushes good keys out. What
// has not the form of a key is wrong without asking. Only digests are held, never keys.
//
// Threads: any. Errors: db errors pass when a key that is not remembered cannot be looked up. Ages
// are taken from the monotonic clock.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "access/tenants.hpp"
#include "db/pool.hpp"

namespace oncepay::access {

struct Caller {
  std::string tenant_id;
  Scopes scopes;
};

class Authenticator {
 public:
  // At most `remembered_max` good keys are remembered, and as many wrong ones.
  Authenticator(db::Pool& pool, std::chrono::milliseconds remember, std::size_t remembered_max);

  // What is known about a key without asking the database. No value at all: ask. A value without
  // caller: the key is wrong.
  struct Remembered {
    std::optional<Caller> caller;
  };
  [[nodiscard]] std::optional<Remembered> remembered(std::string_view api_key) const;

  // Asks the database if need be: blocks for a round trip. Nothing when the key is unknown or
  // revoked.
  std::optional<Caller> authenticate(std::string_view api_key);

  // False while the database could not be reached just now: who is not remembered cannot be let in.
  [[nodiscard]] bool ready() const;

 private:
  struct Memory;
  std::optional<Caller> look_up(const std::string& digest);

  db::Pool& pool_;
  std::shared_ptr<Memory> memory_;
};

}  // namespace oncepay::access

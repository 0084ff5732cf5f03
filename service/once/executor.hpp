// An executor: what a batch calls between its claims and its settlement.
//
// `once` runs an executor exactly once for a key and knows nothing of what it does. The executor
// runs inside the batch's transaction, decides every claimed operation and writes its effects;
// whatever it writes commits together with the claims and the answers, or not at all. It never
// talks to anything but this transaction.
//
// Lock order, so that no two batches can deadlock: all keys come first (sorted, by `once`), then
// each executor in the order of its rank, each locking its rows sorted by primary key.
//
// Threads: execute() is called by several lanes at once, each with a transaction of its own.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "db/connection.hpp"
#include "once/answer.hpp"

namespace oncepay::once {

// What an executor is to do; each executor has its own kind and gets back what was submitted with
// it.
class Payload {
 public:
  virtual ~Payload() = default;
};

struct Claim {
  std::string_view tenant_id;
  std::string_view key;
  const Payload& payload;
};

// The key is used up and this is its answer for as long as it lives.
struct Decided {
  Answer answer;
};

// Nothing was done and the key is not used up; the answer is sent but not stored.
struct Refused {
  Answer answer;
};

using Decision = std::variant<Decided, Refused>;

class Executor {
 public:
  virtual ~Executor() = default;

  // In which order the executors of one batch run: lower first, never equal.
  [[nodiscard]] virtual int rank() const = 0;

  // One decision for each claim, in the order of the claims, which is the order of arrival.
  // `now_us` is the transaction's time by the database's clock, microseconds since 1970. Throws db
  // errors, after which the transaction is over, and std::logic_error for a bug.
  virtual std::vector<Decision> execute(db::Transaction& transaction, std::span<const Claim> claims,
                                        std::int64_t now_us) = 0;
};

}  // namespace oncepay::once

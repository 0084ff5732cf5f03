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
#include <optional>
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
  const Answer* expected;  // what expect() said; null if nothing
};

// The answer is the expected one, which the claim has stored already: no second write of the key.
struct AsExpected {};

// The key is used up and this is its answer for as long as it lives.
struct Decided {
  Answer answer;
};

// Nothing was done and the key is not used up; the answer is sent but not stored.
struct Refused {
  Answer answer;
};

// Nothing was done, because somebody holds what it needs; the key is not used up. Try again later.
struct Busy {};

using Decision = std::variant<AsExpected, Decided, Refused, Busy>;

class Executor {
 public:
  virtual ~Executor() = default;

  // In which order the executors of one batch run: lower first, never equal.
  [[nodiscard]] virtual int rank() const = 0;

  // The answer if all goes well, as far as that can be told before anything is locked; nothing if
  // it cannot. Sent along with the claim. Asked for in the order of arrival, and again when a batch
  // is run again, so an id it makes belongs to one attempt.
  [[nodiscard]] virtual std::optional<Answer> expect(const Payload& payload,
                                                     std::int64_t now_us) const = 0;

  // For an operation that is alone in its batch: one statement that writes its effects if it ends
  // as expected, and fails if it does not, so that claim, effects and COMMIT are one round trip.
  // Nothing if there is no such statement. After a failure all is rolled back and execute()
  // decides.
  [[nodiscard]] virtual std::optional<db::Call> settle_alone(const Claim& /*claim*/,
                                                             std::int64_t /*now_us*/) {
    return std::nullopt;
  }

  // One decision for each claim, in the order of the claims, which is the order of arrival.
  // `now_us` is the attempt's time by the database's clock as the lane knows it, microseconds since
  // 1970, the same as for expect(). What it writes last it may defer. Throws db
  // errors, after which the transaction is over, and std::logic_error for a bug. After a lock
  // time-out it is called again for the same operations and has to do without what it waited for.
  virtual std::vector<Decision> execute(db::Transaction& transaction, std::span<const Claim> claims,
                                        std::int64_t now_us) = 0;

  // Called once for each Decided operation, when its COMMIT is certain: for those who count. On the
  // lane's thread; must neither block nor throw.
  virtual void committed(const Answer& /*answer*/) {}
};

}  // namespace oncepay::once

// The engine: runs an executor exactly once for a key, however often and wherever it is asked to.
//
// submit() looks into the map of keys in flight on this instance and puts new operations into a
// bounded queue; lanes take all that is queued and run it as one transaction (lane.hpp tells how).
// The database is the only arbiter between instances: the map merely answers early what would
// otherwise wait.
//
// Threads: submit() and look_up() from any; a completion is called exactly once, from a lane, from
// the deadline thread, or from within submit() itself, and must neither block nor throw.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "db/connection.hpp"
#include "db/pool.hpp"
#include "once/answer.hpp"
#include "once/executor.hpp"
#include "once/fingerprint.hpp"
#include "runtime/log.hpp"
#include "runtime/metrics.hpp"

namespace oncepay::once {

// One request that is to be executed under its key.
struct Operation {
  std::string tenant_id;
  std::string key;
  RequestIdentity identity;
  std::string fingerprint;  // fingerprint_of(identity, fingerprint_version_current)
  Executor* executor = nullptr;
  std::unique_ptr<const Payload> payload;
};

// How a submission ended. The numbers are the rows of the contract's answer table.
struct Answered {  // 12 first answer, or 8 replay
  Answer answer;
  bool replayed;
};
struct NotDone {  // 11 refused by the executor; the key is free
  Answer answer;
};
struct Mismatch {           // 7 the key belongs to another request
  std::string resource_id;  // of the first one; empty while it has none
};
struct InProgress {};   // 9 the same request is running
struct Overloaded {};   // 10 the queue is full; nothing was claimed
struct Unavailable {};  // 10 draining, or the database is away; nothing was claimed
struct Failed {};       // 13 a fault of ours; rolled back, the key is free
struct OutcomeUnknown {
};  // 14 the commit's outcome could not be learnt in time: ask with the same key

using Resolution = std::variant<Answered, NotDone, Mismatch, InProgress, Overloaded, Unavailable,
                                Failed, OutcomeUnknown>;
using Completion = std::function<void(Resolution)>;

struct EngineSettings {
  db::ConnectionSettings database;
  std::size_t lanes = 2;
  std::size_t batch_operations_max = 256;
  std::size_t queue_operations_max = 8192;  // one tenant holds at most half of it
  std::size_t waiters_max = 1024;           // calls that wait for another call's answer
  std::chrono::seconds retention{86'400};
  std::chrono::milliseconds answer_deadline{
      15'000};  // then OutcomeUnknown, while the operation goes on
  std::chrono::milliseconds commit_resolve_deadline{10'000};
  std::chrono::milliseconds slow_batch{1'000};  // one that takes longer is logged
};

// What the state of a key is, for those who ask without executing anything.
struct KeyState {
  bool completed = false;
  std::string resource_id;           // empty if none
  int answer_status = 0;             // 0 while processing
  std::int64_t created_at_us = 0;    // since 1970, database's clock; 0 while it is not committed
  std::int64_t completed_at_us = 0;  // 0 while processing
  std::int64_t expires_at_us = 0;    // 0 while it is not committed
};

class Engine {
 public:
  Engine(EngineSettings settings, db::Pool& reads, runtime::Log& log, runtime::Metrics& metrics);
  ~Engine();  // stops at once: whatever is still queued gets Unavailable
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // `wait`: how long to wait for the answer when the same request is already running; 0 =
  // InProgress at once.
  void submit(Operation operation, std::chrono::milliseconds wait, Completion done);

  // What the database knows about the keys of these requests, in their order: a replay, a mismatch
  // or in progress; nothing when the key is free. Executes nothing. Blocks for one round trip,
  // however many they are; db errors pass.
  std::vector<std::optional<Resolution>> look_up(std::span<const Operation* const> operations);

  // Nothing when the key is absent or past its expiry. A key that another instance is executing is
  // absent here until that commits. Blocks for a round trip; db errors pass.
  std::optional<KeyState> key_state(const std::string& tenant_id, const std::string& key);

  // True while a payment submitted now would be taken.
  [[nodiscard]] bool ready() const;

  // What 99 of 100 operations took at most since the last call; nothing = there were none.
  std::optional<std::chrono::milliseconds> take_recent_p99();

  // From now on new operations get Unavailable; what runs goes on.
  void drain();
  // True once nothing is in flight; false when `deadline` came first.
  bool wait_idle(std::chrono::steady_clock::time_point deadline);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace oncepay::once

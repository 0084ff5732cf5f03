// A lane: a thread with its own connection that runs batches, and what it does when one goes wrong.
//
// What happens next, by kind of error:
//   serialization, deadlock     the whole batch again, bounded, with a jittered pause
//   lock time-out of a claim    the batch leaves the lane: its operations run alone, in the aside
//                               lane, so that one key that another instance is stuck on does not
//                               slow everybody else down
//   lock time-out after that    the whole batch again, bounded: the executor does without what it
//                               waited for
//   no partition for a claim    somebody changed the layout of the keys: a look at it, and again
//   any other database error,   the operations one by one, so that only the guilty one fails
//   or a bug
//   connection lost before      a new connection, and again
//   COMMIT was sent
//   connection lost in COMMIT   in doubt: a new connection, and the same operations again. Their
//                               claims wait for the old backend if it is still committing.
//                               Conflict: the stored answers are the truth. No conflict: nothing
//                               was committed, and this run is the first.
// Nothing is answered before its COMMIT was acknowledged or its row was read.
//
// Threads: each lane is one; Lane objects are made and destroyed by the engine.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <unordered_map>
#include <vector>

#include "db/connection.hpp"
#include "once/batch.hpp"
#include "once/engine_metrics.hpp"
#include "once/in_flight.hpp"
#include "once/queue.hpp"
#include "once/recent_times.hpp"
#include "runtime/log.hpp"

namespace oncepay::once {

// Where operations go that made a lane wait: they run one at a time on a connection of their own. A
// key that made somebody wait is remembered, so that its next requests come here at once instead of
// through a batch.
class AsideQueue {
 public:
  explicit AsideQueue(std::size_t stuck_max) : stuck_max_(stuck_max) {}

  // Operations of a batch that had to wait: most of them are innocent.
  void push_suspects(std::span<const PendingPtr> batch);
  // An operation whose own key made it wait; false when too many wait already.
  bool push_stuck(PendingPtr pending);
  // A remembered key goes aside: false = not remembered, or no room.
  [[nodiscard]] bool remembers(const std::string& map_key);
  void remember(const std::string& map_key);
  void forget(const std::string& map_key);

  PendingPtr take(std::chrono::milliseconds patience, std::stop_token stop);
  std::vector<PendingPtr> take_all();

 private:
  void remember_locked(const std::string& map_key);

  std::size_t stuck_max_;
  std::mutex mutex_;
  std::condition_variable_any pushed_;
  std::deque<PendingPtr> suspects_;
  std::deque<PendingPtr> stuck_;
  std::unordered_map<std::string, SteadyTime> remembered_;
};

// What all lanes of an engine share; lives longer than they do.
struct LaneShared {
  const EngineSettings& settings;
  Queue& queue;
  AsideQueue& aside;
  InFlight& in_flight;
  runtime::Log& log;
  EngineMetrics& metrics;
  RecentTimes recent{};
  std::atomic<int> lanes_connected{0};
};

enum class LaneKind { batches, aside };

class Lane {
 public:
  Lane(LaneShared& shared, LaneKind kind);

  // Until `stop`; the batch in hand is finished first.
  void run(std::stop_token stop);

 private:
  enum class Next { again, leave };
  struct Attempt;

  bool connect(std::stop_token stop);
  void disconnect();
  void look();
  bool ping();
  void end_turn();
  void pause(int attempt, std::stop_token stop);
  void run_batches(std::stop_token stop);
  void run_aside(std::stop_token stop);
  void process(std::vector<PendingPtr> batch, std::stop_token stop);
  void one_by_one(const std::vector<PendingPtr>& batch, std::stop_token stop);
  bool try_once(const std::vector<PendingPtr>& batch, Attempt& attempt, std::stop_token stop);
  [[nodiscard]] bool may_run_alone(const std::vector<PendingPtr>& batch,
                                   const Attempt& attempt) const;
  std::optional<BatchResult> try_alone(const PendingPtr& pending, const BatchSettings& settings,
                                       Attempt& attempt);
  Next after_in_doubt(const std::vector<PendingPtr>& batch, Attempt& attempt);
  void after_fault(const std::vector<PendingPtr>& batch, const std::exception& error,
                   const Attempt& attempt, std::stop_token stop);
  Next after_transient(const std::vector<PendingPtr>& batch, const db::TransientError& error,
                       Attempt& attempt);
  Next after_lock_timeout(const std::vector<PendingPtr>& batch, Attempt& attempt);
  void give_up(const std::vector<PendingPtr>& batch, const Attempt& attempt);
  void observe(const std::vector<PendingPtr>& batch, const BatchResult& result);
  void log_times(std::size_t operations, const BatchResult& result);

  LaneShared& shared_;
  LaneKind kind_;
  std::unique_ptr<db::Connection> connection_;
  bool counted_ = false;                     // in lanes_connected
  bool has_turn_ = false;                    // the queue waits for us
  DatabaseClock clock_;                      // seen by each new session before its first batch
  KeyLayout layout_ = KeyLayout::one_table;  // likewise
  FirstLook first_look_ = FirstLook::claim;
  bool as_expected_ = true;  // the last batch ended so
  bool alone_works_ = true;  // in this session
  std::minstd_rand random_;
};

}  // namespace oncepay::once

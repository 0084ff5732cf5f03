// The operations that are in flight on this instance, and the calls that wait for each of them.
//
// At most one operation a key is in flight here. A call with the same fingerprint joins as a
// waiter, for as long as it asked to wait. One that did not is told that its request is being
// processed as soon as that is certain, which is once the first one has its claim: until then the
// key may turn out to be completed, and then its answer is due to all of them.
//
// A call with another fingerprint is a rival: who is right is only known once the first one has its
// claim (then the rival is a mismatch) or has ended without one (then the rival goes its own way).
// Answering it before would let a wrong request push the rightful one off its own key.
//
// Threads: any; completions are called without the lock held, exactly once each.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "once/engine.hpp"

namespace oncepay::once {

using SteadyTime = std::chrono::steady_clock::time_point;

struct Waiter;
using Deadlines = std::multimap<SteadyTime, std::pair<std::string, std::uint64_t>>;

enum class WaiterKind { owner, same, hasty, rival };

struct Waiter {
  std::uint64_t id;
  WaiterKind kind;
  Completion done;
  Deadlines::iterator deadline;
  std::unique_ptr<Operation> rival;  // of a rival: what it wants
  std::chrono::milliseconds rival_wait{0};
};

// An operation on its way through a lane. Lanes read `operation`; the rest belongs to InFlight's
// lock or is atomic.
struct Pending {
  Operation operation;
  std::string map_key;
  SteadyTime entered_at = std::chrono::steady_clock::now();
  std::vector<Waiter> waiters;
  // Until when somebody waits for another instance's claim on this key, ticks of the steady clock.
  std::atomic<SteadyTime::rep> wait_until{0};
  bool claimed = false;
  // The id that our last attempt gave the resource: tells our own commit from somebody else's once
  // it is in doubt.
  std::string attempted_resource_id;
};

using PendingPtr = std::shared_ptr<Pending>;

class InFlight {
 public:
  struct Limits {
    std::size_t operations_max;
    std::size_t waiters_max;
    std::chrono::milliseconds answer_deadline;
  };
  // `resubmit` gives a rival its own way once the first operation ended without an answer.
  using Resubmit = std::function<void(Operation, std::chrono::milliseconds, Completion)>;

  InFlight(Limits limits, Resubmit resubmit);
  ~InFlight();

  // Either this is the first operation of its key: the Pending is returned and must be finished one
  // day. Or the call was answered or put to wait: null. `admit` is asked under the lock whether a
  // first operation may go on; if it returns a Resolution, that is the answer and nothing is in
  // flight.
  using Admission = std::function<std::optional<Resolution>(const PendingPtr&)>;
  void enter(Operation operation, std::chrono::milliseconds wait, Completion done,
             const Admission& admit);

  // The operation holds the claim on its key: rivals are mismatches from now on.
  void claimed(std::span<const PendingPtr> batch);
  // The attempt that held the claims is over without a commit: who is right is open again.
  void released(std::span<const PendingPtr> batch);
  // The operations have ended: everybody who waits is answered.
  void finish(std::span<const PendingPtr> batch, std::vector<Resolution> resolutions);
  void finish(const PendingPtr& pending, const Resolution& resolution);

  bool wait_idle(SteadyTime deadline);
  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] bool contains(const std::string& tenant_id, const std::string& key) const;

 private:
  struct Call {
    Completion done;
    Resolution resolution;
  };
  struct Again {
    Operation operation;
    std::chrono::milliseconds wait;
    Completion done;
  };
  void join(const PendingPtr& pending, Operation operation, std::chrono::milliseconds wait,
            Completion done, std::vector<Call>& calls);
  void add_waiter(Pending& pending, WaiterKind kind, SteadyTime deadline, Completion done,
                  std::unique_ptr<Operation> rival, std::chrono::milliseconds rival_wait);
  void end(Pending& pending, const Resolution& resolution, std::vector<Call>& calls,
           std::vector<Again>& agains);
  void expire(std::stop_token stop);

  Limits limits_;
  Resubmit resubmit_;
  mutable std::mutex mutex_;
  std::condition_variable idle_;
  std::condition_variable_any stop_wakes_;
  std::unordered_map<std::string, PendingPtr> pendings_;
  Deadlines deadlines_;
  std::size_t waiting_ = 0;  // waiters that are no owners
  std::uint64_t next_waiter_ = 0;
  std::jthread expirer_;
};

}  // namespace oncepay::once

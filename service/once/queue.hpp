// The bounded queue in front of the lanes, fair over tenants.
//
// Operations of one tenant keep their order of arrival. A batch takes one operation from each
// tenant in turn, so one tenant's flood delays the others by one batch at most; and no tenant holds
// more than half of the queue.
//
// One batch at a time is the fastest: what arrives while it runs makes the next one larger, and two
// batches that need the same account wait for each other. So while one lane runs a batch the others
// leave the queue alone, until there is enough for a full batch or somebody has waited for
// `turn_patience`: then that lane is stuck or the machine has cores to spare. Of several that are
// idle the one that ran last is called, whose session is warm.
//
// Threads: any.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <list>
#include <mutex>
#include <stop_token>
#include <string>
#include <unordered_map>
#include <vector>

#include "once/in_flight.hpp"

namespace oncepay::once {

class Queue {
 public:
  explicit Queue(std::size_t operations_max) : operations_max_(operations_max) {}

  // False when the queue, or the tenant's half of it, is full.
  bool push(PendingPtr pending);

  // Waits until it is the caller's turn, `patience` is over, or `stop`; takes all that is queued up
  // to `count_max`. A batch that is not empty is over when the caller says finished().
  std::vector<PendingPtr> take(std::size_t count_max, std::chrono::milliseconds patience,
                               std::stop_token stop);
  void finished();
  std::vector<PendingPtr> take_all();
  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] std::size_t idle_lanes() const;  // that wait in take()

 private:
  struct Tenant {
    std::string id;
    std::deque<PendingPtr> operations;
  };
  using Clock = std::chrono::steady_clock;
  struct Idle {
    std::condition_variable_any called_changed;
    bool called = false;
  };
  [[nodiscard]] bool is_turn() const;
  void call_one();
  void wait_for_turn(Clock::time_point until, std::unique_lock<std::mutex>& lock,
                     const std::stop_token& stop);
  std::vector<PendingPtr> take_locked(std::size_t count_max);

  std::size_t operations_max_;
  mutable std::mutex mutex_;
  std::vector<Idle*> idle_;    // lanes that wait; the one that came last from a batch is last
  bool one_comes_ = false;     // was called and has not looked yet
  std::list<Tenant> tenants_;  // those with something queued; the next one to serve is in front
  std::unordered_map<std::string, std::list<Tenant>::iterator> by_id_;
  std::size_t size_ = 0;
  std::size_t batch_max_ = 1;
  std::size_t batches_running_ = 0;
  // Since when somebody has waited, while a batch runs.
  Clock::time_point waiting_since_{};
};

}  // namespace oncepay::once

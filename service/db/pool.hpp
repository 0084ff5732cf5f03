// A bounded pool of connections for reads: balances, lists, keys, API keys.
//
// The lanes do not use it: each lane owns its connection. A borrowed connection goes back only if
// it is usable; when one turns out to be lost or on a demoted primary, all idle ones are dropped
// with it, since the same event met them. While the database cannot be reached, attempts to connect
// are spaced by a growing, jittered pause of at most a second, and calls in between fail at once: a
// database that comes back is not met by a crowd, and nobody waits for what just failed.
//
// Threads: any. Waiting for a free connection is bounded by `wait`.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "db/connection.hpp"

namespace oncepay::db {

class Pool {
 public:
  // Opens nothing yet.
  Pool(ConnectionSettings settings, std::size_t connections_max, std::chrono::milliseconds wait);

  // Runs `work` in one transaction and commits it. A connection that is found dead at BEGIN is
  // replaced once (idle connections die with a failover); otherwise errors pass, and `work` is
  // never run twice. Throws TransientError(out_of_capacity) when no connection came free in time.
  void run(Access access, const std::function<void(Transaction&)>& work);

  // False while the last attempt to connect failed and the pause after it is not over: what is
  // asked now would fail at once.
  [[nodiscard]] bool reachable() const;

  // Connections that wait for work, and those that are lent or being opened.
  struct Use {
    std::size_t idle;
    std::size_t busy;
  };
  [[nodiscard]] Use use() const;

 private:
  class Loan;
  using Clock = std::chrono::steady_clock;

  // A free connection if there is one, else a new one; `was_idle` says which.
  std::unique_ptr<Connection> borrow(bool& was_idle);
  std::unique_ptr<Connection> open();
  void give_back(std::unique_ptr<Connection> connection);
  void drop_idle();

  ConnectionSettings settings_;
  std::size_t connections_max_;
  std::chrono::milliseconds wait_;
  mutable std::mutex mutex_;  // guards all below
  std::condition_variable returned_;
  std::vector<std::unique_ptr<Connection>> idle_;
  std::size_t open_ = 0;   // idle, lent, or being opened
  unsigned failures_ = 0;  // to connect, in a row
  Clock::time_point not_before_{};
  TransientReason last_failure_ = TransientReason::connection_lost;
};

}  // namespace oncepay::db

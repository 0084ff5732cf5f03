// A bounded pool of connections for reads: balances, lists, keys, API keys.
//
// The lanes do not use it: each lane owns its connection. A borrowed connection goes back only if it is usable;
// after a read_only error all idle ones are dropped (they point to a demoted primary).
//
// Threads: any. Waiting for a free connection is bounded by `wait`.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "db/connection.hpp"

namespace oncepay::db {

class Pool {
 public:
  Pool(ConnectionSettings settings, std::size_t connections_max, std::chrono::milliseconds wait);

  // Runs `work` in one transaction and commits it. A connection that turns out to be dead before anything was
  // read is replaced once (idle connections die with a failover); otherwise errors pass. Throws
  // TransientError(out_of_capacity) when no connection came free in time.
  void run(Access access, const std::function<void(Transaction&)>& work);

 private:
  std::unique_ptr<Connection> borrow();
  void give_back(std::unique_ptr<Connection> connection);

  ConnectionSettings settings_;
  std::size_t connections_max_;
  std::chrono::milliseconds wait_;
  std::mutex mutex_;
  std::condition_variable returned_;
  std::vector<std::unique_ptr<Connection>> idle_;
  std::size_t open_ = 0;
};

}  // namespace oncepay::db

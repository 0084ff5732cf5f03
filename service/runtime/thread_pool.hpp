// A fixed number of threads and a bounded queue for work that may block on a round trip.
//
// Deliberately not for the lanes: those own their connections. A full queue is an answer, not a
// wait.
//
// Threads: post() from any. Tasks must not throw.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace oncepay::runtime {

class ThreadPool {
 public:
  ThreadPool(std::size_t threads, std::size_t queue_max);
  ~ThreadPool();  // finishes what was posted
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  // False when the queue is full or the pool is ending; the task is not run then.
  bool post(std::function<void()> task);

 private:
  void work();

  std::size_t queue_max_;
  std::mutex mutex_;
  std::condition_variable posted_;
  std::deque<std::function<void()>> queue_;
  bool ending_ = false;
  std::vector<std::jthread> threads_;
};

}  // namespace oncepay::runtime

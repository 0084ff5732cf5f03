#include "runtime/thread_pool.hpp"

#include <utility>

namespace oncepay::runtime {

ThreadPool::ThreadPool(std::size_t threads, std::size_t queue_max) : queue_max_(queue_max) {
  threads_.reserve(threads);
  for (std::size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  posted_.notify_all();
  threads_.clear();  // joins
}

bool ThreadPool::post(std::function<void()> task) {
  {
    const std::lock_guard lock(mutex_);
    if (ending_ || queue_.size() >= queue_max_) return false;
    queue_.push_back(std::move(task));
  }
  posted_.notify_one();
  return true;
}

void ThreadPool::work() {
  for (;;) {
    std::function<void()> task;
    {
      std::unique_lock lock(mutex_);
      posted_.wait(lock, [this] { return ending_ || !queue_.empty(); });
      if (queue_.empty()) return;
      task = std::move(queue_.front());
      queue_.pop_front();
    }
    task();
  }
}

}  // namespace oncepay::runtime

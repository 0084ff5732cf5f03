#include "http/edge/workers.hpp"

#include <algorithm>
#include <exception>
#include <utility>

namespace oncepay::http::edge {

Workers::Workers(Handler& handler, EdgeCounters& counters, std::size_t threads,
                 std::size_t waiting_max)
    : handler_(handler), counters_(counters), waiting_max_(waiting_max) {
  threads_.reserve(threads);
  for (std::size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
}

std::size_t Workers::room() {
  const std::lock_guard lock(mutex_);
  return waiting_max_ - waiting_.size();
}

void Workers::submit(std::vector<Task>& tasks) {
  if (tasks.empty()) return;
  std::size_t wanted = 0;
  {
    const std::lock_guard lock(mutex_);
    for (Task& task : tasks) waiting_.push_back(std::move(task));
    wanted = std::min(tasks.size(), sleeping_);
    counters_.requests_waiting_now.store(waiting_.size(), std::memory_order_relaxed);
  }
  for (std::size_t i = 0; i < wanted; ++i) work_came_.notify_one();
  tasks.clear();
}

bool Workers::better_here(const Task& task) {
  constexpr std::size_t small_bytes = 4 * 1024;
  // What is asked for without being sent anything may be a long document that is made for it.
  if (task.request.method != "POST" || task.request.body.size() > small_bytes) return false;
  if (!handler_.is_quick()) return false;
  const std::lock_guard lock(mutex_);
  return waiting_.empty() && sleeping_ == threads_.size();
}

void Workers::run_here(Task task) {
  try {
    handler_.handle(std::move(task.request), std::move(task.reply));
  } catch (const std::exception&) {
    // One request's fault must not end the process for all others (G9). Its Reply is gone with it,
    // and a Reply that goes unused makes the loop answer 500 and count it.
  }
}

void Workers::stop() {
  std::deque<Task> dropped;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    waiting_.swap(dropped);
  }
  work_came_.notify_all();
  threads_.clear();
}

void Workers::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    while (waiting_.empty() && !stopping_) {
      ++sleeping_;
      work_came_.wait(lock);
      --sleeping_;
    }
    if (stopping_) return;
    Task task = std::move(waiting_.front());
    waiting_.pop_front();
    counters_.requests_waiting_now.store(waiting_.size(), std::memory_order_relaxed);
    lock.unlock();
    run_here(std::move(task));
    lock.lock();
  }
}

}  // namespace oncepay::http::edge

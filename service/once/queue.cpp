#include "once/queue.hpp"

#include <algorithm>
#include <utility>

namespace oncepay::once {

namespace {

// Several times what a batch takes; the most that a stuck lane costs the others.
constexpr std::chrono::milliseconds turn_patience{50};

}  // namespace

bool Queue::push(PendingPtr pending) {
  const std::lock_guard lock(mutex_);
  if (size_ >= operations_max_) return false;
  const std::string& tenant_id = pending->operation.tenant_id;
  auto found = by_id_.find(tenant_id);
  if (found == by_id_.end()) {
    tenants_.push_back({tenant_id, {}});
    found = by_id_.emplace(tenant_id, std::prev(tenants_.end())).first;
  } else if (found->second->operations.size() >= std::max<std::size_t>(1, operations_max_ / 2)) {
    return false;
  }
  found->second->operations.push_back(std::move(pending));
  if (size_++ == 0) waiting_since_ = Clock::now();
  if (batches_running_ == 0 || size_ >= batch_max_) call_one();  // else it is nobody's turn
  return true;
}

std::vector<PendingPtr> Queue::take_locked(std::size_t count_max) {
  std::vector<PendingPtr> taken;
  taken.reserve(std::min(count_max, size_));
  while (taken.size() < count_max && size_ > 0) {
    auto tenant = tenants_.begin();
    taken.push_back(std::move(tenant->operations.front()));
    tenant->operations.pop_front();
    --size_;
    if (tenant->operations.empty()) {
      by_id_.erase(tenant->id);
      tenants_.erase(tenant);
    } else {
      tenants_.splice(tenants_.end(), tenants_,
                      tenant);  // its next turn comes after everybody else's
    }
  }
  return taken;
}

std::vector<PendingPtr> Queue::take(std::size_t count_max, std::chrono::milliseconds patience,
                                    std::stop_token stop) {
  const auto until = Clock::now() + patience;
  std::unique_lock lock(mutex_);
  batch_max_ = count_max;
  bool has_just_come = true;
  while (!is_turn()) {
    // Nobody is woken for each operation that comes while a batch runs, so look from time to time.
    const auto look_again = std::min(until, Clock::now() + turn_patience);
    wait_idle(look_again, std::exchange(has_just_come, false), lock, stop);
    if (stop.stop_requested() || Clock::now() >= until) break;
  }
  if (stop.stop_requested() || !is_turn()) return {};
  ++batches_running_;
  waiting_since_ = Clock::now();  // whoever is left begins to wait for the next lane
  auto taken = take_locked(count_max);
  if (is_turn()) call_one();
  return taken;
}

// Under the lock, which keeps the one that is called from being gone. One on its way is enough.
void Queue::call_one() {
  if (idle_.empty() || one_comes_) return;
  Idle* const idle = idle_.back();
  idle_.pop_back();
  idle->called = true;
  one_comes_ = true;
  idle->called_changed.notify_one();
}

void Queue::wait_idle(Clock::time_point until, bool has_just_come,
                      std::unique_lock<std::mutex>& lock, const std::stop_token& stop) {
  Idle self;
  idle_.insert(has_just_come ? idle_.end() : idle_.begin(), &self);
  self.called_changed.wait_until(lock, stop, until, [&self] { return self.called; });
  if (self.called) {
    one_comes_ = false;
  } else {
    std::erase(idle_, &self);
  }
}

bool Queue::is_turn() const {
  if (size_ == 0) return false;
  return batches_running_ == 0 || size_ >= batch_max_ ||
         Clock::now() >= waiting_since_ + turn_patience;
}

void Queue::finished() {
  const std::lock_guard lock(mutex_);
  --batches_running_;
  if (is_turn()) call_one();
}

std::vector<PendingPtr> Queue::take_all() {
  const std::lock_guard lock(mutex_);
  return take_locked(size_);
}

std::size_t Queue::size() const {
  const std::lock_guard lock(mutex_);
  return size_;
}

}  // namespace oncepay::once

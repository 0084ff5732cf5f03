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
  std::unique_lock lock(mutex_);
  batch_max_ = count_max;
  if (!is_turn()) wait_for_turn(Clock::now() + patience, lock, stop);
  if (stop.stop_requested() || !is_turn()) return {};
  ++batches_running_;
  waiting_since_ = Clock::now();  // whoever is left begins to wait for the next lane
  auto taken = take_locked(count_max);
  if (is_turn()) call_one();
  return taken;
}

void Queue::wait_for_turn(Clock::time_point until, std::unique_lock<std::mutex>& lock,
                          const std::stop_token& stop) {
  Idle self;
  idle_.push_back(&self);
  while (!is_turn() && !stop.stop_requested() && Clock::now() < until) {
    // Nobody is called for each operation that comes while a batch runs, so look from time to time.
    const auto look_again = std::min(until, Clock::now() + turn_patience);
    self.called_changed.wait_until(lock, stop, look_again, [&self] { return self.called; });
    if (std::exchange(self.called, false)) one_comes_ = false;
  }
  std::erase(idle_, &self);
}

// Under the lock, which keeps the one that is called from being gone. One on its way is enough.
void Queue::call_one() {
  if (idle_.empty() || one_comes_) return;
  one_comes_ = true;
  idle_.back()->called = true;
  idle_.back()->called_changed.notify_one();
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

std::size_t Queue::idle_lanes() const {
  const std::lock_guard lock(mutex_);
  return idle_.size();
}

std::size_t Queue::size() const {
  const std::lock_guard lock(mutex_);
  return size_;
}

}  // namespace oncepay::once

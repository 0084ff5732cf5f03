#include "once/queue.hpp"

#include <algorithm>
#include <utility>

namespace oncepay::once {

bool Queue::push(PendingPtr pending) {
  {
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
    ++size_;
  }
  pushed_.notify_one();
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
  pushed_.wait_for(lock, stop, patience, [this] { return size_ > 0; });
  return take_locked(count_max);
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

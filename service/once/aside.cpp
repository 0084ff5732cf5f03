#include <algorithm>
#include <utility>

#include "once/lane.hpp"

namespace oncepay::once {

namespace {

// How long a key that made somebody wait goes aside at once, and how many such keys are remembered.
constexpr std::chrono::seconds remembered_for{30};
constexpr std::size_t remembered_max = 10'000;

}  // namespace

void AsideQueue::push_suspects(std::span<const PendingPtr> batch) {
  {
    const std::lock_guard lock(mutex_);
    suspects_.insert(suspects_.end(), batch.begin(), batch.end());
  }
  pushed_.notify_one();
}

bool AsideQueue::push_stuck(PendingPtr pending) {
  {
    const std::lock_guard lock(mutex_);
    remember_locked(pending->map_key);
    if (stuck_.size() >= stuck_max_) return false;
    stuck_.push_back(std::move(pending));
  }
  pushed_.notify_one();
  return true;
}

void AsideQueue::remember(const std::string& map_key) {
  const std::lock_guard lock(mutex_);
  remember_locked(map_key);
}

void AsideQueue::remember_locked(const std::string& map_key) {
  const auto now = std::chrono::steady_clock::now();
  if (remembered_.size() >= remembered_max) {
    std::erase_if(remembered_, [now](const auto& entry) { return entry.second <= now; });
  }
  if (remembered_.size() < remembered_max) remembered_[map_key] = now + remembered_for;
}

bool AsideQueue::remembers(const std::string& map_key) {
  const std::lock_guard lock(mutex_);
  if (remembered_.empty()) return false;
  const auto found = remembered_.find(map_key);
  if (found == remembered_.end()) return false;
  if (found->second > std::chrono::steady_clock::now()) return true;
  remembered_.erase(found);
  return false;
}

void AsideQueue::forget(const std::string& map_key) {
  const std::lock_guard lock(mutex_);
  remembered_.erase(map_key);
}

PendingPtr AsideQueue::take(std::chrono::milliseconds patience, std::stop_token stop) {
  std::unique_lock lock(mutex_);
  pushed_.wait_for(lock, stop, patience, [this] { return !suspects_.empty() || !stuck_.empty(); });
  auto& from = suspects_.empty() ? stuck_ : suspects_;  // the innocent first
  if (from.empty()) return nullptr;
  PendingPtr taken = std::move(from.front());
  from.pop_front();
  return taken;
}

std::vector<PendingPtr> AsideQueue::take_all() {
  const std::lock_guard lock(mutex_);
  std::vector<PendingPtr> taken(suspects_.begin(), suspects_.end());
  taken.insert(taken.end(), stuck_.begin(), stuck_.end());
  suspects_.clear();
  stuck_.clear();
  return taken;
}

}  // namespace oncepay::once

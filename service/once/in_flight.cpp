#include "once/in_flight.hpp"

#include <algorithm>
#include <utility>

namespace oncepay::once {

namespace {

// How long after its deadline a call may be told so at the latest.
constexpr std::chrono::milliseconds deadline_grain{20};
// How long a call that does not want to wait is kept while it is open whether its key is completed.
constexpr std::chrono::milliseconds hasty_patience{500};

std::string map_key_of(const Operation& operation) {
  // A tenant id has a fixed length, so the two cannot run into each other.
  return operation.tenant_id + operation.key;
}

Resolution late(WaiterKind kind) {
  switch (kind) {
    case WaiterKind::owner:
      return OutcomeUnknown{};
    case WaiterKind::same:
    case WaiterKind::hasty:
      return InProgress{};
    case WaiterKind::rival:
      return Unavailable{};
  }
  return OutcomeUnknown{};
}

// What those get who waited for somebody else's operation on the same request.
Resolution for_waiter(const Resolution& resolution) {
  if (const auto* answered = std::get_if<Answered>(&resolution)) {
    return Answered{answered->answer, true};
  }
  return resolution;
}

}  // namespace

InFlight::InFlight(Limits limits, Resubmit resubmit)
    : limits_(limits), resubmit_(std::move(resubmit)) {
  expirer_ = std::jthread([this](std::stop_token stop) { expire(std::move(stop)); });
}

InFlight::~InFlight() = default;

void InFlight::enter(Operation operation, std::chrono::milliseconds wait, Completion done,
                     const Admission& admit) {
  std::vector<Call> calls;
  {
    const std::lock_guard lock(mutex_);
    std::string map_key = map_key_of(operation);
    const auto found = pendings_.find(map_key);
    if (found != pendings_.end()) {
      join(found->second, std::move(operation), wait, std::move(done), calls);
    } else if (pendings_.size() >= limits_.operations_max) {
      calls.push_back({std::move(done), Overloaded{}});
    } else {
      auto pending = std::make_shared<Pending>();
      pending->operation = std::move(operation);
      pending->map_key = map_key;
      const auto now = std::chrono::steady_clock::now();
      pending->wait_until = (now + wait).time_since_epoch().count();
      // In the map before the queue: a lane may finish it before admit() returns, but not before we
      // unlock.
      pendings_.emplace(map_key, pending);
      if (auto refused = admit(pending)) {
        pendings_.erase(map_key);
        calls.push_back({std::move(done), std::move(*refused)});
      } else {
        add_waiter(*pending, WaiterKind::owner, now + limits_.answer_deadline + wait,
                   std::move(done), nullptr, {});
      }
    }
  }
  for (auto& call : calls) call.done(std::move(call.resolution));
}

void InFlight::join(const PendingPtr& pending, Operation operation, std::chrono::milliseconds wait,
                    Completion done, std::vector<Call>& calls) {
  const bool same = operation.fingerprint == pending->operation.fingerprint;
  if (!same && pending->claimed) {
    calls.push_back({std::move(done), Mismatch{}});
    return;
  }
  if (same && wait.count() == 0 && pending->claimed) {
    calls.push_back({std::move(done), InProgress{}});
    return;
  }
  if (waiting_ >= limits_.waiters_max) {
    calls.push_back({std::move(done), same ? Resolution(InProgress{}) : Resolution(Overloaded{})});
    return;
  }
  const auto now = std::chrono::steady_clock::now();
  if (same && wait.count() == 0) {
    add_waiter(*pending, WaiterKind::hasty, now + hasty_patience, std::move(done), nullptr, {});
  } else if (same) {
    const auto until = (now + wait).time_since_epoch().count();
    if (until > pending->wait_until) pending->wait_until = until;
    add_waiter(*pending, WaiterKind::same, now + wait, std::move(done), nullptr, {});
  } else {
    add_waiter(*pending, WaiterKind::rival, now + limits_.answer_deadline, std::move(done),
               std::make_unique<Operation>(std::move(operation)), wait);
  }
}

void InFlight::add_waiter(Pending& pending, WaiterKind kind, SteadyTime deadline, Completion done,
                          std::unique_ptr<Operation> rival, std::chrono::milliseconds rival_wait) {
  const std::uint64_t id = next_waiter_++;
  if (kind != WaiterKind::owner) ++waiting_;
  const auto place = deadlines_.emplace(deadline, std::pair(pending.map_key, id));
  pending.waiters.push_back({id, kind, std::move(done), place, std::move(rival), rival_wait});
}

void InFlight::claimed(std::span<const PendingPtr> batch) {
  std::vector<Call> calls;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& pending : batch) {
      pending->claimed = true;
      if (pending->waiters.size() < 2) continue;
      const auto told = std::stable_partition(
          pending->waiters.begin(), pending->waiters.end(), [](const Waiter& waiter) {
            return waiter.kind == WaiterKind::owner || waiter.kind == WaiterKind::same;
          });
      for (auto waiter = told; waiter != pending->waiters.end(); ++waiter) {
        deadlines_.erase(waiter->deadline);
        --waiting_;
        calls.push_back({std::move(waiter->done), waiter->kind == WaiterKind::rival
                                                      ? Resolution(Mismatch{})
                                                      : Resolution(InProgress{})});
      }
      pending->waiters.erase(told, pending->waiters.end());
    }
  }
  for (auto& call : calls) call.done(std::move(call.resolution));
}

void InFlight::released(std::span<const PendingPtr> batch) {
  const std::lock_guard lock(mutex_);
  for (const auto& pending : batch) pending->claimed = false;
}

void InFlight::end(Pending& pending, const Resolution& resolution, std::vector<Call>& calls,
                   std::vector<Again>& agains) {
  for (auto& waiter : pending.waiters) {
    deadlines_.erase(waiter.deadline);
    if (waiter.kind != WaiterKind::owner) --waiting_;
    switch (waiter.kind) {
      case WaiterKind::owner:
        calls.push_back({std::move(waiter.done), resolution});
        break;
      case WaiterKind::same:
      case WaiterKind::hasty:
        calls.push_back({std::move(waiter.done), for_waiter(resolution)});
        break;
      case WaiterKind::rival:
        if (const auto* answered = std::get_if<Answered>(&resolution)) {
          calls.push_back({std::move(waiter.done), Mismatch{answered->answer.resource_id}});
        } else {
          agains.push_back({std::move(*waiter.rival), waiter.rival_wait, std::move(waiter.done)});
        }
        break;
    }
  }
  pending.waiters.clear();
  const auto place = pendings_.find(pending.map_key);
  if (place != pendings_.end() && place->second.get() == &pending) pendings_.erase(place);
}

void InFlight::finish(std::span<const PendingPtr> batch, std::vector<Resolution> resolutions) {
  std::vector<Call> calls;
  std::vector<Again> agains;
  calls.reserve(batch.size());
  {
    const std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < batch.size(); ++i) {
      end(*batch[i], resolutions[i], calls, agains);
    }
    if (pendings_.empty()) idle_.notify_all();
  }
  for (auto& call : calls) call.done(std::move(call.resolution));
  for (auto& again : agains) {
    resubmit_(std::move(again.operation), again.wait, std::move(again.done));
  }
}

void InFlight::finish(const PendingPtr& pending, const Resolution& resolution) {
  finish(std::span(&pending, 1), std::vector{resolution});
}

bool InFlight::wait_idle(SteadyTime deadline) {
  std::unique_lock lock(mutex_);
  return idle_.wait_until(lock, deadline, [this] { return pendings_.empty(); });
}

bool InFlight::contains(const std::string& tenant_id, const std::string& key) const {
  const std::lock_guard lock(mutex_);
  return pendings_.contains(tenant_id + key);
}

std::size_t InFlight::size() const {
  const std::lock_guard lock(mutex_);
  return pendings_.size();
}

void InFlight::expire(std::stop_token stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    stop_wakes_.wait_for(lock, stop, deadline_grain, [] { return false; });
    std::vector<Call> calls;
    const auto now = std::chrono::steady_clock::now();
    while (!deadlines_.empty() && deadlines_.begin()->first <= now) {
      const auto [map_key, id] = deadlines_.begin()->second;
      auto& waiters = pendings_.at(map_key)->waiters;
      const auto waiter = std::find_if(waiters.begin(), waiters.end(),
                                       [id = id](const Waiter& w) { return w.id == id; });
      if (waiter->kind != WaiterKind::owner) --waiting_;
      calls.push_back({std::move(waiter->done), late(waiter->kind)});
      deadlines_.erase(deadlines_.begin());
      waiters.erase(waiter);
    }
    if (calls.empty()) continue;
    lock.unlock();
    for (auto& call : calls) call.done(std::move(call.resolution));
    lock.lock();
  }
}

}  // namespace oncepay::once

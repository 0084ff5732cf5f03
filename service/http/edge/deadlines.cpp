#include "http/edge/deadlines.hpp"

#include <iterator>

namespace oncepay::http::edge {

std::list<Deadlines::Entry>& Deadlines::list_of(const Place& place) {
  return place.kind ? set_[static_cast<std::size_t>(*place.kind)] : unset_;
}

Deadlines::Place Deadlines::add(ConnectionId connection) {
  unset_.push_back({connection, {}});
  return {std::prev(unset_.end()), std::nullopt};
}

void Deadlines::remove(Place& place) {
  list_of(place).erase(place.entry);
  place.entry = unset_.end();
  place.kind.reset();
}

void Deadlines::set(Place& place, DeadlineKind kind, TimePoint now) {
  const auto index = static_cast<std::size_t>(kind);
  place.entry->passes = now + durations_[index];
  set_[index].splice(set_[index].end(), list_of(place), place.entry);
  place.kind = kind;
}

void Deadlines::clear(Place& place) {
  unset_.splice(unset_.end(), list_of(place), place.entry);
  place.kind.reset();
}

std::optional<Deadlines::Passed> Deadlines::passed(TimePoint now) const {
  for (std::size_t i = 0; i < kinds; ++i) {
    if (set_[i].empty() || set_[i].front().passes > now) continue;
    return Passed{set_[i].front().connection, static_cast<DeadlineKind>(i)};
  }
  return std::nullopt;
}

std::optional<TimePoint> Deadlines::next() const {
  std::optional<TimePoint> earliest;
  for (const std::list<Entry>& list : set_) {
    if (!list.empty() && (!earliest || list.front().passes < *earliest)) {
      earliest = list.front().passes;
    }
  }
  return earliest;
}

std::optional<ConnectionId> Deadlines::longest_idle(TimePoint now,
                                                    std::chrono::milliseconds at_least) const {
  const auto index = static_cast<std::size_t>(DeadlineKind::idle);
  const std::list<Entry>& idle = set_[index];
  if (idle.empty() || idle.front().passes - durations_[index] + at_least > now) return std::nullopt;
  return idle.front().connection;
}

}  // namespace oncepay::http::edge

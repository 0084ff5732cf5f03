// When which connection has waited long enough: one deadline a connection, set and cleared in
// constant time.
//
// Each kind of deadline has one duration. So the order of setting is the order of passing, and a
// list per kind with the newest behind is a timer queue: no heap, no wheel, no rounding.
//
// Deliberately not here: the clock. The caller says what time it is, and it never says an earlier
// time than before.
//
// Threads: one at a time.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>

namespace oncepay::http::edge {

using ConnectionId = std::uint64_t;
using TimePoint = std::chrono::steady_clock::time_point;

enum class DeadlineKind : std::size_t { handshake, idle, request, write, linger };

class Deadlines {
 public:
  static constexpr std::size_t kinds = 5;

  struct Entry {
    ConnectionId connection = 0;
    TimePoint passes;
  };

  // A connection's place in here; it keeps it as long as it lives and gives it back with remove().
  struct Place {
    std::list<Entry>::iterator entry;
    std::optional<DeadlineKind> kind;  // nothing: no deadline is set
  };

  // Durations by kind, in the order of DeadlineKind.
  explicit Deadlines(const std::array<std::chrono::milliseconds, kinds>& durations)
      : durations_(durations) {}

  [[nodiscard]] Place add(ConnectionId connection);
  void remove(Place& place);

  // Replaces what was set before.
  void set(Place& place, DeadlineKind kind, TimePoint now);
  void clear(Place& place);

  struct Passed {
    ConnectionId connection = 0;
    DeadlineKind kind = DeadlineKind::idle;
  };
  // A connection whose deadline has passed. It stays the answer until its place is set, cleared or
  // removed.
  [[nodiscard]] std::optional<Passed> passed(TimePoint now) const;

  [[nodiscard]] std::optional<TimePoint> next() const;

  // The connection that has been idle longest, if it has been idle for `at_least`.
  [[nodiscard]] std::optional<ConnectionId> longest_idle(TimePoint now,
                                                         std::chrono::milliseconds at_least) const;

 private:
  std::list<Entry>& list_of(const Place& place);

  std::array<std::chrono::milliseconds, kinds> durations_;
  std::array<std::list<Entry>, kinds> set_;
  std::list<Entry> unset_;
};

}  // namespace oncepay::http::edge

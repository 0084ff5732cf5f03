// Honest customers: each wants one payment after the other and sends it, with the same key, to one
// instance or another until it knows what became of it. They pause when told to, and longer the
// more often they fail. Some send again what is settled, send what another one is sending right
// now, ask for another amount under a used key, or pay an account that nobody has opened.
//
// Threads: one for each customer; the object belongs to the test's main thread.
#pragma once

#include <atomic>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "fault/field.hpp"

namespace fault {

struct CustomersSettings {
  int count = 8;
  milliseconds pause{15};       // between two payments of one customer
  milliseconds patience{4000};  // for one answer
  // Every second customer comes back after this part of the time it was told.
  int impatience = 10;
  // In a hundred payments: how many are sent by two customers at once.
  int twins = 10;
};

class Customers {
 public:
  Customers(Field& field, const CustomersSettings& settings, std::uint32_t seed);
  Customers(const Customers&) = delete;
  Customers& operator=(const Customers&) = delete;
  ~Customers();

  // No new payments; returns when every customer knows what became of its last one, or when they
  // have tried for so long that they give up: the checker says so then.
  void finish(milliseconds budget = 60s);
  int settled() const;

 private:
  struct Wish {
    std::string key;
    support::Payment payment;
  };
  void live(const std::stop_token& stop, int number);
  Wish next_wish(Random& random);
  bool pursue(const Wish& wish, int number, Random& random);
  void pause_after(const std::optional<Seen>& seen, int attempt, int number, Random& random);

  Field& field_;
  CustomersSettings settings_;
  std::uint32_t seed_;
  mutable std::mutex mutex_;
  std::deque<Wish> running_;
  std::deque<Wish> settled_wishes_;
  int settled_ = 0;
  std::atomic<bool> hurry_{false};  // towards the end nobody waits a whole Retry-After
  std::atomic<bool> give_up_{false};
  std::vector<std::jthread> threads_;
};

}  // namespace fault

// Accounts that made a batch wait until its lock time-out, because another transaction holds them.
//
// A batch waits for all its accounts together, so one account that somebody holds for long (a
// session at a prompt, a stuck job) would make every batch with it wait in vain, and every tenant
// with it. Here it is remembered: the next batches look without waiting whether it is still held,
// and if so leave out the operations that need it.
//
// Which account it was cannot be told from a time-out, so all of the batch are suspects until they
// are seen free. Deliberately not here: SQL.
//
// Threads: any.
#pragma once

#include <chrono>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace oncepay::payments {

using AccountName = std::pair<std::string_view, std::string_view>;  // tenant, account

class HeldAccounts {
 public:
  // They made a batch wait too long: one of them is held.
  void suspect(const std::vector<AccountName>& names);
  // Those of `names` that are suspects.
  [[nodiscard]] std::vector<AccountName> suspects_among(const std::vector<AccountName>& names);
  // What a look at suspects has shown: a held one stays suspect, a free one is forgotten.
  void seen(const AccountName& name, bool held);

 private:
  using Clock = std::chrono::steady_clock;
  std::mutex mutex_;
  std::unordered_map<std::string, Clock::time_point> until_;
};

}  // namespace oncepay::payments

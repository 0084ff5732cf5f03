#include "payments/held_accounts.hpp"

namespace oncepay::payments {

namespace {

// Seen held or suspected this long ago, an account is as good as any other.
constexpr std::chrono::seconds remembered_for{10};
constexpr std::size_t remembered_max = 10'000;

// A tenant id has a fixed length, so the two cannot run into each other.
std::string text_of(const AccountName& name) { return std::string(name.first).append(name.second); }

}  // namespace

void HeldAccounts::suspect(const std::vector<AccountName>& names) {
  const std::lock_guard lock(mutex_);
  const auto now = Clock::now();
  if (until_.size() + names.size() > remembered_max) {
    std::erase_if(until_, [now](const auto& entry) { return entry.second <= now; });
  }
  for (const auto& name : names) {
    if (until_.size() >= remembered_max) return;
    until_[text_of(name)] = now + remembered_for;
  }
}

std::vector<AccountName> HeldAccounts::suspects_among(const std::vector<AccountName>& names) {
  std::vector<AccountName> suspects;
  const std::lock_guard lock(mutex_);
  if (until_.empty()) return suspects;
  const auto now = Clock::now();
  for (const auto& name : names) {
    const auto found = until_.find(text_of(name));
    if (found == until_.end()) continue;
    if (found->second > now) {
      suspects.push_back(name);
    } else {
      until_.erase(found);
    }
  }
  return suspects;
}

void HeldAccounts::seen(const AccountName& name, bool held) {
  const std::lock_guard lock(mutex_);
  if (held) {
    until_[text_of(name)] = Clock::now() + remembered_for;
  } else {
    until_.erase(text_of(name));
  }
}

}  // namespace oncepay::payments

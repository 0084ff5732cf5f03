// The ledger: decides payments over balances, in the order in which they are given.
//
// A pure function over the accounts that a batch has locked: no database, no clock, no randomness.
// What it decides is the only thing that moves money, so everything about money that can be wrong
// is here to be tested: floors, ranges, currencies, overflow. It knows neither tenants (an
// account's place is its name here) nor ids.
//
// Threads: one Ledger, one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "payments/books.hpp"

namespace oncepay::payments {

// An account as it was locked.
struct LedgerAccount {
  std::string currency;
  std::int64_t balance = 0;                     // -amount_max to amount_max
  std::optional<std::int64_t> overdraft_limit;  // nothing = no floor
};

struct LedgerOrder {
  std::optional<std::size_t> source;       // place of the account, nothing = unknown
  std::optional<std::size_t> destination;  // never the same as source
  std::int64_t amount = 0;                 // 1 to amount_max
  std::string_view currency;
};

// Money moved; the balances right after it.
struct Moved {
  std::int64_t debit_balance_after;
  std::int64_t credit_balance_after;
};

struct Declined {
  DeclineReason reason;
};

enum class AccountFault { none, not_found, currency_mismatch };

// The order cannot be decided on these books; nothing was changed.
struct Undecidable {
  AccountFault source;
  AccountFault destination;
};

using LedgerOutcome = std::variant<Moved, Declined, Undecidable>;

class Ledger {
 public:
  explicit Ledger(std::vector<LedgerAccount> accounts);

  // Decides one order and applies it. In this order: unknown accounts and other currencies, the
  // source's floor (insufficient_funds), then the range of both balances (balance_limit).
  LedgerOutcome decide(const LedgerOrder& order);

  [[nodiscard]] const std::vector<LedgerAccount>& accounts() const { return accounts_; }
  [[nodiscard]] bool changed(std::size_t account) const { return changed_[account]; }

 private:
  [[nodiscard]] AccountFault fault(std::optional<std::size_t> account,
                                   std::string_view currency) const;

  std::vector<LedgerAccount> accounts_;
  std::vector<bool> changed_;
};

}  // namespace oncepay::payments

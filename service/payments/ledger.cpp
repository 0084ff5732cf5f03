#include "payments/ledger.hpp"

#include <stdexcept>
#include <utility>

#include "payments/requests.hpp"

namespace oncepay::payments {

namespace {

// Balances stay within ±(2^53 - 1), so a sum or difference of two of them cannot leave 64 bits.
constexpr std::int64_t balance_max = amount_max;

}  // namespace

Ledger::Ledger(std::vector<LedgerAccount> accounts)
    : accounts_(std::move(accounts)), changed_(accounts_.size(), false) {}

AccountFault Ledger::fault(std::optional<std::size_t> account, std::string_view currency) const {
  if (!account) return AccountFault::not_found;
  return accounts_.at(*account).currency == currency ? AccountFault::none
                                                     : AccountFault::currency_mismatch;
}

LedgerOutcome Ledger::decide(const LedgerOrder& order) {
  if (order.amount < 1 || order.amount > amount_max) throw std::logic_error("amount out of range");
  const Undecidable faults{fault(order.source, order.currency),
                           fault(order.destination, order.currency)};
  if (faults.source != AccountFault::none || faults.destination != AccountFault::none) {
    return faults;
  }
  if (order.source == order.destination) throw std::logic_error("a payment needs two accounts");

  LedgerAccount& source = accounts_[*order.source];
  LedgerAccount& destination = accounts_[*order.destination];
  const std::int64_t debit_after = source.balance - order.amount;
  const std::int64_t credit_after = destination.balance + order.amount;
  if (source.overdraft_limit && debit_after < -*source.overdraft_limit) {
    return Declined{DeclineReason::insufficient_funds};
  }
  if (debit_after < -balance_max || credit_after > balance_max) {
    return Declined{DeclineReason::balance_limit};
  }
  source.balance = debit_after;
  destination.balance = credit_after;
  changed_[*order.source] = true;
  changed_[*order.destination] = true;
  return Moved{debit_after, credit_after};
}

}  // namespace oncepay::payments

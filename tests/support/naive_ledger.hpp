// The ledger as one would write it on paper: one payment after the other, in arbitrary precision,
// by names.
//
// The model that the real ledger and the whole engine are held against. Deliberately shares no code
// with them and has no cleverness: 128-bit sums, maps by name, no batches.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace oncepay::test {

struct NaiveAccount {
  std::string currency;
  __extension__ __int128 balance = 0;
  std::optional<std::int64_t> overdraft_limit;
};

struct NaivePayment {
  std::string source;
  std::string destination;
  std::int64_t amount;
  std::string currency;
};

class NaiveLedger {
 public:
  std::map<std::string, NaiveAccount> accounts;

  // "succeeded", "insufficient-funds", "balance-limit", "account-not-found", "currency-mismatch".
  std::string pay(const NaivePayment& payment) {
    const auto source = accounts.find(payment.source);
    const auto destination = accounts.find(payment.destination);
    if (source == accounts.end() || destination == accounts.end()) return "account-not-found";
    if (source->second.currency != payment.currency ||
        destination->second.currency != payment.currency) {
      return "currency-mismatch";
    }
    const auto left = source->second.balance - payment.amount;
    const auto full = destination->second.balance + payment.amount;
    if (source->second.overdraft_limit && left + *source->second.overdraft_limit < 0) {
      return "insufficient-funds";
    }
    if (left < -limit || full > limit) return "balance-limit";
    source->second.balance = left;
    destination->second.balance = full;
    return "succeeded";
  }

 private:
  static constexpr std::int64_t limit = 9'007'199'254'740'991;
};

}  // namespace oncepay::test

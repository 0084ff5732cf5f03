// Checks the books against themselves and the keys against the books, in one snapshot.
//
// What must always hold: balances of a currency add up to zero, each balance is the sum of its
// entries, each entry continues the one before, no balance is under its floor, every payment has
// the transfers that its status says, and every completed key has the one payment that it was
// answered with.
//
// Threads: one per Connection. Errors: db errors pass. Reads only; payments go on meanwhile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

#include "db/connection.hpp"

namespace oncepay::payments {

struct Violation {
  std::string_view rule;  // "currency-sums", "balances", "entries", "floors", "transfers", "keys"
  std::string_view tenant_id;
  std::string_view subject;  // a currency, an account, a payment id, or the hash of a key
  std::string_view found;
};

// Of "currency-sums" and "floors" alone, which read accounts and no entries. Nothing of the
// transaction's limits is changed here: a read that they end throws TransientError(cancelled).
std::size_t count_account_violations(db::Transaction& transaction);

// All rules there are, in the order in which they are checked, "sample" last.
std::span<const std::string_view> verification_rules();

// How much is read. By default everything; with a sample, the balances of all accounts, and the
// entries of so many of them, chosen at random.
struct VerificationScope {
  std::int64_t sample_accounts = 0;  // 0 = no sample
};

struct VerificationCalls {
  std::function<void(std::string_view rule)> begins;  // a rule is about to be checked
  std::function<void(const Violation&)> found;
};

// Returns how many violations there were.
std::size_t verify_books(db::Connection& connection, const VerificationScope& scope,
                         const VerificationCalls& calls);

}  // namespace oncepay::payments

// The business objects as they are read and answered, and the reads themselves.
//
// Reads run on the primary in a transaction of the caller's; they lock nothing. Lists are newest
// first with a keyset cursor, so pages stay stable while new rows come in. Newest is what its id
// says, and with that the clock of the instance that made it; of one account's transfers, and of
// its payments that moved money, it is the order of its balances.
//
// Threads: one transaction, one thread. db errors pass.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "db/connection.hpp"

namespace oncepay::payments {

enum class PaymentStatus { succeeded, declined };
enum class DeclineReason { insufficient_funds, balance_limit };

std::string_view name_of(PaymentStatus status);  // "succeeded", "declined"
std::string_view name_of(DeclineReason reason);  // "insufficient-funds", "balance-limit"

struct Payment {
  std::string id;  // UUIDv7
  PaymentStatus status;
  std::optional<DeclineReason> decline_reason;
  std::int64_t amount;
  std::string currency;
  std::string source;
  std::string destination;
  std::optional<std::string> description;
  std::string metadata;  // JSON object text
  std::int64_t created_at_us;
};

struct Account {
  std::string id;
  std::string currency;
  std::int64_t balance;
  std::optional<std::int64_t> overdraft_limit;  // nothing = no floor
  std::int64_t created_at_us;
};

// One account's side of a transfer.
struct Entry {
  std::int64_t id;  // of the transfer; rises in the order of the account's balances
  std::string payment_id;
  std::int64_t amount;  // negative for a debit
  std::int64_t balance_after;
  std::string counterparty;
  std::string currency;
  std::int64_t created_at_us;
};

// How far a list of payments has come: what is older follows.
struct PaymentPosition {
  std::optional<std::string> payment_id;    // the smallest so far
  std::optional<std::int64_t> transfer_id;  // in a list that has_transfers()
};

struct ListedPayment {
  Payment payment;
  PaymentPosition position;  // the list has come to this payment
};

struct PaymentFilter {
  std::optional<std::string> account;  // source or destination
  std::optional<PaymentStatus> status;
  std::optional<std::string> idempotency_key;
  PaymentPosition position;  // of the same list
  int limit = 20;

  // One account's payments; with a key, which has few, the account only sifts them.
  [[nodiscard]] bool is_of_account() const { return account && !idempotency_key; }
  // Among them those that moved money, which go by their transfer.
  [[nodiscard]] bool has_transfers() const {
    return is_of_account() && status != PaymentStatus::declined;
  }
};

std::optional<Payment> find_payment(db::Transaction& transaction, const std::string& tenant_id,
                                    const std::string& id);
// Needs one snapshot (db::Access::snapshot) for what comes from two statements.
std::vector<ListedPayment> list_payments(db::Transaction& transaction, const std::string& tenant_id,
                                         const PaymentFilter& filter);
std::optional<Account> find_account(db::Transaction& transaction, const std::string& tenant_id,
                                    const std::string& id);
// `before_id`: only entries older than this one.
std::vector<Entry> list_entries(db::Transaction& transaction, const std::string& tenant_id,
                                const std::string& account_id,
                                std::optional<std::int64_t> before_id, int limit);

// How many payments were decided in the last minute, by the clocks of the instances that made their
// ids; of each tenant at most a million are counted.
std::int64_t count_recent_payments(db::Transaction& transaction);

}  // namespace oncepay::payments

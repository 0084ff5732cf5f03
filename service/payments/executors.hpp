// The executors of the books: payments and the opening of accounts, each for a whole batch at a
// time.
//
// They lock the accounts of the batch in the order of their primary key, let the Ledger decide in
// memory, and write the result with one set-based statement. What an answer looks like is not known
// here: the caller brings the functions that render it.
//
// Threads: several lanes call execute() at once, each with its own transaction; renderers must
// allow that.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "once/executor.hpp"
#include "payments/books.hpp"
#include "payments/held_accounts.hpp"
#include "payments/requests.hpp"
#include "runtime/metrics.hpp"

namespace oncepay::payments {

enum class RefusalReason { account_not_found, currency_mismatch, account_exists };

// Why nothing was done; one for each member of the request that is at fault.
struct Refusal {
  RefusalReason reason;
  std::string_view pointer;  // JSON pointer into the request: "/source", "/destination", "/id"
};

// An answer about a payment names the payment's id as its resource.
struct Renderers {
  std::function<once::Answer(const Payment&)> payment;                                // 201
  std::function<once::Answer(const Payment&, std::string_view request_id)> declined;  // 402
  std::function<once::Answer(const Account&)> account;                                // 201
  std::function<once::Answer(const std::vector<Refusal>&, std::string_view request_id)> refused;
};

class PaymentExecutor final : public once::Executor {
 public:
  PaymentExecutor(Renderers renderers, runtime::Metrics& metrics);
  [[nodiscard]] int rank() const override { return 2; }
  // That it succeeds, under a new id. A payment that is declined keeps that id.
  [[nodiscard]] std::optional<once::Answer> expect(const once::Payload& payload,
                                                   std::int64_t now_us) const override;
  [[nodiscard]] std::optional<db::Call> settle_alone(const once::Claim& claim,
                                                     std::int64_t now_us) override;
  std::vector<once::Decision> execute(db::Transaction& transaction,
                                      std::span<const once::Claim> claims,
                                      std::int64_t now_us) override;
  void committed(const once::Answer& answer) override;

 private:
  Renderers renderers_;
  HeldAccounts held_;
  runtime::Counter succeeded_;
  runtime::Counter declined_;
  runtime::Histogram lock_seconds_;
  runtime::Histogram decide_seconds_;
  runtime::Histogram settle_seconds_;
};

// Before payments: a payment in the same batch may use the account that is being opened.
class AccountExecutor final : public once::Executor {
 public:
  AccountExecutor(Renderers renderers, runtime::Metrics& metrics);
  [[nodiscard]] int rank() const override { return 1; }
  [[nodiscard]] std::optional<once::Answer> expect(const once::Payload& payload,
                                                   std::int64_t now_us) const override;
  std::vector<once::Decision> execute(db::Transaction& transaction,
                                      std::span<const once::Claim> claims,
                                      std::int64_t now_us) override;
  void committed(const once::Answer& answer) override;

 private:
  Renderers renderers_;
  runtime::Counter opened_;
};

}  // namespace oncepay::payments

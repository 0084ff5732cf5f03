#include <algorithm>
#include <chrono>
#include <set>
#include <stdexcept>
#include <utility>

#include "db/errors.hpp"
#include "once/engine_metrics.hpp"
#include "payments/executors.hpp"
#include "payments/ledger.hpp"
#include "runtime/uuid.hpp"
#include "sql/statements.hpp"

namespace oncepay::payments {

namespace {

constexpr int first_error_status = 400;  // of an answer: a declined payment has one, 402

const PaymentRequest& request_of(const once::Payload& payload) {
  return dynamic_cast<const PaymentRequest&>(payload);
}

// Sorted and distinct; they point into the requests, so they outlive any row.
std::vector<AccountName> accounts_of(std::span<const once::Claim> claims) {
  std::vector<AccountName> names;
  names.reserve(2 * claims.size());
  for (const auto& claim : claims) {
    const PaymentRequest& request = request_of(claim.payload);
    names.emplace_back(claim.tenant_id, request.source);
    names.emplace_back(claim.tenant_id, request.destination);
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

db::Params params_of(const std::vector<AccountName>& names) {
  db::Array tenants, ids;
  for (const auto& [tenant, id] : names) {
    tenants.add(tenant);
    ids.add(id);
  }
  return std::move(db::Params().add(tenants).add(ids));
}

// Those of `names` that are suspects and still held; sorted.
std::vector<AccountName> find_held(db::Transaction& transaction, HeldAccounts& memory,
                                   const std::vector<AccountName>& names) {
  std::vector<AccountName> held;
  const auto suspects = memory.suspects_among(names);
  if (suspects.empty()) return held;
  const db::Rows rows =
      transaction.run_and_undo(sql::payments::find_held_accounts, params_of(suspects));
  std::set<AccountName> seen;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    seen.emplace(rows.text(row, 0), rows.text(row, 1));
  }
  for (const auto& name : suspects) {
    memory.seen(name, seen.contains(name));
    if (seen.contains(name)) held.push_back(name);
  }
  return held;
}

// The accounts of a batch: locked, and where each stands in the ledger.
struct LockedAccounts {
  std::vector<AccountName> names;  // sorted
  std::vector<LedgerAccount> accounts;
  std::vector<AccountName> held;  // sorted: not to be had, because somebody holds them

  [[nodiscard]] std::optional<std::size_t> place(std::string_view tenant_id,
                                                 std::string_view account) const {
    const AccountName name(tenant_id, account);
    const auto found = std::lower_bound(names.begin(), names.end(), name);
    if (found == names.end() || *found != name) return std::nullopt;
    return static_cast<std::size_t>(found - names.begin());
  }
  [[nodiscard]] bool is_held(std::string_view tenant_id, std::string_view account) const {
    return std::binary_search(held.begin(), held.end(), AccountName(tenant_id, account));
  }
};

LockedAccounts lock_accounts(db::Transaction& transaction, HeldAccounts& memory,
                             std::span<const once::Claim> claims) {
  std::vector<AccountName> wanted = accounts_of(claims);
  LockedAccounts locked;
  locked.held = find_held(transaction, memory, wanted);
  std::erase_if(wanted, [&locked](const AccountName& name) {
    return locked.is_held(name.first, name.second);
  });
  try {
    const db::Rows rows = transaction.run(sql::payments::lock_accounts, params_of(wanted));
    auto name = wanted.begin();
    for (std::size_t row = 0; row < rows.size(); ++row, ++name) {
      // Rows come in the order of the names; unknown accounts have none.
      const AccountName found(rows.text(row, 0), rows.text(row, 1));
      name = std::lower_bound(name, wanted.end(), found);
      if (name == wanted.end()) throw std::logic_error("accounts were locked out of order");
      locked.names.push_back(*name);
      locked.accounts.push_back(
          {std::string(rows.text(row, 2)), rows.number(row, 3), rows.maybe_number(row, 4)});
    }
  } catch (const db::TransientError& error) {
    if (error.reason() == db::TransientReason::lock_timeout) memory.suspect(wanted);
    throw;
  }
  return locked;
}

std::vector<Refusal> refusals_of(const Undecidable& faults) {
  std::vector<Refusal> refusals;
  const auto add = [&refusals](AccountFault fault, std::string_view pointer) {
    if (fault == AccountFault::not_found) {
      refusals.push_back({RefusalReason::account_not_found, pointer});
    } else if (fault == AccountFault::currency_mismatch) {
      refusals.push_back({RefusalReason::currency_mismatch, pointer});
    }
  };
  add(faults.source, "/source");
  add(faults.destination, "/destination");
  return refusals;
}

// The arrays of sql/payments/settle_payments.sql.
class Settlement {
 public:
  // `moved`: null of a payment that was declined.
  void add_payment(const once::Claim& claim, const Payment& payment, const Moved* moved) {
    tenants_.add(claim.tenant_id);
    ids_.add(payment.id);
    keys_.add(claim.key);
    statuses_.add(name_of(payment.status));
    payment.decline_reason ? reasons_.add(name_of(*payment.decline_reason)) : reasons_.add_null();
    amounts_.add(payment.amount);
    currencies_.add(payment.currency);
    sources_.add(payment.source);
    destinations_.add(payment.destination);
    payment.description ? descriptions_.add(*payment.description) : descriptions_.add_null();
    metadata_.add(payment.metadata);
    moved != nullptr ? debits_.add(moved->debit_balance_after) : debits_.add_null();
    moved != nullptr ? credits_.add(moved->credit_balance_after) : credits_.add_null();
  }

  void add_balance(const AccountName& name, std::int64_t balance) {
    balance_tenants_.add(name.first);
    balance_ids_.add(name.second);
    balances_.add(balance);
  }

  // Nothing reads accounts after this in the transaction, so it may go along with COMMIT.
  void write(db::Transaction& transaction, std::int64_t now_us) const {
    if (ids_.size() == 0) return;
    db::Params params;
    for (const db::Array* array :
         {&tenants_, &ids_, &keys_, &statuses_, &reasons_, &amounts_, &currencies_, &sources_,
          &destinations_, &descriptions_, &metadata_, &debits_, &credits_, &balance_tenants_,
          &balance_ids_, &balances_}) {
      params.add(*array);
    }
    params.add(now_us);
    transaction.defer(sql::payments::settle_payments, std::move(params));
  }

 private:
  db::Array tenants_, ids_, keys_, statuses_, reasons_, amounts_, currencies_, sources_;
  db::Array destinations_, descriptions_, metadata_;
  db::Array debits_, credits_;
  db::Array balance_tenants_, balance_ids_, balances_;
};

Payment payment_of(const PaymentRequest& request, std::string id, std::int64_t now_us) {
  return {std::move(id),       PaymentStatus::succeeded,
          std::nullopt,        request.amount,
          request.currency,    request.source,
          request.destination, request.description,
          request.metadata,    now_us};
}

using Clock = std::chrono::steady_clock;

double seconds_between(Clock::time_point begin, Clock::time_point end) {
  return std::chrono::duration<double>(end - begin).count();
}

runtime::Counter payments_decided(runtime::Metrics& metrics, PaymentStatus status) {
  return metrics.counter("oncepay_payments_total", "Payments decided and committed, by status",
                         {{"status", std::string(name_of(status))}});
}

}  // namespace

PaymentExecutor::PaymentExecutor(Renderers renderers, runtime::Metrics& metrics)
    : renderers_(std::move(renderers)),
      succeeded_(payments_decided(metrics, PaymentStatus::succeeded)),
      declined_(payments_decided(metrics, PaymentStatus::declined)),
      lock_seconds_(once::batch_step(metrics, "lock")),
      decide_seconds_(once::batch_step(metrics, "decide")),
      settle_seconds_(once::batch_step(metrics, "settle")) {}

void PaymentExecutor::committed(const once::Answer& answer) {
  const bool succeeded = answer.status < first_error_status;
  (succeeded ? succeeded_ : declined_).add();
}

std::optional<once::Answer> PaymentExecutor::expect(const once::Payload& payload,
                                                    std::int64_t now_us) const {
  return renderers_.payment(payment_of(request_of(payload), runtime::make_uuid_v7(), now_us));
}

std::optional<db::Call> PaymentExecutor::settle_alone(const once::Claim& claim,
                                                      std::int64_t now_us) {
  const PaymentRequest& request = request_of(claim.payload);
  // execute() knows what to do without an account.
  if (!held_.suspects_among(accounts_of({&claim, 1})).empty()) return std::nullopt;
  db::Params params;
  params.add(claim.tenant_id).add(claim.expected->resource_id).add(claim.key);
  params.add(request.amount).add(request.currency).add(request.source).add(request.destination);
  params.add(request.description).add(request.metadata).add(amount_max).add(now_us);
  return db::Call{sql::payments::settle_payment_alone, std::move(params)};
}

std::vector<once::Decision> PaymentExecutor::execute(db::Transaction& transaction,
                                                     std::span<const once::Claim> claims,
                                                     std::int64_t now_us) {
  const auto began = Clock::now();
  const LockedAccounts locked = lock_accounts(transaction, held_, claims);
  const auto has_locks = Clock::now();
  Ledger ledger(locked.accounts);
  Settlement settlement;
  std::vector<once::Decision> decisions;
  decisions.reserve(claims.size());
  for (const auto& claim : claims) {
    const PaymentRequest& request = request_of(claim.payload);
    if (locked.is_held(claim.tenant_id, request.source) ||
        locked.is_held(claim.tenant_id, request.destination)) {
      decisions.push_back(once::Busy{});
      continue;
    }
    const LedgerOutcome outcome = ledger.decide({locked.place(claim.tenant_id, request.source),
                                                 locked.place(claim.tenant_id, request.destination),
                                                 request.amount, request.currency});
    if (const auto* faults = std::get_if<Undecidable>(&outcome)) {
      decisions.push_back(
          once::Refused{renderers_.refused(refusals_of(*faults), request.request_id)});
      continue;
    }
    Payment payment = payment_of(request, claim.expected->resource_id, now_us);
    if (const auto* declined = std::get_if<Declined>(&outcome)) {
      payment.status = PaymentStatus::declined;
      payment.decline_reason = declined->reason;
      settlement.add_payment(claim, payment, nullptr);
      decisions.push_back(once::Decided{renderers_.declined(payment, request.request_id)});
    } else {
      settlement.add_payment(claim, payment, &std::get<Moved>(outcome));
      decisions.push_back(once::AsExpected{});
    }
  }
  for (std::size_t place = 0; place < locked.names.size(); ++place) {
    if (ledger.changed(place)) {
      settlement.add_balance(locked.names[place], ledger.accounts()[place].balance);
    }
  }
  const auto decided = Clock::now();
  settlement.write(transaction, now_us);
  lock_seconds_.observe(seconds_between(began, has_locks));
  decide_seconds_.observe(seconds_between(has_locks, decided));
  settle_seconds_.observe(seconds_between(decided, Clock::now()));
  return decisions;
}

}  // namespace oncepay::payments

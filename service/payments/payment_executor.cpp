#include <map>
#include <stdexcept>
#include <utility>

#include "payments/executors.hpp"
#include "payments/ledger.hpp"
#include "runtime/uuid.hpp"
#include "sql/statements.hpp"

namespace oncepay::payments {

namespace {

using Name = std::pair<std::string_view, std::string_view>;  // tenant, account

const PaymentRequest& request_of(const once::Claim& claim) {
  return dynamic_cast<const PaymentRequest&>(claim.payload);
}

// The accounts of a batch: locked, and where each stands in the ledger.
struct LockedAccounts {
  std::map<Name, std::size_t> places;
  std::vector<Name> names;
  std::vector<LedgerAccount> accounts;

  [[nodiscard]] std::optional<std::size_t> place(std::string_view tenant_id,
                                                 std::string_view account) const {
    const auto found = places.find(Name(tenant_id, account));
    return found == places.end() ? std::nullopt : std::optional(found->second);
  }
};

LockedAccounts lock_accounts(db::Transaction& transaction, std::span<const once::Claim> claims) {
  std::map<Name, bool> wanted;
  for (const auto& claim : claims) {
    const PaymentRequest& request = request_of(claim);
    wanted.emplace(Name(claim.tenant_id, request.source), true);
    wanted.emplace(Name(claim.tenant_id, request.destination), true);
  }
  db::Array tenants, ids;
  for (const auto& [name, unused] : wanted) {
    tenants.add(name.first);
    ids.add(name.second);
  }
  const db::Rows rows =
      transaction.run(sql::payments::lock_accounts, db::Params().add(tenants).add(ids));
  LockedAccounts locked;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    // The wanted name outlives the row: it points into the requests.
    const Name name = wanted.find(Name(rows.text(row, 0), rows.text(row, 1)))->first;
    locked.places.emplace(name, locked.accounts.size());
    locked.names.push_back(name);
    locked.accounts.push_back(
        {std::string(rows.text(row, 2)), rows.number(row, 3), rows.maybe_number(row, 4)});
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
  void add_payment(const once::Claim& claim, const Payment& payment) {
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
  }

  // Of the payment that was added last.
  void add_transfer(const Moved& moved) {
    ordinals_.add(static_cast<std::int64_t>(ids_.size()));
    debits_.add(moved.debit_balance_after);
    credits_.add(moved.credit_balance_after);
  }

  void add_balance(const Name& name, std::int64_t balance) {
    balance_tenants_.add(name.first);
    balance_ids_.add(name.second);
    balances_.add(balance);
  }

  void write(db::Transaction& transaction) const {
    if (ids_.size() == 0) return;
    const db::Rows rows = transaction.run(sql::payments::settle_payments, db::Params()
                                                                              .add(tenants_)
                                                                              .add(ids_)
                                                                              .add(keys_)
                                                                              .add(statuses_)
                                                                              .add(reasons_)
                                                                              .add(amounts_)
                                                                              .add(currencies_)
                                                                              .add(sources_)
                                                                              .add(destinations_)
                                                                              .add(descriptions_)
                                                                              .add(metadata_)
                                                                              .add(ordinals_)
                                                                              .add(debits_)
                                                                              .add(credits_)
                                                                              .add(balance_tenants_)
                                                                              .add(balance_ids_)
                                                                              .add(balances_));
    check(rows.number(0, 0), ids_.size());
    check(rows.number(0, 1), ordinals_.size());
    check(rows.number(0, 2), balances_.size());
  }

 private:
  static void check(std::int64_t written, std::size_t expected) {
    if (written != static_cast<std::int64_t>(expected)) {
      throw std::logic_error("settlement wrote another number of rows than was decided");
    }
  }

  db::Array tenants_, ids_, keys_, statuses_, reasons_, amounts_, currencies_, sources_;
  db::Array destinations_, descriptions_, metadata_;
  db::Array ordinals_, debits_, credits_;
  db::Array balance_tenants_, balance_ids_, balances_;
};

Payment payment_of(const PaymentRequest& request, std::int64_t now_us) {
  return {runtime::make_uuid_v7(),
          PaymentStatus::succeeded,
          std::nullopt,
          request.amount,
          request.currency,
          request.source,
          request.destination,
          request.description,
          request.metadata,
          now_us};
}

}  // namespace

std::vector<once::Decision> PaymentExecutor::execute(db::Transaction& transaction,
                                                     std::span<const once::Claim> claims,
                                                     std::int64_t now_us) {
  const LockedAccounts locked = lock_accounts(transaction, claims);
  Ledger ledger(locked.accounts);
  Settlement settlement;
  std::vector<once::Decision> decisions;
  decisions.reserve(claims.size());
  for (const auto& claim : claims) {
    const PaymentRequest& request = request_of(claim);
    const LedgerOutcome outcome = ledger.decide({locked.place(claim.tenant_id, request.source),
                                                 locked.place(claim.tenant_id, request.destination),
                                                 request.amount, request.currency});
    if (const auto* faults = std::get_if<Undecidable>(&outcome)) {
      decisions.push_back(
          once::Refused{renderers_.refused(refusals_of(*faults), request.request_id)});
      continue;
    }
    Payment payment = payment_of(request, now_us);
    if (const auto* declined = std::get_if<Declined>(&outcome)) {
      payment.status = PaymentStatus::declined;
      payment.decline_reason = declined->reason;
      settlement.add_payment(claim, payment);
      decisions.push_back(once::Decided{renderers_.declined(payment, request.request_id)});
    } else {
      settlement.add_payment(claim, payment);
      settlement.add_transfer(std::get<Moved>(outcome));
      decisions.push_back(once::Decided{renderers_.payment(payment)});
    }
  }
  for (std::size_t place = 0; place < locked.names.size(); ++place) {
    if (ledger.changed(place)) {
      settlement.add_balance(locked.names[place], ledger.accounts()[place].balance);
    }
  }
  settlement.write(transaction);
  return decisions;
}

}  // namespace oncepay::payments

#include "payments/books.hpp"

#include <stdexcept>

#include "sql/statements.hpp"

namespace oncepay::payments {

namespace {

PaymentStatus status_of(std::string_view name) {
  if (name == name_of(PaymentStatus::succeeded)) return PaymentStatus::succeeded;
  if (name == name_of(PaymentStatus::declined)) return PaymentStatus::declined;
  throw std::logic_error("unknown payment status in the books");
}

DeclineReason decline_reason_of(std::string_view name) {
  if (name == name_of(DeclineReason::insufficient_funds)) return DeclineReason::insufficient_funds;
  if (name == name_of(DeclineReason::balance_limit)) return DeclineReason::balance_limit;
  throw std::logic_error("unknown decline reason in the books");
}

Payment read_payment(const db::Rows& rows, std::size_t row) {
  const auto reason = rows.maybe_text(row, 2);
  return {std::string(rows.text(row, 0)),
          status_of(rows.text(row, 1)),
          reason ? std::optional(decline_reason_of(*reason)) : std::nullopt,
          rows.number(row, 3),
          std::string(rows.text(row, 4)),
          std::string(rows.text(row, 5)),
          std::string(rows.text(row, 6)),
          rows.maybe_text(row, 7),
          std::string(rows.text(row, 8)),
          rows.number(row, 9)};
}

std::optional<std::string> status_text(const PaymentFilter& filter) {
  if (!filter.status) return std::nullopt;
  return std::string(name_of(*filter.status));
}

db::Rows run_list(db::Transaction& transaction, const std::string& tenant_id,
                  const PaymentFilter& filter) {
  db::Params params;
  params.add(tenant_id).add(filter.position.payment_id);
  if (filter.idempotency_key) {
    params.add(status_text(filter)).add(filter.account).add(filter.limit);
    return transaction.run(sql::payments::list_payments_of_key,
                           params.add(*filter.idempotency_key));
  }
  if (filter.status == PaymentStatus::declined)
    return transaction.run(sql::payments::list_declined_payments, params.add(filter.limit));
  return transaction.run(sql::payments::list_payments,
                         params.add(status_text(filter)).add(filter.limit));
}

template <class PositionOf>
std::vector<ListedPayment> read_list(const db::Rows& rows, PositionOf position_of) {
  std::vector<ListedPayment> payments;
  payments.reserve(rows.size());
  for (std::size_t row = 0; row < rows.size(); ++row)
    payments.push_back({read_payment(rows, row), position_of(row)});
  return payments;
}

std::vector<ListedPayment> read_list_by_id(const db::Rows& rows) {
  return read_list(rows, [&rows](std::size_t row) {
    return PaymentPosition{.payment_id = std::string(rows.text(row, 0)),
                           .transfer_id = std::nullopt};
  });
}

std::vector<ListedPayment> list_succeeded_of_account(db::Transaction& transaction,
                                                     const std::string& tenant_id,
                                                     const PaymentFilter& filter) {
  db::Params params;
  params.add(tenant_id).add(filter.position.transfer_id).add(filter.limit).add(*filter.account);
  const auto rows = transaction.run(sql::payments::list_succeeded_payments_of_account, params);
  return read_list(rows, [&rows](std::size_t row) {
    return PaymentPosition{.payment_id = std::nullopt, .transfer_id = rows.number(row, 10)};
  });
}

std::vector<ListedPayment> list_declined_of_account(db::Transaction& transaction,
                                                    const std::string& tenant_id,
                                                    const PaymentFilter& filter) {
  db::Params params;
  params.add(tenant_id).add(filter.position.payment_id).add(filter.limit).add(*filter.account);
  return read_list_by_id(transaction.run(sql::payments::list_declined_payments_of_account, params));
}

// Those that moved money come in the order of the account's balances, those that were declined by
// id; the two are merged by id. Each has a bound of its own from the first page on, so that no
// later page leaves one out, shows it again or goes back to newer ones, even where ids are out of
// the balances' order.
std::vector<ListedPayment> list_of_account(db::Transaction& transaction,
                                           const std::string& tenant_id,
                                           const PaymentFilter& filter) {
  std::vector<ListedPayment> succeeded;
  std::vector<ListedPayment> declined;
  PaymentPosition position = filter.position;
  if (filter.has_transfers()) {
    succeeded = list_succeeded_of_account(transaction, tenant_id, filter);
    if (!position.transfer_id)
      position.transfer_id = succeeded.empty() ? 0 : *succeeded[0].position.transfer_id + 1;
  }
  if (filter.status != PaymentStatus::succeeded)
    declined = list_declined_of_account(transaction, tenant_id, filter);

  std::vector<ListedPayment> merged;
  auto s = succeeded.begin();
  auto d = declined.begin();
  while (merged.size() < static_cast<std::size_t>(filter.limit)) {
    if (s == succeeded.end() && d == declined.end()) break;
    const bool is_declined =
        s == succeeded.end() || (d != declined.end() && d->payment.id > s->payment.id);
    ListedPayment next = std::move(is_declined ? *d++ : *s++);
    // All declined ones that are left are older than what is taken.
    if (!position.payment_id || next.payment.id < *position.payment_id)
      position.payment_id = next.payment.id;
    if (!is_declined) position.transfer_id = next.position.transfer_id;
    next.position = position;
    merged.push_back(std::move(next));
  }
  return merged;
}

}  // namespace

std::string_view name_of(PaymentStatus status) {
  switch (status) {
    case PaymentStatus::succeeded:
      return "succeeded";
    case PaymentStatus::declined:
      return "declined";
  }
  throw std::logic_error("payment status");
}

std::string_view name_of(DeclineReason reason) {
  switch (reason) {
    case DeclineReason::insufficient_funds:
      return "insufficient-funds";
    case DeclineReason::balance_limit:
      return "balance-limit";
  }
  throw std::logic_error("decline reason");
}

std::optional<Payment> find_payment(db::Transaction& transaction, const std::string& tenant_id,
                                    const std::string& id) {
  const db::Rows rows =
      transaction.run(sql::payments::find_payment, db::Params().add(tenant_id).add(id));
  if (rows.empty()) return std::nullopt;
  return read_payment(rows, 0);
}

std::vector<ListedPayment> list_payments(db::Transaction& transaction, const std::string& tenant_id,
                                         const PaymentFilter& filter) {
  if (filter.is_of_account()) return list_of_account(transaction, tenant_id, filter);
  return read_list_by_id(run_list(transaction, tenant_id, filter));
}

std::optional<Account> find_account(db::Transaction& transaction, const std::string& tenant_id,
                                    const std::string& id) {
  const db::Rows rows =
      transaction.run(sql::payments::find_account, db::Params().add(tenant_id).add(id));
  if (rows.empty()) return std::nullopt;
  return Account{std::string(rows.text(0, 0)), std::string(rows.text(0, 1)), rows.number(0, 2),
                 rows.maybe_number(0, 3), rows.number(0, 4)};
}

std::vector<Entry> list_entries(db::Transaction& transaction, const std::string& tenant_id,
                                const std::string& account_id,
                                std::optional<std::int64_t> before_id, int limit) {
  const db::Rows rows =
      transaction.run(sql::payments::list_entries,
                      db::Params().add(tenant_id).add(account_id).add(before_id).add(limit));
  std::vector<Entry> entries;
  entries.reserve(rows.size());
  for (std::size_t row = 0; row < rows.size(); ++row) {
    entries.push_back({rows.number(row, 0), std::string(rows.text(row, 1)), rows.number(row, 2),
                       rows.number(row, 3), std::string(rows.text(row, 4)),
                       std::string(rows.text(row, 5)), rows.number(row, 6)});
  }
  return entries;
}

std::int64_t count_recent_payments(db::Transaction& transaction) {
  constexpr std::int64_t counted_max = 1'000'000;
  return transaction.run(sql::payments::count_recent_payments, db::Params().add(counted_max))
      .number(0, 0);
}

}  // namespace oncepay::payments

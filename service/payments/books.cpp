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
  params.add(tenant_id).add(filter.before_id).add(status_text(filter));
  if (filter.idempotency_key) {
    params.add(filter.account).add(filter.limit).add(*filter.idempotency_key);
    return transaction.run(sql::payments::list_payments_of_key, params);
  }
  if (!filter.account && filter.status == PaymentStatus::declined) {
    return transaction.run(sql::payments::list_declined_payments,
                           db::Params().add(tenant_id).add(filter.before_id).add(filter.limit));
  }
  params.add(filter.limit);
  if (!filter.account) return transaction.run(sql::payments::list_payments, params);
  params.add(*filter.account);
  return transaction.run(sql::payments::list_payments_of_account, params);
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

std::vector<Payment> list_payments(db::Transaction& transaction, const std::string& tenant_id,
                                   const PaymentFilter& filter) {
  const db::Rows rows = run_list(transaction, tenant_id, filter);
  std::vector<Payment> payments;
  payments.reserve(rows.size());
  for (std::size_t row = 0; row < rows.size(); ++row) payments.push_back(read_payment(rows, row));
  return payments;
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

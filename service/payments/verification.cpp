#include "payments/verification.hpp"

#include <array>

#include "sql/statements.hpp"

namespace oncepay::payments {

namespace {

constexpr std::array<std::string_view, 6> names{"currency-sums", "balances",  "entries",
                                                "floors",        "transfers", "keys"};

}  // namespace

std::span<const std::string_view> verification_rules() { return names; }

std::size_t count_account_violations(db::Transaction& transaction) {
  return transaction.run(sql::payments::verify_currency_sums).size() +
         transaction.run(sql::payments::verify_floors).size();
}

std::size_t verify_books(db::Connection& connection,
                         const std::function<void(const Violation&)>& report) {
  const std::array<const db::Statement*, names.size()> statements{
      &sql::payments::verify_currency_sums, &sql::payments::verify_balances,
      &sql::payments::verify_entries,       &sql::payments::verify_floors,
      &sql::payments::verify_transfers,     &sql::payments::verify_keys};
  // Under READ COMMITTED each statement sees another moment, and payments in between look like
  // violations.
  db::Transaction snapshot(connection, db::Access::snapshot);
  std::size_t violations = 0;
  for (std::size_t rule = 0; rule < names.size(); ++rule) {
    const db::Rows rows = snapshot.run(*statements[rule]);
    for (std::size_t row = 0; row < rows.size(); ++row) {
      report({names[rule], rows.text(row, 0), rows.text(row, 1), rows.text(row, 2)});
    }
    violations += rows.size();
  }
  snapshot.commit();
  return violations;
}

}  // namespace oncepay::payments

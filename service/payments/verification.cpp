#include "payments/verification.hpp"

#include <array>

#include "sql/statements.hpp"

namespace oncepay::payments {

namespace {

struct Rule {
  std::string_view name;
  const db::Statement& statement;
};

}  // namespace

std::size_t verify_books(db::Connection& connection,
                         const std::function<void(const Violation&)>& report) {
  const std::array rules{Rule{"currency-sums", sql::payments::verify_currency_sums},
                         Rule{"balances", sql::payments::verify_balances},
                         Rule{"entries", sql::payments::verify_entries},
                         Rule{"floors", sql::payments::verify_floors},
                         Rule{"transfers", sql::payments::verify_transfers},
                         Rule{"keys", sql::payments::verify_keys}};
  // Under READ COMMITTED each statement sees another moment, and payments in between look like
  // violations.
  db::Transaction snapshot(connection, db::Access::snapshot);
  std::size_t violations = 0;
  for (const Rule& rule : rules) {
    const db::Rows rows = snapshot.run(rule.statement);
    for (std::size_t row = 0; row < rows.size(); ++row) {
      report({rule.name, rows.text(row, 0), rows.text(row, 1), rows.text(row, 2)});
    }
    violations += rows.size();
  }
  snapshot.commit();
  return violations;
}

}  // namespace oncepay::payments

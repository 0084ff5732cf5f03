#include "payments/verification.hpp"

#include <array>

#include "sql/statements.hpp"

namespace oncepay::payments {

namespace {

constexpr std::array<std::string_view, 7> names{"currency-sums", "floors", "balances", "entries",
                                                "transfers",     "keys",   "sample"};
constexpr std::size_t rules_of_accounts = 2;  // the first of them read accounts alone
constexpr std::size_t sample_rule = names.size() - 1;

const std::array<const db::Statement*, names.size()>& statements() {
  static const std::array<const db::Statement*, names.size()> all{
      &sql::payments::verify_currency_sums, &sql::payments::verify_floors,
      &sql::payments::verify_balances,      &sql::payments::verify_entries,
      &sql::payments::verify_transfers,     &sql::payments::verify_keys,
      &sql::payments::verify_sample};
  return all;
}

}  // namespace

std::span<const std::string_view> verification_rules() { return names; }

std::size_t count_account_violations(db::Transaction& transaction) {
  return transaction.run(sql::payments::verify_currency_sums).size() +
         transaction.run(sql::payments::verify_floors).size();
}

std::size_t verify_books(db::Connection& connection, const VerificationScope& scope,
                         const VerificationCalls& calls) {
  // Under READ COMMITTED each statement sees another moment, and payments in between look like
  // violations.
  db::Transaction snapshot(connection, db::Access::snapshot);
  std::size_t violations = 0;
  for (std::size_t rule = 0; rule < names.size(); ++rule) {
    const bool sampling = scope.sample_accounts > 0;
    if (rule >= rules_of_accounts && sampling != (rule == sample_rule)) continue;
    calls.begins(names[rule]);
    db::Params params;
    if (rule == sample_rule) params.add(scope.sample_accounts);
    const db::Rows rows = snapshot.run(*statements()[rule], params);
    for (std::size_t row = 0; row < rows.size(); ++row) {
      calls.found({names[rule], rows.text(row, 0), rows.text(row, 1), rows.text(row, 2)});
    }
    violations += rows.size();
  }
  snapshot.commit();
  return violations;
}

}  // namespace oncepay::payments

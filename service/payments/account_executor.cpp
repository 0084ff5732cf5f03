#include <map>
#include <set>
#include <utility>

#include "payments/executors.hpp"
#include "sql/statements.hpp"

namespace oncepay::payments {

namespace {

const AccountRequest& request_of(const once::Payload& payload) {
  return dynamic_cast<const AccountRequest&>(payload);
}

using Name = std::pair<std::string_view, std::string_view>;  // tenant, account

}  // namespace

AccountExecutor::AccountExecutor(Renderers renderers, runtime::Metrics& metrics)
    : renderers_(std::move(renderers)),
      opened_(metrics.counter("oncepay_accounts_opened_total", "Accounts opened")) {}

void AccountExecutor::committed(const once::Answer& /*answer*/) { opened_.add(); }

std::optional<once::Answer> AccountExecutor::expect(const once::Payload& payload,
                                                    std::int64_t now_us) const {
  const AccountRequest& request = request_of(payload);
  return renderers_.account({request.id, request.currency, 0, request.overdraft_limit, now_us});
}

std::vector<once::Decision> AccountExecutor::execute(db::Transaction& transaction,
                                                     std::span<const once::Claim> claims,
                                                     std::int64_t now_us) {
  // Of several that want one id, the first to arrive gets it.
  std::map<Name, const AccountRequest*> wanted;
  std::vector<bool> first(claims.size());
  for (std::size_t i = 0; i < claims.size(); ++i) {
    const AccountRequest& request = request_of(claims[i].payload);
    first[i] = wanted.emplace(Name(claims[i].tenant_id, request.id), &request).second;
  }
  db::Array tenants, ids, currencies, limits;
  for (const auto& [name, request] : wanted) {
    tenants.add(name.first);
    ids.add(name.second);
    currencies.add(request->currency);
    request->overdraft_limit ? limits.add(*request->overdraft_limit) : limits.add_null();
  }
  const db::Rows rows =
      transaction.run(sql::payments::open_accounts,
                      db::Params().add(tenants).add(ids).add(currencies).add(limits).add(now_us));
  std::set<Name> opened;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    opened.emplace(rows.text(row, 0), rows.text(row, 1));
  }

  std::vector<once::Decision> decisions;
  decisions.reserve(claims.size());
  for (std::size_t i = 0; i < claims.size(); ++i) {
    const AccountRequest& request = request_of(claims[i].payload);
    if (first[i] && opened.contains(Name(claims[i].tenant_id, request.id))) {
      decisions.push_back(once::AsExpected{});
    } else {
      decisions.push_back(once::Refused{
          renderers_.refused({{RefusalReason::account_exists, "/id"}}, request.request_id)});
    }
  }
  return decisions;
}

}  // namespace oncepay::payments

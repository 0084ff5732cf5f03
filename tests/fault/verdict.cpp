#include "fault/verdict.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

namespace fault {

bool Verdict::has(const std::string& rule) const {
  return std::any_of(violations.begin(), violations.end(),
                     [&](const Violation& one) { return one.rule == rule; });
}

std::string Verdict::text() const {
  std::map<std::string, int> answers;
  std::set<std::string> keys;
  for (const Call& call : history.calls) {
    keys.insert(call.key);
    const std::string problem = call.seen ? call.seen->problem() : "";
    ++answers[!call.seen
                  ? "no answer"
                  : std::to_string(call.seen->status) + (problem.empty() ? "" : " " + problem) +
                        (call.seen->replayed ? " replayed" : "")];
  }
  std::string text = "seed " + std::to_string(history.seed) + ": " +
                     std::to_string(history.calls.size()) + " calls, " +
                     std::to_string(keys.size()) + " keys, " +
                     std::to_string(history.books.payments.size()) + " payments, " +
                     std::to_string(history.disturbances.size()) + " faults, " +
                     std::to_string(violations.size()) + " violations\n";
  for (const auto& [answer, count] : answers) {
    text += "  " + std::to_string(count) + " " + answer + "\n";
  }
  return text + text_of(violations);
}

void sweep(Field& field, support::Database& database, std::size_t keys_max) {
  std::vector<support::Row> rows = database.sql().rows(
      "SELECT idempotency_key, amount, currency, source, destination FROM payments"
      " WHERE tenant_id = $1 ORDER BY id DESC LIMIT $2::bigint",
      {field.tenant.id, std::to_string(keys_max)});
  std::vector<support::Client> clients;
  for (std::size_t i = 0; i < field.posts(); ++i) {
    clients.emplace_back(field.post(i).to_service.port(), 10s);
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const support::Row& row = rows[i];
    const std::string key = row.at(0).value();
    const support::Payment payment{std::stoll(row.at(1).value()), row.at(2).value(),
                                   row.at(3).value(), row.at(4).value()};
    const std::size_t where = i % field.posts();
    pay_once(clients[where], payment_request(field.tenant, key, payment),
             {"sweep", key, payment, field.post(where).name, 0, 0, std::nullopt, ""},
             field.recorder);
  }
}

Verdict judge(Field& field) { return judge(field, field.database); }

Verdict judge(Field& field, support::Database& database) {
  database.reconnect();
  Verdict verdict{field.recorder.finish(read_books(database, field.tenant.id)), {}};
  verdict.violations = check(verdict.history);
  return verdict;
}

std::string keep(const History& history) {
  const std::string file = ".data/faults/seed-" + std::to_string(history.seed) + "-" +
                           std::to_string(now_us() / 1'000'000) + ".jsonl";
  save(history, file);
  return "the history is " + file + "; scripts/faults check " + file + " judges it again";
}

std::uint32_t number_from_environment(const char* name, std::uint32_t otherwise) {
  const char* const value = std::getenv(name);
  return value == nullptr || *value == '\0' ? otherwise
                                            : static_cast<std::uint32_t>(std::stoul(value));
}

}  // namespace fault

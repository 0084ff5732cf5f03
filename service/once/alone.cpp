#include "once/alone.hpp"

#include <utility>

#include "sql/statements.hpp"

namespace oncepay::once {

namespace {

db::Params claim_params(const Operation& operation, const Answer& answer, BatchSettings settings,
                        std::int64_t now_us) {
  db::Params params;
  params.add(operation.tenant_id).add(operation.key).add_bytes(operation.fingerprint);
  params.add(fingerprint_version_current);
  params.add(static_cast<std::int64_t>(settings.retention.count()));
  params.add(std::int64_t{answer.status}).add(answer.content_type).add(answer.location);
  params.add_bytes(answer.body);
  answer.resource_id.empty() ? params.add_null() : params.add(answer.resource_id);
  params.add(now_us);
  return params;
}

// Whether a batch should try: the fault is in what the message found, not in the session.
bool is_for_a_batch(const db::TransientError& error, const db::Connection& connection) {
  return connection.usable() && (error.reason() == db::TransientReason::lock_timeout ||
                                 error.reason() == db::TransientReason::serialization);
}

}  // namespace

std::optional<BatchResult> run_alone(db::Connection& connection, const PendingPtr& pending,
                                     BatchSettings settings, BatchHistory& history) {
  if (connection.pooled()) return std::nullopt;  // nothing goes along with COMMIT there
  const auto began = std::chrono::steady_clock::now();
  const Operation& operation = pending->operation;
  const std::int64_t now_us = settings.clock.now_us();
  auto expected = operation.executor->expect(*operation.payload, now_us);
  if (!expected) return std::nullopt;
  auto effects = operation.executor->settle_alone(
      {operation.tenant_id, operation.key, *operation.payload, &*expected}, now_us);
  if (!effects) return std::nullopt;

  db::Transaction transaction(connection, db::Access::read_write, db::Begin::with_first_statement,
                              opening_of(settings.layout));
  // Others have to hear of a claim that waits for its effects (in_flight.hpp), and of this one they
  // do not: so it does not wait long.
  transaction.defer(sql::once::limit_lock_waits, {});
  transaction.defer(settings.layout == KeyLayout::periods ? sql::once::claim_alone_in_period
                                                          : sql::once::claim_alone,
                    claim_params(operation, *expected, settings, now_us));
  transaction.defer(effects->statement, std::move(effects->params));
  pending->attempted_resource_id = expected->resource_id;
  // The claim fails in a transaction that did not begin this close to it.
  if (history.first_us == 0) history.first_us = now_us - DatabaseClock::off_us_max;
  try {
    transaction.commit();
  } catch (const db::StatementError& error) {
    if (error.sqlstate() != "22012") throw;
    return std::nullopt;
  } catch (const db::TransientError& error) {
    if (!is_for_a_batch(error, connection)) throw;
    return std::nullopt;
  }
  BatchResult result;
  result.times.commit = std::chrono::steady_clock::now() - began;
  result.statements = transaction.times();
  result.resolutions.emplace_back(Answered{std::move(*expected), false});
  result.as_expected = true;
  return result;
}

}  // namespace oncepay::once

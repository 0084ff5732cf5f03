#include "once/observation.hpp"

#include <algorithm>

#include "once/key_periods.hpp"
#include "runtime/pause.hpp"
#include "sql/statements.hpp"

namespace oncepay::once {

namespace {

constexpr std::string_view key_table = "idempotency_keys";

}  // namespace

void limit_observation(db::Transaction& transaction) {
  transaction.run(sql::once::limit_observation,
                  db::Params().add(std::to_string(observation_time_max.count()) + "ms"));
}

std::vector<InstanceSeen> list_instances(db::Transaction& transaction) {
  const db::Rows rows = transaction.run(sql::once::list_instances);
  std::vector<InstanceSeen> instances;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    InstanceSeen seen{std::string(rows.text(row, 0)), rows.number(row, 1), rows.number(row, 2), {}};
    if (const auto age = rows.maybe_number(row, 3)) seen.since = std::chrono::seconds(*age);
    instances.push_back(std::move(seen));
  }
  return instances;
}

bool cleaner_at_work(db::Transaction& transaction) {
  return transaction.run(sql::once::find_cleaner).flag(0, 0);
}

void observe_server(db::Transaction& transaction, Observation& seen) {
  limit_observation(transaction);
  const db::Rows tables = transaction.run(sql::once::observe_tables);
  for (std::size_t row = 0; row < tables.size(); ++row) {
    seen.tables.push_back({std::string(tables.text(row, 0)), tables.number(row, 1),
                           tables.number(row, 2), tables.number(row, 3), tables.number(row, 4)});
  }
  const db::Rows periods = transaction.run(sql::once::list_key_periods);
  for (std::size_t row = 0; row < periods.size(); ++row) {
    seen.periods.push_back({std::string(periods.text(row, 0)), std::string(periods.text(row, 1)),
                            periods.number(row, 2), periods.number(row, 3),
                            std::chrono::seconds(periods.number(row, 4))});
  }
  const db::Rows sessions = transaction.run(sql::once::observe_sessions);
  seen.oldest_snapshot = std::chrono::seconds(sessions.number(0, 0));
  seen.oldest_snapshot_transactions = sessions.number(0, 1);
  seen.sessions = sessions.number(0, 2);
  seen.sessions_max = sessions.number(0, 3);
}

void observe_keys(db::Transaction& transaction, Observation& seen) {
  limit_observation(transaction);
  const bool in_periods = uses_key_periods(transaction);
  const db::Rows keys =
      transaction.run(in_periods ? sql::once::observe_keys_in_periods : sql::once::observe_keys,
                      db::Params().add(expired_keys_counted_max));
  seen.expired_keys = keys.number(0, 0);
  seen.oldest_expired = std::chrono::seconds(keys.number(0, 1));
}

struct Observer::Gauges {
  explicit Gauges(runtime::Metrics& registry)
      : metrics(registry),
        live_keys(keys("live")),
        expired_keys(keys("expired")),
        oldest_expired(metrics.gauge("oncepay_idempotency_keys_oldest_expired_seconds",
                                     "For how long the oldest expired key has been there")),
        oldest_snapshot(metrics.gauge("oncepay_database_oldest_snapshot_seconds",
                                      "Age of the oldest transaction that keeps dead rows")),
        oldest_snapshot_transactions(
            metrics.gauge("oncepay_database_oldest_snapshot_transactions",
                          "The same in transactions, seen without privileges too")),
        sessions(metrics.gauge("oncepay_database_sessions", "Sessions of the whole server")),
        sessions_max(metrics.gauge("oncepay_database_sessions_max",
                                   "Sessions that the server has room for")),
        last_success(metrics.gauge("oncepay_observation_success_timestamp_seconds",
                                   "When the database was looked at last")),
        failures(metrics.counter("oncepay_observation_failures_total",
                                 "Attempts to look at the database that failed")) {}

  runtime::Gauge keys(const std::string& state) {
    return metrics.gauge("oncepay_idempotency_keys",
                         "Keys in the table; live ones as the server's statistics have them, "
                         "expired ones counted up to 100000",
                         {{"state", state}});
  }

  // Tables are a fixed set: that of sql/once/observe_tables.sql.
  void set(const TableState& table) {
    const auto gauge = [&](const std::string& name, const std::string& help, std::int64_t value,
                           runtime::Labels labels) {
      labels["table"] = table.name;
      metrics.gauge(name, help, labels).set(static_cast<double>(value));
    };
    const std::string bytes = "oncepay_table_bytes";
    const std::string bytes_help = "Size on disk of a table and of its indexes";
    gauge(bytes, bytes_help, table.table_bytes, {{"part", "table"}});
    gauge(bytes, bytes_help, table.index_bytes, {{"part", "indexes"}});
    const std::string rows = "oncepay_table_rows";
    const std::string rows_help = "Rows of a table as the server's statistics have them";
    gauge(rows, rows_help, table.live_rows, {{"state", "live"}});
    gauge(rows, rows_help, table.dead_rows, {{"state", "dead"}});
    if (table.name == key_table) stored_keys = table.live_rows;
  }

  void set_server(const Observation& seen) {
    for (const TableState& table : seen.tables) set(table);
    oldest_snapshot.set(static_cast<double>(seen.oldest_snapshot.count()));
    oldest_snapshot_transactions.set(static_cast<double>(seen.oldest_snapshot_transactions));
    sessions.set(static_cast<double>(seen.sessions));
    sessions_max.set(static_cast<double>(seen.sessions_max));
  }

  void set_keys(const Observation& seen) {
    expired_keys.set(static_cast<double>(seen.expired_keys));
    live_keys.set(static_cast<double>(std::max<std::int64_t>(stored_keys - seen.expired_keys, 0)));
    oldest_expired.set(static_cast<double>(seen.oldest_expired.count()));
    last_success.set_to_now();
  }

  runtime::Metrics& metrics;
  std::int64_t stored_keys = 0;
  runtime::Gauge live_keys;
  runtime::Gauge expired_keys;
  runtime::Gauge oldest_expired;
  runtime::Gauge oldest_snapshot;
  runtime::Gauge oldest_snapshot_transactions;
  runtime::Gauge sessions;
  runtime::Gauge sessions_max;
  runtime::Gauge last_success;
  runtime::Counter failures;
};

Observer::Observer(db::Pool& reads, std::chrono::milliseconds interval, runtime::Log& log,
                   runtime::Metrics& metrics)
    : reads_(reads), interval_(interval), log_(log), gauges_(std::make_unique<Gauges>(metrics)) {
  thread_ = std::jthread([this](const std::stop_token& stop) { work(stop); });
}

Observer::~Observer() = default;

void Observer::work(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    observe_once();
    runtime::pause(interval_, stop);
  }
}

void Observer::observe_once() {
  try {
    Observation seen;
    reads_.run(db::Access::read_only,
               [&seen](db::Transaction& transaction) { observe_server(transaction, seen); });
    gauges_->set_server(seen);
    reads_.run(db::Access::read_only,
               [&seen](db::Transaction& transaction) { observe_keys(transaction, seen); });
    gauges_->set_keys(seen);
  } catch (const std::exception& error) {
    gauges_->failures.add();
    log_.warning("the database could not be looked at", {{"what", error.what()}});
  }
}

}  // namespace oncepay::once

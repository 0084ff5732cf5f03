#include "cli/status.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <functional>

#include "cli/commands.hpp"
#include "cli/connections.hpp"
#include "db/migrations.hpp"
#include "http/json_text.hpp"
#include "migrations/embedded.hpp"
#include "payments/books.hpp"
#include "payments/verification.hpp"

namespace oncepay::cli {
namespace {

constexpr std::chrono::seconds expired_late{3'600};
constexpr std::chrono::seconds snapshot_old{1'800};
constexpr std::int64_t dead_rows_many = 100'000;
constexpr int sessions_percent_many = 80;

std::int64_t instances_serving(const Status& status) {
  std::int64_t count = 0;
  for (const once::InstanceSeen& instance : status.instances) count += instance.lanes > 0 ? 1 : 0;
  return count;
}

std::string size_of(std::int64_t bytes) {
  constexpr std::array units{"B", "KiB", "MiB", "GiB", "TiB"};
  auto size = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (size >= 1024 && unit + 1 < units.size()) {
    size /= 1024;
    ++unit;
  }
  return fmt::format("{:.{}f} {}", size, unit == 0 ? 0 : 1, units.at(unit));
}

std::string time_of(std::chrono::seconds time) {
  const auto seconds = time.count();
  if (seconds < 120) return fmt::format("{} s", seconds);
  if (seconds < 7'200) return fmt::format("{} min", seconds / 60);
  if (seconds < 2 * 86'400) return fmt::format("{} h", seconds / 3'600);
  return fmt::format("{} days", seconds / 86'400);
}

// "at least" where counting ended at its limit.
std::string expired_of(const Status& status) {
  const once::Observation& seen = status.observation;
  if (!status.keys_counted) return "not counted in time";
  const bool more = seen.expired_keys >= once::expired_keys_counted_max;
  return fmt::format(
      "{}{} keys{}", more ? "at least " : "", seen.expired_keys,
      seen.expired_keys > 0 ? ", the oldest for " + time_of(seen.oldest_expired) : "");
}

// False = it was given up because it took too long, and nothing is known.
bool look_in_time(db::Connection& connection, const std::function<void(db::Transaction&)>& look) {
  try {
    db::Transaction transaction(connection, db::Access::read_only);
    once::limit_observation(transaction);
    look(transaction);
    transaction.commit();
    return true;
  } catch (const db::TransientError& error) {
    if (error.reason() != db::TransientReason::cancelled) throw;
    return false;
  }
}

void warn_of_tables(const Status& status, std::vector<Warning>& warnings) {
  const once::Observation& seen = status.observation;
  if (seen.oldest_expired > expired_late) {
    warnings.push_back({"cleanup is late: the oldest expired key has been there for " +
                            time_of(seen.oldest_expired),
                        "run oncepay cleanup, then see why no cleaner did: deploy/runbook.md, "
                        "\"Cleanup is late\""});
  }
  for (const once::KeyPeriodState& period : seen.periods) {
    if (period.overdue <= expired_late) continue;
    warnings.push_back(
        {"the current period of keys should have ended " + time_of(period.overdue) + " ago",
         "nobody cleans up, or a claim never ends: deploy/runbook.md, \"Keys in "
         "periods\""});
  }
  for (const once::TableState& table : seen.tables) {
    if (table.dead_rows < dead_rows_many || table.dead_rows < table.live_rows) continue;
    warnings.push_back({fmt::format("table {} has {} dead rows and {} live ones", table.name,
                                    table.dead_rows, table.live_rows),
                        "look for an old snapshot, then VACUUM " + table.name});
  }
  if (seen.oldest_snapshot > snapshot_old) {
    warnings.push_back({"a transaction of " + time_of(seen.oldest_snapshot) +
                            " keeps dead rows from being removed",
                        "find it in pg_stat_activity and end it: deploy/runbook.md, \"An old "
                        "snapshot\""});
  }
}

class JsonObject {
 public:
  JsonObject& member(std::string_view name, const std::string& json) {
    text_ += text_.size() > 1 ? "," : "";
    http::append_json_string(text_, name);
    text_ += ":" + json;
    return *this;
  }
  template <class Integer>
  JsonObject& number(std::string_view name, Integer value) {
    return member(name, std::to_string(value));
  }
  JsonObject& text(std::string_view name, std::string_view value) {
    std::string quoted;
    http::append_json_string(quoted, value);
    return member(name, quoted);
  }
  [[nodiscard]] std::string closed() const { return text_ + "}"; }

 private:
  std::string text_ = "{";
};

template <class Items, class Render>
std::string json_array(const Items& items, Render render) {
  std::string text = "[";
  for (const auto& item : items) text += (text.size() > 1 ? "," : "") + render(item);
  return text + "]";
}

std::string table_json(const once::TableState& table) {
  return JsonObject()
      .text("name", table.name)
      .number("table_bytes", table.table_bytes)
      .number("index_bytes", table.index_bytes)
      .number("live_rows", table.live_rows)
      .number("dead_rows", table.dead_rows)
      .closed();
}

std::string period_json(const once::KeyPeriodState& period) {
  return JsonObject()
      .text("table", period.table)
      .text("state", period.state)
      .number("bytes", period.bytes)
      .number("keys", period.keys)
      .number("overdue_s", period.overdue.count())
      .closed();
}

std::string instance_json(const once::InstanceSeen& instance) {
  return JsonObject()
      .text("name", instance.name)
      .number("sessions", instance.sessions)
      .number("lanes", instance.lanes)
      .member("since_s", instance.since ? std::to_string(instance.since->count()) : "null")
      .closed();
}

std::string warning_json(const Warning& warning) {
  return JsonObject().text("what", warning.what).text("next", warning.next).closed();
}

std::string state_text(const Status& status) {
  const once::Observation& seen = status.observation;
  std::string text = fmt::format("instances  {}\n", instances_serving(status));
  for (const once::InstanceSeen& instance : status.instances) {
    text += fmt::format("           {}: {} sessions, {}{}\n", instance.name, instance.sessions,
                        instance.lanes > 0 ? fmt::format("{} lanes", instance.lanes) : "no lanes",
                        instance.since ? ", for " + time_of(*instance.since) : "");
  }
  text += fmt::format("payments   {} in the last minute, {:.1f} a second\n",
                      status.payments_last_minute,
                      static_cast<double>(status.payments_last_minute) / 60);
  text += fmt::format("expired    {}\n", expired_of(status));
  text += fmt::format("cleaner    {}\n", status.cleaner_at_work ? "at work" : "idle");
  for (const once::TableState& table : seen.tables) {
    text += fmt::format("table      {}: {} and {} of indexes, {} rows, {} dead\n", table.name,
                        size_of(table.table_bytes), size_of(table.index_bytes), table.live_rows,
                        table.dead_rows);
  }
  for (const once::KeyPeriodState& period : seen.periods) {
    text += fmt::format("period     {}: {}, {}, {} keys\n", period.table, period.state,
                        size_of(period.bytes), period.keys);
  }
  text += fmt::format("snapshot   the oldest is {} old\n", time_of(seen.oldest_snapshot));
  text += fmt::format("sessions   {} of {}\n", seen.sessions, seen.sessions_max);
  if (!status.violations) {
    text += "books      not looked at, it would take too long: run oncepay verify\n";
  } else if (*status.violations == 0) {
    text += "books      balances add up to zero and keep their floors\n";
  } else {
    text += fmt::format("books      {} violations\n", *status.violations);
  }
  return text;
}

}  // namespace

Status read_status(db::Connection& connection) {
  Status status;
  db::Migrator migrator(connection, db::embedded_migrations, {});
  status.schema = migrator.applied_version();
  status.schema_known = migrator.known_version();
  status.server_version = connection.server_version();
  if (status.schema != status.schema_known) return status;
  {
    db::Transaction transaction(connection, db::Access::read_only);
    once::observe_server(transaction, status.observation);
    status.instances = once::list_instances(transaction);
    status.cleaner_at_work = once::cleaner_at_work(transaction);
    status.payments_last_minute = payments::count_recent_payments(transaction);
    transaction.commit();
  }
  status.keys_counted = look_in_time(connection, [&status](db::Transaction& transaction) {
    once::observe_keys(transaction, status.observation);
  });
  // A large ledger is for `oncepay verify`.
  look_in_time(connection, [&status](db::Transaction& transaction) {
    status.violations = payments::count_account_violations(transaction);
  });
  return status;
}

std::vector<Warning> warnings_of(const Status& status) {
  std::vector<Warning> warnings;
  if (status.schema != status.schema_known) {
    warnings.push_back({fmt::format("the schema is at version {}, this release knows version {}",
                                    status.schema, status.schema_known),
                        status.schema < status.schema_known
                            ? "run oncepay migrate up"
                            : "use the release that the database was migrated with"});
    return warnings;
  }
  if (status.violations.value_or(0) > 0) {
    warnings.push_back({"the books do not balance",
                        "run oncepay verify: deploy/runbook.md, \"The books do not balance\""});
  }
  if (instances_serving(status) == 0) {
    warnings.push_back({"no instance takes payments here", "start oncepay serve"});
  }
  warn_of_tables(status, warnings);
  const once::Observation& seen = status.observation;
  if (seen.sessions * 100 > seen.sessions_max * sessions_percent_many) {
    warnings.push_back(
        {fmt::format("{} of the server's {} sessions are taken", seen.sessions, seen.sessions_max),
         "raise max_connections, or run fewer instances or lanes"});
  }
  return warnings;
}

std::string status_text(const Status& status) {
  std::string text = fmt::format("schema     version {}, this release knows {}\n", status.schema,
                                 status.schema_known);
  text += fmt::format("server     PostgreSQL {}.{}\n", status.server_version / 10'000,
                      status.server_version % 10'000);
  if (status.schema == status.schema_known) text += state_text(status);
  for (const Warning& warning : warnings_of(status)) {
    text += "WARNING: " + warning.what + "\nHINT: " + warning.next + "\n";
  }
  return text;
}

std::string status_json(const Status& status) {
  JsonObject json;
  json.number("schema", status.schema).number("schema_known", status.schema_known);
  json.number("server_version", status.server_version);
  if (status.schema == status.schema_known) {
    const once::Observation& seen = status.observation;
    json.member("instances", json_array(status.instances, instance_json));
    json.number("payments_last_minute", status.payments_last_minute);
    const auto counted = [&status](std::int64_t number) {
      return status.keys_counted ? std::to_string(number) : "null";
    };
    json.member("expired_keys", counted(seen.expired_keys));
    json.member("oldest_expired_s", counted(seen.oldest_expired.count()));
    json.member("cleaner_at_work", status.cleaner_at_work ? "true" : "false");
    json.member("tables", json_array(seen.tables, table_json));
    json.member("periods", json_array(seen.periods, period_json));
    json.number("oldest_snapshot_s", seen.oldest_snapshot.count());
    json.number("sessions", seen.sessions).number("sessions_max", seen.sessions_max);
    json.member("violations", status.violations ? std::to_string(*status.violations) : "null");
  }
  json.member("warnings", json_array(warnings_of(status), warning_json));
  return json.closed();
}

int run_status(const Config& config) {
  db::ConnectionSettings settings = connection_settings(config, "status");
  settings.read_only_will_do = true;
  db::Connection connection(settings);
  const Status status = read_status(connection);
  const std::string text = config.json ? status_json(status) + "\n" : status_text(status);
  std::fwrite(text.data(), 1, text.size(), stdout);
  return 0;
}

}  // namespace oncepay::cli

#include <algorithm>
#include <cstdio>
#include <string>

#include "cli/commands.hpp"
#include "cli/connections.hpp"
#include "cli/schema.hpp"
#include "db/migrations.hpp"
#include "migrations/embedded.hpp"
#include "once/key_periods.hpp"

namespace oncepay::cli {
namespace {

void print(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stdout); }

// What is pending, as SQL that psql could run. Nothing is changed.
void print_pending(db::Migrator& migrator) {
  for (const db::MigrationStatus& one : migrator.status()) {
    if (one.state == db::MigrationState::applied) continue;
    if (one.state != db::MigrationState::pending) migrator.verify();  // says what `up` would say
    for (const db::Migration& known : db::embedded_migrations) {
      if (known.version != one.version) continue;
      print("-- " + db::file_name_of(known.version, known.name) + "\n");
      print(std::string(known.text) + "\n");
    }
  }
}

}  // namespace

int run_migrate_up(const Config& config) {
  if (config.dry_run) {
    db::Connection connection(connection_settings(config, "migrate"));
    db::Migrator migrator(connection, db::embedded_migrations, {});
    print_pending(migrator);
    return 0;
  }
  runtime::Log log(config.log_level);
  const int applied = migrate_up(config, log);
  print("applied " + std::to_string(applied) + ", schema version " +
        std::to_string(db::embedded_migrations.back().version) + "\n");
  return 0;
}

int run_migrate_status(const Config& config) {
  db::Connection connection(connection_settings(config, "migrate"));
  db::Migrator migrator(connection, db::embedded_migrations, {});
  for (const db::MigrationStatus& one : migrator.status()) {
    std::string line = db::file_name_of(one.version, one.name);
    line.resize(std::max<std::size_t>(line.size() + 1, 40), ' ');
    line += db::name_of(one.state);
    if (one.applied_at) line += " " + *one.applied_at;
    print(line + "\n");
  }
  return 0;
}

int run_migrate_verify(const Config& config) {
  db::Connection connection(connection_settings(config, "migrate"));
  db::Migrator migrator(connection, db::embedded_migrations, {});
  migrator.verify();
  print("all " + std::to_string(db::embedded_migrations.size()) +
        " migrations are applied and unchanged\n");
  return 0;
}

int run_migrate_partition_keys(const Config& config) {
  db::Connection connection(connection_settings(config, "migrate"));
  check_schema(connection);
  if (once::partition_keys(connection, config.key_period)) {
    print("idempotency keys are kept in periods of " + std::to_string(config.key_period.count()) +
          " seconds from now on\n");
  } else {
    print("idempotency keys were kept in periods before; nothing was changed\n");
  }
  return 0;
}

}  // namespace oncepay::cli

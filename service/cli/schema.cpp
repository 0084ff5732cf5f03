#include "cli/schema.hpp"

#include "cli/connections.hpp"
#include "db/migrations.hpp"
#include "migrations/embedded.hpp"

namespace oncepay::cli {

int migrate_up(const Config& config, runtime::Log& log) {
  db::Connection connection(connection_settings(config, "migrate"));
  db::Migrator migrator(connection, db::embedded_migrations, {});
  return migrator.up([&log](const db::Migration& migration) {
    log.info("migration applied", {{"version", migration.version},
                                   {"file", db::file_name_of(migration.version, migration.name)}});
  });
}

int check_schema(db::Connection& connection) {
  db::Migrator migrator(connection, db::embedded_migrations, {});
  const int applied = migrator.applied_version();
  if (applied < migrator.known_version()) {
    throw db::SchemaError("the schema is at version " + std::to_string(applied) +
                              ", this release needs version " +
                              std::to_string(migrator.known_version()),
                          "run oncepay migrate up, or start with --migrate");
  }
  migrator.verify();
  return applied;
}

}  // namespace oncepay::cli

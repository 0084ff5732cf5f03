#include "support/database.hpp"

#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <stdexcept>

#include "support/names.hpp"

namespace support {
namespace {

// Two test processes that arrive together must not both make, or read while it is made, the
// template. The number is arbitrary; it only has to be the same in all of them.
constexpr const char* template_lock = "SELECT pg_advisory_lock(7130561)";
constexpr const char* template_unlock = "SELECT pg_advisory_unlock(7130561)";

// A rebuilt binary may carry other migrations, so it gets another template.
std::string template_name() {
  const std::filesystem::path binary = required_environment(environment::binary);
  const auto written = std::filesystem::last_write_time(binary).time_since_epoch().count();
  return std::string(keys_in_periods() ? "oncepay_template_periods_" : "oncepay_template_") +
         std::to_string(static_cast<unsigned long long>(written) % 1000000007);
}

void migrate_by(const std::string& action, const std::string& url) {
  const Finished migrated = run(oncepay({"migrate", action}, {{"ONCEPAY_DATABASE_URL", url}}));
  if (migrated.exit_code != 0) {
    throw std::runtime_error("oncepay migrate " + action + " failed:\n" + migrated.all());
  }
}

void migrate(const std::string& url) {
  migrate_by("up", url);
  run_deploy_file(url, "postgresql/roles.sql");
  run_deploy_file(url, "postgresql/grants.sql");
  if (!keys_in_periods()) return;
  migrate_by("partition-keys", url);
  // Rows that a test makes by hand need not know of periods; the service's claims must.
  Sql(url).run(
      "CREATE FUNCTION test_current_period() RETURNS timestamptz LANGUAGE sql STABLE AS "
      "$$SELECT starts_at FROM idempotency_key_periods WHERE state = 'current'"
      "  AND current_setting('application_name') = '" +
      std::string(test_session) +
      "'$$; "
      "ALTER TABLE idempotency_keys ALTER claimed_in SET DEFAULT test_current_period()");
}

// Migrates under a name of its own and renames at the end: a test process that dies halfway leaves
// no half template behind that others would trust.
void ensure_template(Sql& server, const std::string& cluster, const std::string& name) {
  if (server.holds("SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)", {name})) {
    return;
  }
  const std::string building = fresh_name("oncepay_building_");
  server.run("CREATE DATABASE " + building);
  migrate(with_database(cluster, building));
  server.run("ALTER DATABASE " + building + " RENAME TO " + name);
}

std::string run_prefix() {
  static const std::string prefix =
      std::to_string(::getpid()) + "_" + std::to_string(std::random_device{}() % 1000000);
  return prefix;
}

}  // namespace

bool keys_in_periods() {
  const char* layout = std::getenv("TEST_KEY_LAYOUT");
  return layout != nullptr && std::string(layout) == "periods";
}

std::string as_role(std::string url, const std::string& role) {
  const auto begin = url.find("://") + 3;
  return url.replace(begin, url.find('@') - begin, role);
}

void run_deploy_file(const std::string& url, const std::string& file) {
  const auto scripts = std::filesystem::path(required_environment(environment::scripts));
  const Finished done = run({{"/usr/bin/psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", url, "-f",
                              scripts.parent_path() / "deploy" / file},
                             {}});
  if (done.exit_code != 0) throw std::runtime_error("deploy/" + file + " failed:\n" + done.all());
}

std::string with_database(const std::string& url, const std::string& database) {
  const std::size_t scheme = url.find("://");
  if (scheme == std::string::npos) {
    throw std::runtime_error("expected a URL postgresql://… in TEST_DATABASE_URL");
  }
  const std::size_t query = url.find('?', scheme + 3);
  const std::size_t path = std::min(url.find('/', scheme + 3), query);
  const std::string tail = query == std::string::npos ? "" : url.substr(query);
  return url.substr(0, path) + "/" + database + tail;
}

std::string fresh_name(const std::string& prefix) {
  static std::atomic<unsigned> counter{0};
  return prefix + run_prefix() + "_" + std::to_string(++counter);
}

Database::Database(std::string cluster, std::string name, std::string url)
    : cluster_(std::move(cluster)), name_(std::move(name)), url_(std::move(url)) {}

Database Database::created(const std::string& cluster, const std::string& from_template) {
  Sql server(cluster);
  const std::string name = fresh_name("oncepay_test_");
  server.run(template_lock);
  if (from_template.empty()) {
    server.run("CREATE DATABASE " + name);
  } else {
    ensure_template(server, cluster, from_template);
    server.run("CREATE DATABASE " + name + " TEMPLATE " + from_template);
  }
  server.run(template_unlock);
  return {cluster, name, with_database(cluster, name)};
}

Database::Database()
    : Database(created(required_environment(environment::database_url), template_name())) {}

Database Database::empty() { return created(required_environment(environment::database_url), ""); }

Database Database::on(const std::string& cluster) {
  Database database = created(cluster, "");
  migrate(database.url());
  return database;
}

Database Database::replica_on(const std::string& cluster) const {
  return {cluster, "", with_database(cluster, name_)};
}

Database::Database(Database&& other) noexcept
    : cluster_(std::move(other.cluster_)),
      name_(std::exchange(other.name_, "")),
      url_(std::move(other.url_)),
      sql_(std::move(other.sql_)) {}

Database::~Database() {
  if (name_.empty()) {
    return;
  }
  sql_.reset();
  try {
    Sql(cluster_).run("DROP DATABASE IF EXISTS " + name_ + " WITH (FORCE)");
  } catch (const std::runtime_error&) {
    // A cluster that a test has stopped takes its databases with it.
  }
}

Sql& Database::sql() {
  if (!sql_) {
    sql_ = std::make_unique<Sql>(url_);
  }
  return *sql_;
}

void Database::reconnect() { sql_.reset(); }

Command Database::oncepay(std::vector<std::string> arguments, Environment environment) const {
  environment.emplace_back("ONCEPAY_DATABASE_URL", url_);
  return support::oncepay(std::move(arguments), std::move(environment));
}

Finished Database::run_oncepay(std::vector<std::string> arguments, Environment environment) const {
  return run(oncepay(std::move(arguments), std::move(environment)));
}

std::int64_t Database::payments_with_key(const std::string& tenant_id, const std::string& key) {
  return sql().number("SELECT count(*) FROM payments WHERE tenant_id = $1 AND idempotency_key = $2",
                      {tenant_id, key});
}

std::int64_t Database::key_rows(const std::string& tenant_id, const std::string& key) {
  return sql().number("SELECT count(*) FROM idempotency_keys WHERE tenant_id = $1 AND key = $2",
                      {tenant_id, key});
}

std::int64_t Database::payments() { return sql().number("SELECT count(*) FROM payments"); }

std::int64_t Database::keys() { return sql().number("SELECT count(*) FROM idempotency_keys"); }

std::int64_t Database::expired_keys() {
  return sql().number("SELECT count(*) FROM idempotency_keys WHERE expires_at <= now()");
}

void Database::age_keys_by(std::chrono::seconds age) {
  sql().run(
      "UPDATE idempotency_keys SET created_at = created_at - $1::interval,"
      " expires_at = expires_at - $1::interval, lease_expires_at = lease_expires_at - $1::interval",
      {std::to_string(age.count()) + " seconds"});
}

void Database::copy_key(const std::string& key, const std::string& prefix, int count) {
  // The row is copied as a record, so that this holds whatever columns a later migration adds.
  sql().run(
      "INSERT INTO idempotency_keys"
      " SELECT (copy).* FROM (SELECT jsonb_populate_record(k, jsonb_build_object('key', $2 || n))"
      "   AS copy FROM idempotency_keys k, generate_series(1, $3::int) n WHERE k.key = $1) copies",
      {key, prefix, std::to_string(count)});
}

std::int64_t Database::deadlocks() {
  return sql().number("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()");
}

std::string broken_books(const Database& database) {
  const Finished verified = database.run_oncepay({"verify"});
  if (verified.exit_code == 0) {
    return "";
  }
  return "oncepay verify exits " + std::to_string(verified.exit_code) + ":\n" + verified.all();
}

}  // namespace support

#include "cli/operator_error.hpp"

#include <cstdio>

#include "db/errors.hpp"
#include "db/migrations.hpp"

namespace oncepay::cli {
namespace {

void print(const std::string& message, const std::string& hint) {
  std::string text = "oncepay: " + message + "\n";
  if (!hint.empty()) text += "HINT: " + hint + "\n";
  std::fputs(text.c_str(), stderr);
}

std::string hint_for(db::TransientReason reason) {
  switch (reason) {
    case db::TransientReason::connection_lost:
      return "check that PostgreSQL runs and that --database-url (ONCEPAY_DATABASE_URL) names it";
    case db::TransientReason::out_of_capacity:
      return "the server has no connection, memory or disk left: run it again later, or raise "
             "max_connections";
    case db::TransientReason::read_only:
      return "this server is a standby or was made read-only: name the primary, or all hosts";
    case db::TransientReason::serialization:
    case db::TransientReason::lock_timeout:
    case db::TransientReason::cancelled:
      return "somebody else holds what this needs: run it again";
  }
  return {};
}

std::string hint_for(const db::StatementError& error) {
  const std::string& state = error.sqlstate();
  if (state.starts_with("28")) return "check the user and the password of the database URL";
  if (state == "3D000") return "create the database first, with encoding UTF8";
  if (state == "42P01") return "the schema is not there yet: run oncepay migrate up";
  if (state == "42501") return "grant the missing privilege to the user of the database URL";
  if (state == "0A000") return "oncepay needs PostgreSQL 15 or newer and a database in UTF8";
  return {};
}

}  // namespace

int report(const std::exception& error) {
  if (const auto* wrong = dynamic_cast<const OperatorError*>(&error)) {
    print(wrong->what(), wrong->hint());
    return wrong->exit_code();
  }
  if (const auto* transient = dynamic_cast<const db::TransientError*>(&error)) {
    print(transient->what(), hint_for(transient->reason()));
  } else if (const auto* refused = dynamic_cast<const db::StatementError*>(&error)) {
    print(refused->what(), hint_for(*refused));
  } else if (dynamic_cast<const db::InDoubtError*>(&error) != nullptr) {
    print("the connection was lost during COMMIT, whose outcome is not known",
          "look whether it was done before you run it again");
  } else if (const auto* schema = dynamic_cast<const db::SchemaError*>(&error)) {
    print(schema->what(), schema->hint());
  } else {
    print(std::string("internal error: ") + error.what(), "this is a fault of oncepay: report it");
  }
  return exit_failed;
}

}  // namespace oncepay::cli

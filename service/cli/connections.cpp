#include "cli/connections.hpp"

#include <string>

#include "runtime/process.hpp"

namespace oncepay::cli {

db::ConnectionSettings connection_settings(const Config& config, const char* purpose) {
  db::ConnectionSettings settings;
  settings.url = config.database_url;
  settings.application_name = std::string("oncepay ") + purpose + " " + runtime::process_name();
  settings.lock_timeout = config.engine.lock_timeout;
  settings.statement_timeout = config.engine.statement_timeout;
  return settings;
}

}  // namespace oncepay::cli

// How each command connects: one place where the settings of a session come from the configuration.
#pragma once

#include "cli/config.hpp"
#include "db/connection.hpp"

namespace oncepay::cli {

// `purpose` ends up in application_name, where an operator sees it in pg_stat_activity.
db::ConnectionSettings connection_settings(const Config& config, const char* purpose);

}  // namespace oncepay::cli

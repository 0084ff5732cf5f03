// How each command connects: one place where the settings of a session come from the configuration.
#pragma once

#include "cli/config.hpp"
#include "db/connection.hpp"

namespace oncepay::cli {

// `purpose`, a lower-case word, ends up in application_name together with the process, where an
// operator sees it in pg_stat_activity, and `oncepay status` which sessions belong together.
db::ConnectionSettings connection_settings(const Config& config, const char* purpose);

}  // namespace oncepay::cli

// The schema of the database, as commands meet it.
//
// Threads: one at a time per Connection. Errors: SchemaError and db errors pass.
#pragma once

#include "cli/config.hpp"
#include "db/connection.hpp"
#include "runtime/log.hpp"

namespace oncepay::cli {

// Applies what is pending and logs each migration. Returns how many this call applied.
int migrate_up(const Config& config, runtime::Log& log);

// Throws SchemaError unless the database's schema is the one that this release holds: an older or a
// newer one is refused naming both versions, a changed migration naming its file. Returns the
// version.
int check_schema(db::Connection& connection);

}  // namespace oncepay::cli

// What each command does, once its settings are known.
//
// Threads: called once, from main's thread. Results go to stdout, everything else to stderr. The
// return value is the exit code: 0 done, 1 failed. Errors: OperatorError and db errors pass; main
// prints them (operator_error.hpp).
#pragma once

#include "cli/config.hpp"

namespace oncepay::cli {

int run_serve(const Config& config);
int run_cleanup(const Config& config);
int run_verify(const Config& config);
int run_status(const Config& config);

int run_migrate_up(const Config& config);
int run_migrate_status(const Config& config);
int run_migrate_verify(const Config& config);
int run_migrate_partition_keys(const Config& config);

int run_tenant_create(const Config& config);
int run_tenant_list(const Config& config);
int run_apikey_create(const Config& config);
int run_apikey_list(const Config& config);
int run_apikey_revoke(const Config& config);

int run_version(const Config& config);

}  // namespace oncepay::cli

#include <fmt/format.h>

#include <cstdio>
#include <stop_token>

#include "cli/commands.hpp"
#include "cli/connections.hpp"
#include "once/cleanup.hpp"

namespace oncepay::cli {

int run_cleanup(const Config& config) {
  db::Connection connection(connection_settings(config, "cleanup"));
  once::CleanupSettings settings;
  settings.pace.batch_size = config.cleanup.batch_rows;
  settings.pace.pause = config.cleanup.pause;
  settings.dry_run = config.dry_run;
  if (config.cleanup.batches_max > 0) settings.batches_max = config.cleanup.batches_max;

  const once::CleanupRun run = once::run_cleanup(connection, settings, std::stop_token{});
  if (!run.had_turn) std::fputs("oncepay: another cleaner is at work\n", stderr);
  fmt::print(R"({{"deleted":{},"batches":{},"remaining":{},"duration_ms":{}}})"
             "\n",
             run.deleted, run.batches, once::count_expired_keys(connection), run.duration.count());
  return 0;
}

}  // namespace oncepay::cli

#include <fmt/format.h>

#include <cstdio>

#include "cli/commands.hpp"
#include "cli/connections.hpp"
#include "cli/operator_error.hpp"
#include "payments/verification.hpp"

namespace oncepay::cli {

int run_verify(const Config& config) {
  db::ConnectionSettings settings = connection_settings(config, "verify");
  settings.statement_timeout = std::chrono::milliseconds(0);  // it reads every row there is
  db::Connection connection(settings);
  const std::size_t violations =
      payments::verify_books(connection, [](const payments::Violation& violation) {
        fmt::print("violation: {} tenant={} {}: {}\n", violation.rule, violation.tenant_id,
                   violation.subject, violation.found);
      });
  if (violations > 0) {
    fmt::print("{} violations\n", violations);
    return exit_failed;
  }
  fmt::print("the books balance\n");
  return 0;
}

}  // namespace oncepay::cli

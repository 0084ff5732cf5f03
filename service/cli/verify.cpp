#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <map>

#include "cli/commands.hpp"
#include "cli/connections.hpp"
#include "cli/operator_error.hpp"
#include "payments/verification.hpp"
#include "runtime/metrics.hpp"

namespace oncepay::cli {
namespace {

using Violations = std::map<std::string_view, double>;  // by rule

// For a collector of text files. Renamed into place: whoever reads it sees all of it or the last.
void write_metrics(const std::string& path, const Violations& violations,
                   std::chrono::duration<double> took) {
  runtime::Metrics metrics;
  for (const auto rule : payments::verification_rules()) {
    const auto found = violations.find(rule);
    metrics
        .gauge("oncepay_verify_violations", "Violations that oncepay verify found, by rule",
               {{"rule", std::string(rule)}})
        .set(found == violations.end() ? 0 : found->second);
  }
  metrics.gauge("oncepay_verify_seconds", "How long it took").set(took.count());
  metrics.gauge("oncepay_verify_timestamp_seconds", "When it ended").set_to_now();
  const std::string temporary = path + ".new";
  std::ofstream file(temporary, std::ios::trunc);
  file << metrics.text();
  file.close();
  if (!file || std::rename(temporary.c_str(), path.c_str()) != 0) {
    throw OperatorError("--metrics-file: cannot be written",
                        "its folder exists and this user may write there");
  }
}

std::chrono::duration<double> seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::steady_clock::now() - begin;
}

}  // namespace

int run_verify(const Config& config) {
  const auto began = std::chrono::steady_clock::now();
  db::ConnectionSettings settings = connection_settings(config, "verify");
  settings.statement_timeout = std::chrono::milliseconds(0);  // it reads every row there is
  db::Connection connection(settings);
  Violations by_rule;
  const bool watched = isatty(STDERR_FILENO) == 1;  // by somebody who wants to see it move
  const payments::VerificationCalls calls{
      .begins =
          [&](std::string_view rule) {
            if (watched) fmt::print(stderr, "{:.1f} s: {}\n", seconds_since(began).count(), rule);
          },
      .found =
          [&](const payments::Violation& violation) {
            ++by_rule[violation.rule];
            fmt::print("violation: {} tenant={} {}: {}\n", violation.rule, violation.tenant_id,
                       violation.subject, violation.found);
          }};
  const std::size_t violations =
      payments::verify_books(connection, {.sample_accounts = config.sample_accounts}, calls);
  if (!config.metrics_file.empty()) {
    write_metrics(config.metrics_file, by_rule, seconds_since(began));
  }
  if (violations > 0) {
    fmt::print("{} violations\n", violations);
    return exit_failed;
  }
  std::puts(config.sample_accounts > 0 ? "the sample balances" : "the books balance");
  return 0;
}

}  // namespace oncepay::cli

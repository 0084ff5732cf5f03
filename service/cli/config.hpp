// Every setting of every command, checked once and passed down in pieces.
//
// Each setting is a flag `--name` and an environment variable `ONCEPAY_NAME`; the flag wins. Names,
// defaults, units and ranges stand in settings.cpp. Deliberately not here: what a setting does.
//
// Threads: a plain value that never changes once parse_command_line has made it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "http/edge/config.hpp"
#include "once/cleanup.hpp"
#include "once/key.hpp"
#include "runtime/log.hpp"

namespace oncepay::cli {

enum class Command {
  serve,
  migrate_up,
  migrate_status,
  migrate_verify,
  migrate_partition_keys,
  cleanup,
  tenant_create,
  tenant_list,
  apikey_create,
  apikey_list,
  apikey_revoke,
  verify,
  status,
  version,
};

struct EngineConfig {
  std::size_t lanes = 2;
  std::size_t batch_operations_max = 256;
  std::size_t queue_operations_max = 8192;
  std::chrono::milliseconds lock_timeout{500};
  std::chrono::milliseconds statement_timeout{10'000};
  std::chrono::milliseconds answer_deadline{15'000};
  std::chrono::milliseconds commit_resolve_deadline{10'000};
  std::chrono::milliseconds slow_batch{1'000};
  std::chrono::seconds retention{86'400};
  std::size_t read_connections = 4;
  once::KeyFormat key_format = once::KeyFormat::any;
};

struct CleanupConfig {
  bool enabled = true;  // of the thread inside serve
  std::chrono::seconds interval{60};
  int jitter_percent = 10;
  std::int64_t batch_rows = 1000;
  std::chrono::milliseconds pause{50};
  std::int64_t rows_per_second_max = 0;  // 0 = as fast as it goes
  std::chrono::milliseconds payments_within{0};
  std::optional<once::CleanupWindow> window;  // nothing = always
  std::string zone = "UTC";                   // of the window
  std::int64_t backlog_max = 100'000;
  std::int64_t batches_max = 0;  // of one run of `cleanup`; 0 = until nothing expired is left
};

struct Config {
  Command command = Command::version;
  std::string database_url;  // may hold a password: never printed
  runtime::LogLevel log_level = runtime::LogLevel::info;
  bool migrate = false;                     // serve: apply pending migrations first
  bool dry_run = false;                     // migrate up, cleanup
  std::chrono::seconds key_period{21'600};  // migrate partition-keys
  std::chrono::seconds shutdown_grace{20};
  std::chrono::seconds shutdown_delay{0};
  std::chrono::seconds observe_interval{15};
  EngineConfig engine;
  CleanupConfig cleanup;
  http::edge::EdgeConfig edge;  // as the edge takes it
  std::string tls_cert;         // paths; both empty = no TLS
  std::string tls_key;
  std::string tenant_name;           // tenant create, apikey create
  std::string scopes;                // apikey create: "read,write"
  std::string api_key_id;            // apikey revoke
  bool json = false;                 // status
  std::int64_t sample_accounts = 0;  // verify; 0 = everything
  std::string metrics_file;          // verify; empty = none
};

}  // namespace oncepay::cli

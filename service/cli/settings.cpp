#include "cli/settings.hpp"

#include <charconv>
#include <optional>
#include <regex>
#include <stdexcept>

namespace oncepay::cli {
namespace {

constexpr std::int64_t day_ms = 86'400'000;

std::optional<std::int64_t> parse_whole_number(std::string_view text) {
  if (text.empty() || text.size() > 18) return std::nullopt;
  for (const char digit : text) {
    if (digit < '0' || digit > '9') return std::nullopt;
  }
  std::int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

std::string upper(std::string_view text) {
  std::string result;
  for (const char c : text) {
    result += c == '-' ? '_' : (c >= 'a' && c <= 'z') ? static_cast<char>(c - 'a' + 'A') : c;
  }
  return result;
}

}  // namespace

std::string variable_of(std::string_view flag) {
  return "ONCEPAY_" + upper(flag.substr(flag.find_first_not_of('-')));
}

CLI::Option* Settings::add(const std::string& flag, const SettingHelp& help,
                           const std::function<void(const std::string&)>& accept) {
  CLI::Option* option = command_.add_option_function<std::string>(flag, accept, help.meaning);
  option->option_text(help.unit);
  option->default_str(help.default_text);
  return option;
}

void Settings::text(const std::string& flag, std::string& target, SettingHelp help) {
  add(flag, help, [&target](const std::string& value) { target = value; });
}

void Settings::word(const std::string& flag, SettingHelp help,
                    std::function<bool(std::string_view)> accept) {
  const std::string expected = "must be " + help.unit;
  add(flag, help, [flag, expected, accept = std::move(accept)](const std::string& value) {
    if (!accept(value)) throw CLI::ValidationError(flag, expected);
  });
}

void Settings::flag(const std::string& flag, bool& target, const std::string& meaning) {
  // A flag takes no value on the command line, while its variable says on or off.
  CLI::Option* option = command_.add_flag_function(
      flag, [&target](std::int64_t count) { target = count > 0; }, meaning);
  option->default_str("off");
}

void Settings::whole_number(const std::string& flag, std::int64_t default_value, Range range,
                            const std::string& unit, const std::string& meaning,
                            std::function<void(std::int64_t)> accept) {
  const std::string span = std::to_string(range.min) + " to " + std::to_string(range.max);
  const std::string expected = "must be a whole number from " + span + " (" + unit + ")";
  add(flag, {unit, std::to_string(default_value), meaning + " (" + span + ")"},
      [flag, range, expected, accept = std::move(accept)](const std::string& value) {
        const auto number = parse_whole_number(value);
        if (!number || *number < range.min || *number > range.max) {
          throw CLI::ValidationError(flag, expected);
        }
        accept(*number);
      });
}

void add_database_settings(CLI::App& command, Config& config, std::string& url_file) {
  Settings settings(command);
  settings.text(
      "--database-url", config.database_url,
      {"url", "none",
       "postgresql://user@host/name of the primary, or several hosts. Prefer the variable "
       "or the file when it holds a password: everybody on a machine sees command lines"});
  settings.text("--database-url-file", url_file,
                {"path", "none", "a file that holds the URL, for mounted secrets"});
}

namespace {

void add_engine_settings(Settings& settings, EngineConfig& engine) {
  settings.number("--lanes", engine.lanes, {1, 64}, "lanes",
                  "threads that run batches, each with a connection of its own");
  settings.number("--batch-operations-max", engine.batch_operations_max, {1, 10'000}, "operations",
                  "how many operations one transaction takes at most");
  settings.number("--queue-operations-max", engine.queue_operations_max, {1, 1'000'000},
                  "operations", "how many operations wait at most; more are answered 503");
  settings.duration("--lock-timeout", engine.lock_timeout, {1, 60'000},
                    "how long a statement waits for another transaction's rows and keys");
  settings.duration("--statement-timeout", engine.statement_timeout, {1, 3'600'000},
                    "how long a statement may run");
  settings.duration("--answer-deadline", engine.answer_deadline, {1, 3'600'000},
                    "how long a call waits for its answer; then it gets 503 outcome-unknown, "
                    "while the operation goes on");
  settings.duration("--commit-resolve-deadline", engine.commit_resolve_deadline, {1, 3'600'000},
                    "how long the outcome of a COMMIT whose connection was lost is asked for");
  settings.duration("--slow-batch", engine.slow_batch, {1, 3'600'000},
                    "a batch that takes longer is logged with the time of each statement");
  settings.duration("--retention", engine.retention, {1, 10 * 365 * 86'400},
                    "how long a key and its answer live, by the database's clock");
  settings.number("--read-connections", engine.read_connections, {1, 1000}, "connections",
                  "connections for reads, besides one for each lane");
  settings.word("--key-format", {"any|uuid", "any", "which idempotency keys are admitted"},
                [&engine](std::string_view value) {
                  engine.key_format =
                      value == "uuid" ? once::KeyFormat::uuid : once::KeyFormat::any;
                  return value == "uuid" || value == "any";
                });
}

// "01:00-05:00"; the zone is added once all settings are known.
std::optional<once::CleanupWindow> parse_window(std::string_view text) {
  static const std::regex form("([01][0-9]|2[0-3]):[0-5][0-9]-([01][0-9]|2[0-3]):[0-5][0-9]");
  if (!std::regex_match(text.begin(), text.end(), form)) return std::nullopt;
  const std::string begin(text.substr(0, 5)), end(text.substr(6));
  if (begin == end) return std::nullopt;
  return once::CleanupWindow{begin, end, "UTC"};
}

bool parse_listen(std::string_view text, http::edge::ListenAddress& listen) {
  try {
    listen = http::edge::parse_listen(text);
    return true;
  } catch (const std::invalid_argument&) {
    return false;
  }
}

void add_edge_limits(Settings& settings, http::edge::EdgeConfig& edge) {
  settings.number("--head-bytes-max", edge.head_bytes_max, {256, 1'048'576}, "bytes",
                  "request line and fields of one request; longer ones are answered 431");
  settings.number("--fields-max", edge.fields_max, {1, 10'000}, "fields",
                  "header fields of one request; more are answered 431");
  settings.number("--body-bytes-max", edge.body_bytes_max, {1024, 16'777'216}, "bytes",
                  "body of one request; longer ones are answered 413");
  settings.number("--connections-max", edge.connections_max, {1, 1'000'000}, "connections",
                  "open at the same time; then idle ones make room, or new ones are answered 503");
  settings.number("--connections-per-address-max", edge.connections_per_address_max, {1, 1'000'000},
                  "connections", "open at the same time from one address");
  settings.number("--waiting-requests-max", edge.waiting_requests_max, {1, 1'000'000}, "requests",
                  "requests that wait for a thread at most; more are answered 503");
  settings.number("--output-bytes-max", edge.output_bytes_max, {65'536, 67'108'864}, "bytes",
                  "one answer, queued for a slow reader");
  settings.number("--buffered-bytes-max", edge.buffered_bytes_max, {1'048'576, 68'719'476'736},
                  "bytes", "requests and answers of all connections together");
}

void add_edge_settings(Settings& settings, Config& config) {
  http::edge::EdgeConfig& edge = config.edge;
  settings.word("--listen",
                {"host:port or unix:/path?mode=0660", "127.0.0.1:8080",
                 "where to serve; port 0 takes any free one"},
                [&edge](std::string_view value) { return parse_listen(value, edge.listen); });
  add_edge_limits(settings, edge);
  settings.duration("--request-deadline", edge.request_deadline, {1, day_ms},
                    "how long a client may take to send a whole request");
  settings.duration("--idle-deadline", edge.idle_deadline, {1, day_ms},
                    "how long a connection without a request stays open");
  settings.duration("--write-deadline", edge.write_deadline, {1, day_ms},
                    "how long a client may take to read an answer");
  settings.duration("--handshake-deadline", edge.handshake_deadline, {1, day_ms},
                    "how long a client may take to set up TLS");
  settings.number("--http-threads", edge.worker_threads, {1, 256}, "threads",
                  "threads that read whole requests; waiting for an answer takes none");
  settings.text("--tls-cert", config.tls_cert, {"path", "none", "certificate chain in PEM"});
  settings.text("--tls-key", config.tls_key, {"path", "none", "its private key in PEM"});
}

}  // namespace

void add_serve_settings(CLI::App& command, Config& config) {
  Settings settings(command);
  settings.flag("--migrate", config.migrate, "apply pending migrations before serving");
  add_edge_settings(settings, config);
  add_engine_settings(settings, config.engine);
  settings.word("--cleanup", {"on|off", "on", "remove expired keys in the background"},
                [&config](std::string_view value) {
                  config.cleanup.enabled = value == "on";
                  return value == "on" || value == "off";
                });
  settings.duration("--cleanup-interval", config.cleanup.interval, {1, 86'400},
                    "pause between two runs");
  settings.number("--cleanup-jitter", config.cleanup.jitter_percent, {0, 100}, "percent",
                  "by how much the pause varies either way");
  settings.number("--cleanup-batch-size", config.cleanup.batch_rows, {1, 100'000}, "rows",
                  "keys removed in one transaction");
  settings.duration("--cleanup-pause", config.cleanup.pause, {0, 60'000},
                    "pause between two batches");
  settings.number("--cleanup-rows-per-second", config.cleanup.rows_per_second_max, {0, 10'000'000},
                  "rows", "keys removed in a second at most; 0 = as fast as the pauses allow");
  settings.duration("--cleanup-payments-within", config.cleanup.payments_within, {0, 60'000},
                    "while 1 payment in 100 takes longer, pauses double up to 5 s; 0 = never");
  settings.word("--cleanup-window",
                {"HH:MM-HH:MM|always", "always",
                 "when keys are removed, by the database's clock; outside of it only what is "
                 "over --cleanup-backlog-max"},
                [&config](std::string_view value) {
                  config.cleanup.window = parse_window(value);
                  return config.cleanup.window.has_value() || value == "always";
                });
  settings.text("--cleanup-zone", config.cleanup.zone,
                {"name", "UTC", "time zone of the window, as PostgreSQL names it: Europe/Berlin"});
  settings.number("--cleanup-backlog-max", config.cleanup.backlog_max, {0, 10'000'000}, "rows",
                  "expired keys that may wait for the window to open");
  settings.duration("--observe-interval", config.observe_interval, {1, 3600},
                    "pause between two looks at the database's state, for /metrics");
  settings.duration("--shutdown-grace", config.shutdown_grace, {1, 3600},
                    "after SIGTERM: how long running payments may take to finish");
  settings.duration("--shutdown-delay", config.shutdown_delay, {0, 3600},
                    "after SIGTERM: how long new connections are taken at least, to be told 503");
  settings.word("--log-level",
                {"debug|info|warning|error", "info",
                 "the least that is logged; SIGUSR1 turns debug lines on and off"},
                [&config](std::string_view value) {
                  using enum runtime::LogLevel;
                  if (value == "debug") config.log_level = debug;
                  if (value == "info") config.log_level = info;
                  if (value == "warning") config.log_level = warning;
                  if (value == "error") config.log_level = error;
                  return value == "debug" || value == "info" || value == "warning" ||
                         value == "error";
                });
}

void add_cleanup_settings(CLI::App& command, Config& config) {
  Settings settings(command);
  settings.number("--batch-size", config.cleanup.batch_rows, {1, 100'000}, "rows",
                  "keys removed in one transaction");
  settings.number("--max-batches", config.cleanup.batches_max, {0, 1'000'000'000}, "batches",
                  "end after so many; 0 = when nothing expired is left");
  settings.flag("--dry-run", config.dry_run, "count what is expired, remove nothing");
}

}  // namespace oncepay::cli

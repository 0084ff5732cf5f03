#include <chrono>
#include <cstdlib>
#include <memory>
#include <stop_token>
#include <utility>

#include "access/authenticator.hpp"
#include "cli/commands.hpp"
#include "cli/connections.hpp"
#include "cli/instance_metrics.hpp"
#include "cli/operator_error.hpp"
#include "cli/schema.hpp"
#include "db/pool.hpp"
#include "http/edge/server.hpp"
#include "http/edge_metrics.hpp"
#include "http/problem.hpp"
#include "http/render.hpp"
#include "http/routes.hpp"
#include "once/cleanup.hpp"
#include "once/engine.hpp"
#include "once/key_periods.hpp"
#include "once/observation.hpp"
#include "payments/executors.hpp"
#include "runtime/descriptors.hpp"
#include "runtime/log.hpp"
#include "runtime/metrics.hpp"
#include "runtime/signals.hpp"
#include "runtime/thread_pool.hpp"
#include "runtime/version.hpp"

namespace oncepay::cli {

using std::chrono::milliseconds;

namespace {

constexpr std::size_t descriptors_besides = 256;   // database, log, listener and the like
constexpr std::size_t door_threads = 2;            // each with a connection
constexpr milliseconds read_wait{2'000};           // for a free connection to read on
constexpr std::size_t blocking_queue_max = 4'096;  // calls that wait for a read
constexpr milliseconds api_key_remembered{5'000};  // a revoked key works that much longer at most
constexpr std::size_t api_keys_remembered_max = 10'000;

once::EngineSettings engine_settings(const Config& config) {
  once::EngineSettings settings;
  settings.database = connection_settings(config, "lane");
  settings.lanes = config.engine.lanes;
  settings.batch_operations_max = config.engine.batch_operations_max;
  settings.queue_operations_max = config.engine.queue_operations_max;
  settings.retention = config.engine.retention;
  settings.answer_deadline = config.engine.answer_deadline;
  settings.commit_resolve_deadline = config.engine.commit_resolve_deadline;
  settings.slow_batch = config.engine.slow_batch;
  return settings;
}

db::ConnectionSettings read_settings(const Config& config, const char* purpose) {
  db::ConnectionSettings settings = connection_settings(config, purpose);
  settings.read_only_will_do = true;
  return settings;
}

http::edge::EdgeConfig edge_config(const Config& config) {
  http::edge::EdgeConfig edge = config.edge;
  if (!config.tls_cert.empty()) edge.tls = {config.tls_cert, config.tls_key};
  edge.refuse = http::refuse;
  return edge;
}

once::CleanupThread::Settings cleanup_settings(const Config& config) {
  once::CleanupThread::Settings settings;
  settings.database = connection_settings(config, "cleanup");
  settings.run.pace.batch_size = config.cleanup.batch_rows;
  settings.run.pace.pause = config.cleanup.pause;
  settings.run.pace.rows_per_second_max = config.cleanup.rows_per_second_max;
  settings.run.pace.payments_within = config.cleanup.payments_within;
  settings.window = config.cleanup.window;
  settings.backlog_max = config.cleanup.backlog_max;
  settings.interval = config.cleanup.interval;
  settings.jitter_percent = config.cleanup.jitter_percent;
  return settings;
}

// Only the database knows which zones there are.
void check_cleanup_zone(const Config& config, db::Connection& connection) {
  if (!config.cleanup.window) return;
  try {
    once::is_open(*config.cleanup.window, connection);
  } catch (const db::StatementError&) {
    throw OperatorError("--cleanup-zone: the database knows no such time zone",
                        "name one as pg_timezone_names has it, such as Europe/Berlin", exit_usage);
  }
}

bool ends(runtime::Signal signal) {
  return signal == runtime::Signal::terminate || signal == runtime::Signal::interrupt;
}

// Between debug and the level of the settings. Said at the more talkative one of the two.
void toggle_debug_lines(runtime::Log& log, runtime::LogLevel usual) {
  const bool debugging = log.enabled(runtime::LogLevel::debug);
  log.set_level(runtime::LogLevel::debug);
  log.info("log level", {{"to", name_of(debugging ? usual : runtime::LogLevel::debug)}});
  if (debugging) log.set_level(usual);
}

// Everything that serves, in the order in which it depends on each other; it ends the other way
// round.
class Instance {
 public:
  Instance(const Config& config, runtime::Log& log)
      : config_(config),
        log_(log),
        reads_(read_settings(config, "reads"), config.engine.read_connections, read_wait),
        door_reads_(read_settings(config, "door"), door_threads, read_wait),
        authenticator_(door_reads_, api_key_remembered, api_keys_remembered_max),
        payments_(http::make_renderers(), metrics_),
        accounts_(http::make_renderers(), metrics_),
        engine_(engine_settings(config), door_reads_, log, metrics_),
        blocking_(config.engine.read_connections, blocking_queue_max),
        door_(door_threads, blocking_queue_max),
        routes_({engine_, reads_, authenticator_, blocking_, door_, log, metrics_, payments_,
                 accounts_},
                {.key_format = config.engine.key_format}),
        server_(edge_config(config), routes_) {
    http::export_edge_counters(server_.counters(), metrics_);
    export_process(metrics_);
    export_pool("reads", reads_, metrics_);
    export_pool("door", door_reads_, metrics_);
    observer_ = std::make_unique<once::Observer>(reads_, config.observe_interval, log, metrics_);
    if (config.cleanup.enabled) {
      auto settings = cleanup_settings(config);
      settings.run.payments_p99 = [this] { return engine_.take_recent_p99(); };
      cleanup_ = std::make_unique<once::CleanupThread>(std::move(settings), log, metrics_);
    }
  }

  void start() {
    server_.start();
    http::edge::ListenAddress address = config_.edge.listen;
    if (server_.port() != 0) address.port = server_.port();
    log_.info("listening", {{"address", http::edge::to_string(address)},
                            {"version", runtime::release_version()}});
  }

  void reload() {
    if (const auto fault = server_.reload_tls()) {
      log_.error("certificate not reloaded, the old one stays", {{"what", *fault}});
    } else {
      log_.info("reloaded");
    }
  }

  // New work is refused at once, what runs is answered. False: not within the grace period.
  bool drain(runtime::Signals& signals) {
    log_.info("draining", {{"grace_s", config_.shutdown_grace.count()}});
    const auto now = std::chrono::steady_clock::now();
    const auto until = now + config_.shutdown_grace;
    engine_.drain();
    // While payments run, new connections still learn from /readyz and from 503 that this instance
    // leaves, and that longer if whoever balances the load needs it.
    server_.drain(config_.shutdown_grace);
    bool accepting = true;
    while (!server_.wait_drained(milliseconds(0))) {
      if (std::chrono::steady_clock::now() >= until) return false;
      const auto signal = signals.wait(milliseconds(20));
      if (signal && ends(*signal)) return false;
      if (accepting && std::chrono::steady_clock::now() >= now + config_.shutdown_delay &&
          engine_.wait_idle(now)) {
        server_.drain(milliseconds(0));
        accepting = false;
      }
    }
    return engine_.wait_idle(until);
  }

 private:
  const Config& config_;
  runtime::Log& log_;
  runtime::Metrics metrics_;
  db::Pool reads_;
  db::Pool door_reads_;  // apart, so that slow reads never keep a payment from being let in
  access::Authenticator authenticator_;
  payments::PaymentExecutor payments_;
  payments::AccountExecutor accounts_;
  once::Engine engine_;
  runtime::ThreadPool blocking_;
  runtime::ThreadPool door_;
  http::Routes routes_;
  http::edge::Server server_;
  std::unique_ptr<once::CleanupThread> cleanup_;
  std::unique_ptr<once::Observer> observer_;
};

}  // namespace

int run_serve(const Config& config) {
  runtime::Signals signals;
  runtime::Log log(config.log_level);
  if (config.migrate) migrate_up(config, log);
  {
    db::Connection connection(connection_settings(config, "schema"));
    check_schema(connection);
    check_cleanup_zone(config, connection);
    // Also shows at once that the role was granted less than this release needs.
    if (once::uses_key_periods(connection)) log.info("keys are kept in periods");
    if (connection.pooled()) {
      log.info("a pooler is in between: settings come with each transaction, nothing is prepared");
    }
  }

  const std::size_t wanted = config.edge.connections_max + descriptors_besides;
  const std::size_t allowed = runtime::allow_descriptors(wanted);
  if (allowed < wanted) {
    log.warning("fewer file descriptors than connections_max needs",
                {{"allowed", allowed}, {"wanted", wanted}});
  }
  Instance instance(config, log);
  runtime::ignore_broken_pipes();  // again: a library may have taken it back
  instance.start();
  for (;;) {
    const auto signal = signals.wait(std::chrono::hours(1));
    if (signal == runtime::Signal::hang_up) instance.reload();
    if (signal == runtime::Signal::user_1) toggle_debug_lines(log, config.log_level);
    if (signal && ends(*signal)) break;
  }
  if (!instance.drain(signals)) {
    // What still runs waits for the database, and nothing here can hurry it. Leaving is safe at any
    // instruction: it commits as a whole or not at all, and its key tells.
    log.warning("stopped with payments under way; their keys tell what became of them");
    std::_Exit(0);
  }
  log.info("stopped");
  return 0;
}

}  // namespace oncepay::cli

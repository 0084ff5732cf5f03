// The routes: from a whole request to its answer, in the contract's order of precedence.
//
// handle() decides what needs no round trip on the caller's thread and hands the rest on: reads and
// unknown API keys to the blocking pool, operations to the engine. It never waits. When the engine
// cannot take an operation, the database is asked whether its key is known before the client is
// told to come back.
//
// What the contract leaves open is decided here and beside it: other methods than POST, GET and
// HEAD need any valid API key (then 404, 405 or 204); query errors carry the pointer `?name`
// (query.hpp); an id or key in a path that cannot exist is 404; the segment behind
// /v1/idempotency-keys/ is the decoded key itself, percent-encoded once; health, readiness and
// metrics refuse query parameters too.
//
// Threads: handle() from any; replies come from the caller's thread, the pool or a lane. Errors:
// never throws; see Exchange::fail. To end: stop the edge, drain the engine and wait for it, end()
// the routes, destroy the pool, the engine, and the routes last: what is still queued in the engine
// is answered while it ends.
// Source: contract, "Who gets which answer"; RFC 9110; RFC 7240 (Prefer).
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "access/authenticator.hpp"
#include "db/pool.hpp"
#include "http/exchange.hpp"
#include "http/message.hpp"
#include "http/paths.hpp"
#include "once/engine.hpp"
#include "once/executor.hpp"
#include "once/key.hpp"
#include "runtime/log.hpp"
#include "runtime/metrics.hpp"
#include "runtime/thread_pool.hpp"

namespace oncepay::http {

struct RoutesSettings {
  once::KeyFormat key_format = once::KeyFormat::any;
  AnswerLog::Lines access_log = AnswerLog::Lines::on;
};

// What the routes work with; all of it outlives them.
struct RoutesParts {
  once::Engine& engine;
  db::Pool& reads;
  access::Authenticator& authenticator;
  runtime::ThreadPool& blocking;
  runtime::Log& log;
  runtime::Metrics& metrics;
  once::Executor& payments;
  once::Executor& accounts;
};

class Routes final : public Handler {
 public:
  Routes(RoutesParts parts, RoutesSettings settings);

  void handle(Request request, Reply reply) override;

  // From now on nothing goes to the blocking pool: what would need it is told to come back.
  void end();

 private:
  // routes.cpp: who is asking, and for what
  void begin(const ExchangePtr& exchange);
  void serve_public(const ExchangePtr& exchange, Route route);
  void enter(const ExchangePtr& exchange, const std::optional<access::Caller>& caller);
  void dispatch(const ExchangePtr& exchange, const RouteMatch& match);

  // operations.cpp: calls under an idempotency key
  void submit(const ExchangePtr& exchange, Route route);
  void resolve(const ExchangePtr& exchange, const std::shared_ptr<once::Operation>& asked,
               once::Resolution resolution);
  void look_up(const ExchangePtr& exchange, const std::shared_ptr<once::Operation>& asked,
               ProblemKind otherwise);

  // reads.cpp: each on a thread of the blocking pool
  void read(const ExchangePtr& exchange, const RouteMatch& match);
  void read_payments(Exchange& exchange);
  void read_payment(Exchange& exchange, std::string_view segment);
  void read_account(Exchange& exchange, std::string_view segment);
  void read_entries(Exchange& exchange, std::string_view segment);
  void read_key(Exchange& exchange, std::string_view segment);

  // Runs `work` in the blocking pool, or answers `otherwise`. What it throws is answered.
  void post(const ExchangePtr& exchange, ProblemKind otherwise, std::function<void()> work);

  RoutesParts parts_;
  RoutesSettings settings_;
  AnswerLog answers_;
  std::mutex posting_;
  bool ended_ = false;  // under posting_
};

// Runs `work`; whatever it throws becomes the exchange's answer.
template <class Work>
void answering_failures(const ExchangePtr& exchange, Work&& work) {
  try {
    work();
  } catch (const std::exception& error) {
    exchange->fail(error);
  }
}

}  // namespace oncepay::http

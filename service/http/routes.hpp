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
// never throws; a fault is answered 500 and logged (Exchange::fail). Ending: stop the edge, then
// destroy the routes, the pool and the engine in this order, which is the natural one. What is
// still under way by then is answered while the pool and the engine end.
// Source: contract, "Who gets which answer"; RFC 9110; RFC 7240 (Prefer).
#pragma once

#include <memory>

#include "access/authenticator.hpp"
#include "db/pool.hpp"
#include "http/exchange.hpp"
#include "http/message.hpp"
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

// What the routes work with; all of it outlives them, and the pool and the engine also end before
// the rest.
struct RoutesParts {
  once::Engine& engine;
  db::Pool& reads;
  access::Authenticator& authenticator;
  runtime::ThreadPool& blocking;  // for reads
  runtime::ThreadPool& door;      // for what a payment may wait for: API keys and look-ups
  runtime::Log& log;
  runtime::Metrics& metrics;
  once::Executor& payments;
  once::Executor& accounts;
};

class Dispatch;

class Routes final : public Handler {
 public:
  Routes(RoutesParts parts, RoutesSettings settings);
  ~Routes() override;  // from now on nothing goes to the pool or the engine any more
  Routes(const Routes&) = delete;
  Routes& operator=(const Routes&) = delete;

  void handle(Request request, Reply reply) override;
  [[nodiscard]] bool is_quick() const override { return true; }

 private:
  std::shared_ptr<Dispatch> dispatch_;  // shared with everything that is under way
};

}  // namespace oncepay::http

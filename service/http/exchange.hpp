// One request under way, from its arrival to its one answer.
//
// Whoever holds an exchange answers it: at once, from the blocking pool, or from a lane. The first
// answer counts; if the last holder lets go without one, the client still gets an honest error.
// Each answer is completed here with what belongs to this exchange alone (X-Request-Id,
// Cache-Control), and counted and logged by AnswerLog: one JSON line, and
// `oncepay_http_answers_total{route,status,problem}`.
//
// Deliberately not here: what to answer. HEAD: the answer is that of GET, body and all; whoever
// writes the bytes leaves the body out and keeps its length.
//
// Threads: an exchange is handed from thread to thread, one at a time. AnswerLog: any.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "http/message.hpp"
#include "http/problem.hpp"
#include "http/trace.hpp"
#include "runtime/log.hpp"
#include "runtime/metrics.hpp"

namespace oncepay::http {

// In the metrics' `problem` label, where an answer is no problem.
inline constexpr std::string_view no_problem = "none";

struct AnswerFacts {
  std::string_view request_id;
  std::string_view tenant_id;  // empty: not known
  std::string_view key_hash;   // short_hash of the idempotency key; empty: none
  const TraceParent& trace;    // empty ids: none
  std::string_view method;
  std::string_view route;  // a template, never a path
  int status;
  std::string_view problem;
  bool replayed;
  std::chrono::steady_clock::duration took;
};

class AnswerLog {
 public:
  enum class Lines { off, on };

  AnswerLog(runtime::Log& log, runtime::Metrics& metrics, Lines lines);
  void record(const AnswerFacts& facts);
  // For what a client must not see. The request id ties it to the client's answer.
  void fault(std::string_view request_id, const TraceParent& trace, std::string_view route,
             const std::exception& error);

 private:
  // Route, status, problem: constants and a few numbers, so there are never many.
  using Kind = std::tuple<std::string_view, int, std::string_view>;
  struct Counted {
    runtime::Counter answers;
    runtime::Histogram seconds;  // of the route
  };
  Counted& counted(const Kind& kind);

  runtime::Log& log_;
  runtime::Metrics& metrics_;
  Lines lines_;
  std::mutex mutex_;
  std::map<Kind, Counted> counted_;
  runtime::Counter replays_;
};

class Exchange {
 public:
  Exchange(Request request, Reply reply, std::shared_ptr<AnswerLog> log);
  ~Exchange();
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  [[nodiscard]] const Request& request() const { return request_; }
  [[nodiscard]] const std::string& request_id() const { return request_id_; }

  void set_route(std::string_view route_template) { route_ = route_template; }
  void set_tenant(std::string tenant_id) { tenant_id_ = std::move(tenant_id); }
  void set_key_hash(std::string key_hash) { key_hash_ = std::move(key_hash); }
  [[nodiscard]] const std::string& tenant_id() const { return tenant_id_; }

  void answer(Response response, std::string_view problem_label = no_problem);
  void refuse(const Problem& problem);
  void refuse(ProblemKind kind) { refuse(Problem{.kind = kind}); }
  // Answers 500 or, where the database is away, 503; logs what happened. Never shows what() to the
  // client.
  void fail(const std::exception& error);

 private:
  Request request_;
  Reply reply_;  // empty once used
  std::shared_ptr<AnswerLog> log_;
  std::chrono::steady_clock::time_point begun_;
  std::string request_id_;
  TraceParent trace_;
  std::string_view route_ = "other";
  std::string tenant_id_;
  std::string key_hash_;
};

using ExchangePtr = std::shared_ptr<Exchange>;

}  // namespace oncepay::http

// What stands behind Routes: every step of a request, shared with whoever carries one on.
//
// Deliberately not here: the rules (admission, paths, query). Only http/routes.cpp, operations.cpp
// and reads.cpp include this.
//
// Threads: any; a step belongs to the thread that holds its exchange.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include "http/exchange.hpp"
#include "http/paths.hpp"
#include "http/routes.hpp"

namespace oncepay::http {

class Dispatch : public std::enable_shared_from_this<Dispatch> {
 public:
  Dispatch(RoutesParts parts, RoutesSettings settings);

  void handle(Request request, Reply reply);

  // Returns once nothing will be posted to the pool any more. What would need it is told to come
  // back.
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
  void look_up_waiting();

  // reads.cpp: each on a thread of the blocking pool
  void read(const ExchangePtr& exchange, const RouteMatch& match);
  void read_payments(Exchange& exchange);
  void read_payment(Exchange& exchange, std::string_view segment);
  void read_account(Exchange& exchange, std::string_view segment);
  void read_entries(Exchange& exchange, std::string_view segment);
  void read_key(Exchange& exchange, std::string_view segment);

  // Runs `work` in the pool, or answers `otherwise`. What it throws is answered.
  void post(runtime::ThreadPool& pool, const ExchangePtr& exchange, ProblemKind otherwise,
            std::function<void()> work);
  bool enqueue(runtime::ThreadPool& pool, std::function<void()> task);

  // A call that was not taken, whose key may have been completed before.
  struct LookUp {
    ExchangePtr exchange;
    std::shared_ptr<once::Operation> asked;
    ProblemKind otherwise;
  };

  RoutesParts parts_;
  RoutesSettings settings_;
  std::shared_ptr<AnswerLog> answers_;
  std::mutex posting_;
  bool ended_ = false;  // under posting_
  std::mutex looking_;
  std::vector<LookUp> look_ups_;  // under looking_
  bool look_up_posted_ = false;   // under looking_: a thread will take all that wait
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

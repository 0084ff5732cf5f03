#include "http/exchange.hpp"

#include <algorithm>
#include <stdexcept>
#include <typeinfo>

#include "db/errors.hpp"
#include "http/fields.hpp"

namespace oncepay::http {
namespace {

// Methods come from clients: in a log line they are cut, so that nobody fills disks with them.
constexpr std::size_t logged_method_length_max = 16;

std::vector<double> seconds_bounds() {
  return {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30};
}

// A read in doubt changed nothing: its connection was lost, no more.
bool is_database_away(const std::exception& error) {
  return dynamic_cast<const db::TransientError*>(&error) != nullptr ||
         dynamic_cast<const db::InDoubtError*>(&error) != nullptr;
}

}  // namespace

AnswerLog::AnswerLog(runtime::Log& log, runtime::Metrics& metrics, Lines lines)
    : log_(log),
      metrics_(metrics),
      lines_(lines),
      replays_(metrics.counter("oncepay_http_replays_total", "Answers that were replays")) {}

AnswerLog::Counted& AnswerLog::counted(const Kind& kind) {
  const std::lock_guard lock(mutex_);
  const auto known = counted_.find(kind);
  if (known != counted_.end()) return known->second;
  const auto& [route, status, problem] = kind;
  const std::string name(route);
  auto answers = metrics_.counter(
      "oncepay_http_answers_total", "Answers by route, status and problem",
      {{"route", name}, {"status", std::to_string(status)}, {"problem", std::string(problem)}});
  auto seconds = metrics_.histogram("oncepay_http_answer_seconds",
                                    "Time from a whole request to its answer, by route",
                                    seconds_bounds(), {{"route", name}});
  return counted_.emplace(kind, Counted{answers, seconds}).first->second;
}

void AnswerLog::record(const AnswerFacts& facts) {
  Counted& counted_for_kind = counted({facts.route, facts.status, facts.problem});
  counted_for_kind.answers.add();
  counted_for_kind.seconds.observe(std::chrono::duration<double>(facts.took).count());
  if (facts.replayed) replays_.add();
  if (lines_ == Lines::off || !log_.enabled(runtime::LogLevel::info)) return;
  log_.info("answered", {{"request_id", facts.request_id},
                         {"trace_id", facts.trace.trace_id},
                         {"parent_id", facts.trace.parent_id},
                         {"tenant", facts.tenant_id},
                         {"key_hash", facts.key_hash},
                         {"method", facts.method.substr(0, logged_method_length_max)},
                         {"route", facts.route},
                         {"status", facts.status},
                         {"problem", facts.problem},
                         {"replayed", facts.replayed},
                         {"ms", std::chrono::duration<double, std::milli>(facts.took).count()}});
}

void AnswerLog::fault(std::string_view request_id, const TraceParent& trace, std::string_view route,
                      const std::exception& error) {
  // Texts of db errors and of our own bugs hold no values; those of other exceptions might.
  const bool may_be_logged = is_database_away(error) ||
                             dynamic_cast<const db::StatementError*>(&error) != nullptr ||
                             dynamic_cast<const std::logic_error*>(&error) != nullptr;
  // A database that is away is an incident of its own, not one for each request.
  const auto level =
      is_database_away(error) ? runtime::LogLevel::warning : runtime::LogLevel::error;
  log_.write(level, "request failed",
             {{"request_id", request_id},
              {"trace_id", trace.trace_id},
              {"route", route},
              {"error_type", typeid(error).name()},
              {"error", may_be_logged ? error.what() : ""}});
}

Exchange::Exchange(Request request, Reply reply, std::shared_ptr<AnswerLog> log)
    : request_(std::move(request)),
      reply_(std::move(reply)),
      log_(std::move(log)),
      begun_(std::chrono::steady_clock::now()),
      request_id_(request_id_for(request_)),
      trace_(trace_parent_of(request_).value_or(TraceParent{})) {}

Exchange::~Exchange() {
  // Only a POST can have been executed, and for it nobody knows.
  if (reply_)
    refuse(request_.method == "POST" ? ProblemKind::outcome_unknown : ProblemKind::internal);
}

void Exchange::answer(Response response, std::string_view problem_label) {
  if (!reply_) return;
  const Reply reply = std::exchange(reply_, nullptr);
  response.set("X-Request-Id", request_id_);
  response.set("Cache-Control", "no-store");
  const int status = response.status;
  const auto is_replay_mark = [](const Header& header) {
    return header.name == "Idempotent-Replayed";
  };
  const bool replayed =
      std::any_of(response.headers.begin(), response.headers.end(), is_replay_mark);
  reply(std::move(response));
  log_->record({.request_id = request_id_,
                .tenant_id = tenant_id_,
                .key_hash = key_hash_,
                .trace = trace_,
                .method = request_.method,
                .route = route_,
                .status = status,
                .problem = problem_label,
                .replayed = replayed,
                .took = std::chrono::steady_clock::now() - begun_});
}

void Exchange::refuse(const Problem& problem) {
  answer(problem_response(problem, request_id_), slug_of(problem.kind));
}

void Exchange::fail(const std::exception& error) {
  log_->fault(request_id_, trace_, route_, error);
  refuse(is_database_away(error) ? ProblemKind::unavailable : ProblemKind::internal);
}

}  // namespace oncepay::http

#include "http/routes.hpp"

#include "http/admission.hpp"
#include "http/dispatch.hpp"
#include "http/fields.hpp"
#include "http/query.hpp"
#include "http/render.hpp"

namespace oncepay::http {
namespace {

Response json_response(int status, std::string body) {
  Response response;
  response.status = status;
  response.set("Content-Type", json_media_type);
  response.body = std::move(body);
  return response;
}

Response options_response(Route route) {
  Response response;
  response.status = 204;
  response.set("Allow", allowed_methods(route));
  return response;
}

}  // namespace

Routes::Routes(RoutesParts parts, RoutesSettings settings)
    : dispatch_(std::make_shared<Dispatch>(parts, settings)) {}

Routes::~Routes() { dispatch_->end(); }

void Routes::handle(Request request, Reply reply) {
  dispatch_->handle(std::move(request), std::move(reply));
}

Dispatch::Dispatch(RoutesParts parts, RoutesSettings settings)
    : parts_(parts),
      settings_(settings),
      answers_(std::make_shared<AnswerLog>(parts.log, parts.metrics, settings.access_log)) {}

void Dispatch::handle(Request request, Reply reply) {
  const auto exchange = std::make_shared<Exchange>(std::move(request), std::move(reply), answers_);
  answering_failures(exchange, [&] { begin(exchange); });
}

void Dispatch::begin(const ExchangePtr& exchange) {
  const auto path = split_target(exchange->request().target).path;
  const auto match = match_route(path);
  if (match) exchange->set_route(template_of(match->route));

  if (!needs_api_key(path)) {
    if (const auto problem = check_method(match, exchange->request().method))
      return exchange->refuse(*problem);
    return serve_public(exchange, match->route);
  }

  const auto api_key = bearer_token(exchange->request());
  if (!api_key) return exchange->refuse(ProblemKind::unauthorized);
  if (const auto known = parts_.authenticator.remembered(*api_key))
    return enter(exchange, known->caller);
  post(parts_.door, exchange, ProblemKind::overloaded,
       [self = shared_from_this(), exchange, api_key = *api_key] {
         self->enter(exchange, self->parts_.authenticator.authenticate(api_key));
       });
}

void Dispatch::serve_public(const ExchangePtr& exchange, Route route) {
  if (exchange->request().method == "OPTIONS") return exchange->answer(options_response(route));
  auto errors = Query(split_target(exchange->request().target).query).finish();
  if (!errors.empty())
    return exchange->refuse({.kind = ProblemKind::invalid_request, .errors = std::move(errors)});
  if (route == Route::health) return exchange->answer(json_response(200, R"({"status":"ok"})"));
  if (route == Route::readiness) {
    if (!parts_.engine.ready() || !parts_.authenticator.ready())
      return exchange->refuse(ProblemKind::unavailable);
    return exchange->answer(json_response(200, R"({"status":"ready"})"));
  }
  Response response;
  response.status = 200;
  response.set("Content-Type", "text/plain; version=0.0.4; charset=utf-8");
  response.body = parts_.metrics.text();
  exchange->answer(std::move(response));
}

void Dispatch::enter(const ExchangePtr& exchange, const std::optional<access::Caller>& caller) {
  if (!caller) return exchange->refuse(ProblemKind::unauthorized);
  exchange->set_tenant(caller->tenant_id);
  const auto& request = exchange->request();
  if (const auto problem = check_scope(caller->scopes, request.method))
    return exchange->refuse(*problem);
  const auto match = match_route(split_target(request.target).path);
  if (const auto problem = check_method(match, request.method)) return exchange->refuse(*problem);
  dispatch(exchange, *match);
}

void Dispatch::dispatch(const ExchangePtr& exchange, const RouteMatch& match) {
  const auto& method = exchange->request().method;
  if (method == "OPTIONS") return exchange->answer(options_response(match.route));
  if (method == "POST") return submit(exchange, match.route);
  read(exchange, match);
}

void Dispatch::end() {
  const std::lock_guard lock(posting_);
  ended_ = true;
}

void Dispatch::post(runtime::ThreadPool& pool, const ExchangePtr& exchange, ProblemKind otherwise,
                    std::function<void()> work) {
  auto task = [exchange, work = std::move(work)] { answering_failures(exchange, work); };
  if (!enqueue(pool, std::move(task))) exchange->refuse(otherwise);
}

bool Dispatch::enqueue(runtime::ThreadPool& pool, std::function<void()> task) {
  // Held while posting, so that nothing is posted any more once end() has returned.
  const std::lock_guard lock(posting_);
  return !ended_ && pool.post(std::move(task));
}

}  // namespace oncepay::http

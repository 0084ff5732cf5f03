// Calls under an idempotency key: into the engine, and every way in which they come out of it.
#include "http/admission.hpp"
#include "http/dispatch.hpp"
#include "http/render.hpp"
#include "runtime/digest.hpp"

namespace oncepay::http {
namespace {

template <class... Cases>
struct Switch : Cases... {
  using Cases::operator()...;
};
template <class... Cases>
Switch(Cases...) -> Switch<Cases...>;

Response response_of(once::Answer answer) {
  Response response;
  response.status = answer.status;
  response.set("Content-Type", answer.content_type);
  if (answer.location) response.set("Location", *answer.location);
  response.body = std::move(answer.body);
  return response;
}

// What metrics and log call an answer of an executor, fresh or stored.
std::string_view problem_label(const once::Answer& answer) {
  const auto slug = slug_in(answer.body);
  return slug.empty() ? no_problem : slug;
}

void answer_stored(Exchange& exchange, once::Answered answered) {
  const auto label = problem_label(answered.answer);
  Response response = response_of(std::move(answered.answer));
  if (answered.replayed) response.set("Idempotent-Replayed", "true");
  exchange.answer(std::move(response), label);
}

constexpr std::size_t look_ups_max = 1024;  // calls that wait to be looked up; more are refused

// What an operation's copy needs to be looked up; its payload stays with the engine.
std::shared_ptr<once::Operation> without_payload(const once::Operation& operation) {
  auto copy = std::make_shared<once::Operation>();
  copy->tenant_id = operation.tenant_id;
  copy->key = operation.key;
  copy->identity = operation.identity;
  copy->fingerprint = operation.fingerprint;
  copy->executor = operation.executor;
  return copy;
}

}  // namespace

void Dispatch::submit(const ExchangePtr& exchange, Route route) {
  auto read =
      read_operation(exchange->request(), route, settings_.key_format, exchange->request_id());
  if (const auto* problem = std::get_if<Problem>(&read)) return exchange->refuse(*problem);
  auto& admitted = std::get<AdmittedOperation>(read);
  exchange->set_key_hash(runtime::short_hash(admitted.key));

  once::Operation operation;
  operation.tenant_id = exchange->tenant_id();
  operation.key = std::move(admitted.key);
  operation.identity = std::move(admitted.identity);
  operation.fingerprint = std::move(admitted.fingerprint);
  operation.executor = route == Route::payments ? &parts_.payments : &parts_.accounts;
  operation.payload = std::move(admitted.payload);
  const auto asked = without_payload(operation);
  parts_.engine.submit(std::move(operation), admitted.wait,
                       [self = shared_from_this(), exchange, asked](once::Resolution resolution) {
                         answering_failures(exchange, [&] {
                           self->resolve(exchange, asked, std::move(resolution));
                         });
                       });
}

void Dispatch::resolve(const ExchangePtr& exchange, const std::shared_ptr<once::Operation>& asked,
                       once::Resolution resolution) {
  std::visit(
      Switch{
          [&](once::Answered& answered) { answer_stored(*exchange, std::move(answered)); },
          [&](once::NotDone& refused) {
            const auto label = problem_label(refused.answer);
            exchange->answer(response_of(std::move(refused.answer)), label);
          },
          [&](const once::Mismatch& mismatch) {
            exchange->refuse({.kind = ProblemKind::idempotency_key_reused,
                              .payment_id = std::string(payment_id_in(mismatch.resource_id))});
          },
          [&](const once::InProgress&) { exchange->refuse(ProblemKind::request_in_progress); },
          [&](const once::Overloaded&) { look_up(exchange, asked, ProblemKind::overloaded); },
          [&](const once::Unavailable&) { look_up(exchange, asked, ProblemKind::unavailable); },
          [&](const once::Failed&) { exchange->refuse(ProblemKind::internal); },
          [&](const once::OutcomeUnknown&) { exchange->refuse(ProblemKind::outcome_unknown); },
      },
      resolution);
}

// Nothing was claimed. The key may have been completed before, though, and then its answer is due
// (row 10 of the table). Calls are refused in crowds, when the service can do the least: whoever
// looks up takes all that wait by then, so that the crowd costs a round trip and not one each.
// `asked` is null when this is the answer to a look-up already.
void Dispatch::look_up(const ExchangePtr& exchange, const std::shared_ptr<once::Operation>& asked,
                       ProblemKind otherwise) {
  if (!asked) return exchange->refuse(otherwise);
  {
    const std::lock_guard lock(looking_);
    if (look_ups_.size() < look_ups_max) {
      look_ups_.push_back({exchange, asked, otherwise});
      if (look_up_posted_) return;
      look_up_posted_ =
          enqueue(parts_.door, [self = shared_from_this()] { self->look_up_waiting(); });
      if (look_up_posted_) return;
      look_ups_.pop_back();
    }
  }
  exchange->refuse(otherwise);
}

void Dispatch::look_up_waiting() {
  std::vector<LookUp> calls;
  {
    const std::lock_guard lock(looking_);
    calls.swap(look_ups_);
    look_up_posted_ = false;
  }
  std::vector<const once::Operation*> operations;
  for (const LookUp& call : calls) operations.push_back(call.asked.get());
  std::vector<std::optional<once::Resolution>> known;
  try {
    known = parts_.engine.look_up(operations);
  } catch (const std::exception& error) {
    for (const LookUp& call : calls) call.exchange->fail(error);
    return;
  }
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const LookUp& call = calls[i];
    answering_failures(call.exchange, [&] {
      if (!known[i]) return call.exchange->refuse(call.otherwise);
      resolve(call.exchange, nullptr, std::move(*known[i]));
    });
  }
}

}  // namespace oncepay::http

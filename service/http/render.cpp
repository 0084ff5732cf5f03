#include "http/render.hpp"

#include <algorithm>

#include "http/json_text.hpp"
#include "http/problem.hpp"
#include "runtime/uuid.hpp"

namespace oncepay::http {
namespace {

constexpr std::string_view account_resource = "accounts/";

// Writes `,"name":` in front of each value; the first member is written by hand.
class Object {
 public:
  Object(std::string& out, std::string_view first_name, std::string_view first_text) : out_(out) {
    out_ += "{\"";
    out_ += first_name;
    out_ += "\":";
    append_json_string(out_, first_text);
  }
  void close() { out_ += '}'; }

  void text(std::string_view name, std::string_view value) {
    begin(name);
    append_json_string(out_, value);
  }
  void text_or_null(std::string_view name, const std::optional<std::string>& value) {
    value ? text(name, *value) : raw(name, "null");
  }
  void number(std::string_view name, std::int64_t value) {
    begin(name);
    append_json_number(out_, value);
  }
  void time(std::string_view name, std::int64_t value_us) {
    begin(name);
    append_json_time(out_, value_us);
  }
  void raw(std::string_view name, std::string_view json) {
    begin(name);
    out_ += json;
  }

 private:
  void begin(std::string_view name) {
    out_ += ",\"";
    out_ += name;
    out_ += "\":";
  }
  std::string& out_;
};

void append_payment(std::string& out, const payments::Payment& payment) {
  Object object(out, "id", payment.id);
  object.text("object", "payment");
  object.text("status", payments::name_of(payment.status));
  if (payment.decline_reason)
    object.text("decline_reason", payments::name_of(*payment.decline_reason));
  object.number("amount", payment.amount);
  object.text("currency", payment.currency);
  object.text("source", payment.source);
  object.text("destination", payment.destination);
  object.text_or_null("description", payment.description);
  object.raw("metadata", payment.metadata.empty() ? "{}" : payment.metadata);
  object.time("created_at", payment.created_at_us);
  object.close();
}

void append_entry(std::string& out, const payments::Entry& entry) {
  Object object(out, "id", std::to_string(entry.id));
  object.text("object", "entry");
  object.text("payment_id", entry.payment_id);
  object.number("amount", entry.amount);
  object.text("currency", entry.currency);
  object.number("balance_after", entry.balance_after);
  object.text("counterparty", entry.counterparty);
  object.time("created_at", entry.created_at_us);
  object.close();
}

template <class Item, class Append>
std::string render_page(std::span<const Item> page, const std::optional<std::string>& next_cursor,
                        Append append) {
  constexpr std::size_t usual_item_bytes = 400;
  std::string out;
  out.reserve(64 + page.size() * usual_item_bytes);
  out += R"({"object":"list","data":[)";
  for (std::size_t at = 0; at < page.size(); ++at) {
    if (at != 0) out += ',';
    append(out, page[at]);
  }
  out +=
      next_cursor ? R"(],"has_more":true,"next_cursor":)" : R"(],"has_more":false,"next_cursor":)";
  if (next_cursor) {
    append_json_string(out, *next_cursor);
  } else {
    out += "null";
  }
  out += '}';
  return out;
}

once::Answer problem_answer(const Problem& problem, std::string_view request_id) {
  return {.status = status_of(problem.kind),
          .content_type = std::string(problem_media_type),
          .location = std::nullopt,
          .body = problem_body(problem, request_id),
          .resource_id = {}};
}

ProblemKind problem_of(payments::DeclineReason reason) {
  switch (reason) {
    case payments::DeclineReason::insufficient_funds:
      return ProblemKind::insufficient_funds;
    case payments::DeclineReason::balance_limit:
      return ProblemKind::balance_limit;
  }
  return ProblemKind::internal;
}

ProblemKind problem_of(payments::RefusalReason reason) {
  switch (reason) {
    case payments::RefusalReason::account_not_found:
      return ProblemKind::account_not_found;
    case payments::RefusalReason::currency_mismatch:
      return ProblemKind::currency_mismatch;
    case payments::RefusalReason::account_exists:
      return ProblemKind::account_exists;
  }
  return ProblemKind::internal;
}

std::string_view detail_of(payments::RefusalReason reason) {
  switch (reason) {
    case payments::RefusalReason::account_not_found:
      return "names no account";
    case payments::RefusalReason::currency_mismatch:
      return "names an account in another currency";
    case payments::RefusalReason::account_exists:
      return "names an account that is open already";
  }
  return "is refused";
}

once::Answer paid(const payments::Payment& payment) {
  return {.status = 201,
          .content_type = std::string(json_media_type),
          .location = "/v1/payments/" + payment.id,
          .body = render_payment(payment),
          .resource_id = resource_id_of(payment)};
}

once::Answer declined(const payments::Payment& payment, std::string_view request_id) {
  // A declined payment without a reason is a bug upstream; the client still learns that it is 402.
  const auto reason = payment.decline_reason.value_or(payments::DeclineReason::insufficient_funds);
  auto answer = problem_answer({.kind = problem_of(reason), .payment_id = payment.id}, request_id);
  answer.resource_id = resource_id_of(payment);
  return answer;
}

once::Answer opened(const payments::Account& account) {
  return {.status = 201,
          .content_type = std::string(json_media_type),
          .location = "/v1/accounts/" + account.id,
          .body = render_account(account),
          .resource_id = resource_id_of(account)};
}

// The kind is that of the lowest reason, so a missing account comes before a wrong currency.
once::Answer refused(const std::vector<payments::Refusal>& refusals, std::string_view request_id) {
  Problem problem;
  auto first = payments::RefusalReason::account_exists;
  for (const auto& refusal : refusals) {
    first = std::min(first, refusal.reason);
    problem.errors.push_back(
        {std::string(refusal.pointer), std::string(detail_of(refusal.reason))});
  }
  problem.kind = problem_of(first);
  return problem_answer(problem, request_id);
}

}  // namespace

std::string render_payment(const payments::Payment& payment) {
  std::string out;
  out.reserve(384 + payment.metadata.size() +
              (payment.description ? payment.description->size() : 0));
  append_payment(out, payment);
  return out;
}

std::string render_account(const payments::Account& account) {
  std::string out;
  Object object(out, "id", account.id);
  object.text("object", "account");
  object.text("currency", account.currency);
  object.number("balance", account.balance);
  object.number("available", account.balance);  // equal until holds exist
  if (account.overdraft_limit) {
    object.number("overdraft_limit", *account.overdraft_limit);
  } else {
    object.raw("overdraft_limit", "null");
  }
  object.time("created_at", account.created_at_us);
  object.close();
  return out;
}

std::string render_payments(std::span<const payments::ListedPayment> page,
                            const std::optional<std::string>& next_cursor) {
  return render_page(page, next_cursor,
                     [](std::string& out, const payments::ListedPayment& listed) {
                       append_payment(out, listed.payment);
                     });
}

std::string render_entries(std::span<const payments::Entry> page,
                           const std::optional<std::string>& next_cursor) {
  return render_page(page, next_cursor, append_entry);
}

std::string render_key_state(std::string_view key, const once::KeyState& state) {
  const std::string_view payment_id = payment_id_in(state.resource_id);
  std::string out;
  Object object(out, "object", "idempotency_key");
  object.text("key", key);
  object.text("status", state.completed ? "completed" : "processing");
  payment_id.empty() ? object.raw("payment_id", "null") : object.text("payment_id", payment_id);
  if (state.completed) {
    object.number("answer_status", state.answer_status);
  } else {
    object.raw("answer_status", "null");
  }
  const auto time = [&object](std::string_view name, std::int64_t at_us) {
    at_us == 0 ? object.raw(name, "null") : object.time(name, at_us);
  };
  time("created_at", state.created_at_us);
  time("completed_at", state.completed_at_us);
  time("expires_at", state.expires_at_us);
  object.close();
  return out;
}

std::string resource_id_of(const payments::Payment& payment) { return payment.id; }

std::string resource_id_of(const payments::Account& account) {
  return std::string(account_resource) + account.id;
}

std::string_view payment_id_in(std::string_view resource_id) {
  return runtime::is_uuid(resource_id) ? resource_id : std::string_view();
}

payments::Renderers make_renderers() {
  return {.payment = paid, .declined = declined, .account = opened, .refused = refused};
}

}  // namespace oncepay::http

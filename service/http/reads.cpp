// The calls that only read: payments, accounts, their entries, and the state of keys.
#include <algorithm>

#include "http/dispatch.hpp"
#include "http/query.hpp"
#include "http/render.hpp"
#include "payments/books.hpp"
#include "runtime/digest.hpp"
#include "runtime/uuid.hpp"

namespace oncepay::http {
namespace {

void answer_json(Exchange& exchange, std::string body) {
  Response response;
  response.status = 200;
  response.set("Content-Type", json_media_type);
  response.body = std::move(body);
  exchange.answer(std::move(response));
}

Query query_of(const Exchange& exchange) {
  return Query(split_target(exchange.request().target).query);
}

// True when the query was refused, and the exchange thereby answered.
bool refuse_query(Exchange& exchange, Query& query) {
  auto errors = query.finish();
  if (errors.empty()) return false;
  exchange.refuse({.kind = ProblemKind::invalid_request, .errors = std::move(errors)});
  return true;
}

std::optional<std::string> account_id_in(std::string_view segment) {
  auto id = percent_decoded(segment);
  if (!id || !payments::is_account_id(*id)) return std::nullopt;
  return id;
}

bool could_be_key(std::string_view text) {
  return !text.empty() && text.size() <= once::key_length_max &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '!' && c <= '~'; });
}

payments::PaymentFilter take_filter(Query& query) {
  payments::PaymentFilter filter;
  filter.limit = take_limit(query);
  filter.account = query.take("account");
  if (filter.account && !payments::is_account_id(*filter.account))
    query.refuse("account", "must be 1 to 64 of A-Z a-z 0-9 : . _ -");
  if (const auto status = query.take("status")) {
    for (const auto known : {payments::PaymentStatus::succeeded, payments::PaymentStatus::declined})
      if (payments::name_of(known) == *status) filter.status = known;
    if (!filter.status) query.refuse("status", "must be succeeded or declined");
  }
  filter.idempotency_key = query.take("idempotency_key");
  if (filter.idempotency_key && !could_be_key(*filter.idempotency_key))
    query.refuse("idempotency_key", "must be 1 to 255 visible ASCII characters");
  if (filter.is_of_account()) {
    filter.position = take_account_payment_cursor(query, filter.has_transfers())
                          .value_or(payments::PaymentPosition{});
  } else {
    filter.position.payment_id = take_payment_cursor(query);
  }
  return filter;
}

// About what a row takes in the answer. A page ends before it outgrows what one answer may hold,
// and has one row at least.
constexpr std::size_t page_bytes_max = 512 * 1024;
std::size_t bytes_of(const payments::ListedPayment& listed) {
  return 512 + listed.payment.metadata.size() + 2 * listed.payment.description.value_or("").size();
}
std::size_t bytes_of(const payments::Entry&) { return 512; }

// The rows were read with a limit of one more than the page holds; cuts the page to size.
template <class Row, class CursorOf>
std::optional<std::string> cut_page(std::vector<Row>& rows, int limit, CursorOf cursor_of) {
  std::size_t size = 0;
  std::size_t bytes = 0;
  while (size < rows.size() && size < static_cast<std::size_t>(limit) &&
         (size == 0 || bytes + bytes_of(rows[size]) <= page_bytes_max)) {
    bytes += bytes_of(rows[size++]);
  }
  if (rows.size() <= size) return std::nullopt;
  rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(size), rows.end());
  return cursor_of(rows.back());
}

}  // namespace

void Dispatch::read(const ExchangePtr& exchange, const RouteMatch& match) {
  post(parts_.blocking, exchange, ProblemKind::overloaded,
       [self = shared_from_this(), exchange, match] {
         switch (match.route) {
           case Route::payments:
             return self->read_payments(*exchange);
           case Route::payment:
             return self->read_payment(*exchange, match.segment);
           case Route::account:
             return self->read_account(*exchange, match.segment);
           case Route::account_entries:
             return self->read_entries(*exchange, match.segment);
           case Route::idempotency_key:
             return self->read_key(*exchange, match.segment);
           case Route::accounts:
           case Route::health:
           case Route::readiness:
           case Route::metrics:
             break;
         }
         throw std::logic_error("this route is not read here");
       });
}

void Dispatch::read_payments(Exchange& exchange) {
  Query query = query_of(exchange);
  auto filter = take_filter(query);
  if (refuse_query(exchange, query)) return;
  const int limit = filter.limit;
  filter.limit = limit + 1;
  std::vector<payments::ListedPayment> rows;
  parts_.reads.run(db::Access::snapshot, [&](db::Transaction& transaction) {
    rows = payments::list_payments(transaction, exchange.tenant_id(), filter);
  });
  const auto cursor = cut_page(rows, limit, [&filter](const payments::ListedPayment& last) {
    return filter.is_of_account() ? account_payment_cursor(last.position)
                                  : payment_cursor(last.payment.id);
  });
  answer_json(exchange, render_payments(rows, cursor));
}

void Dispatch::read_payment(Exchange& exchange, std::string_view segment) {
  Query query = query_of(exchange);
  if (refuse_query(exchange, query)) return;
  const auto id = percent_decoded(segment);
  if (!id || !runtime::is_uuid(*id)) return exchange.refuse(ProblemKind::not_found);
  std::optional<payments::Payment> payment;
  parts_.reads.run(db::Access::read_only, [&](db::Transaction& transaction) {
    payment = payments::find_payment(transaction, exchange.tenant_id(), *id);
  });
  if (!payment) return exchange.refuse(ProblemKind::not_found);
  answer_json(exchange, render_payment(*payment));
}

void Dispatch::read_account(Exchange& exchange, std::string_view segment) {
  Query query = query_of(exchange);
  if (refuse_query(exchange, query)) return;
  const auto id = account_id_in(segment);
  if (!id) return exchange.refuse(ProblemKind::not_found);
  std::optional<payments::Account> account;
  parts_.reads.run(db::Access::read_only, [&](db::Transaction& transaction) {
    account = payments::find_account(transaction, exchange.tenant_id(), *id);
  });
  if (!account) return exchange.refuse(ProblemKind::not_found);
  answer_json(exchange, render_account(*account));
}

void Dispatch::read_entries(Exchange& exchange, std::string_view segment) {
  Query query = query_of(exchange);
  const int limit = take_limit(query);
  const auto before_id = take_entry_cursor(query);
  if (refuse_query(exchange, query)) return;
  const auto id = account_id_in(segment);
  if (!id) return exchange.refuse(ProblemKind::not_found);
  bool account_known = false;
  std::vector<payments::Entry> rows;
  parts_.reads.run(db::Access::read_only, [&](db::Transaction& transaction) {
    account_known = payments::find_account(transaction, exchange.tenant_id(), *id).has_value();
    if (!account_known) return;
    rows = payments::list_entries(transaction, exchange.tenant_id(), *id, before_id, limit + 1);
  });
  if (!account_known) return exchange.refuse(ProblemKind::not_found);
  const auto cursor =
      cut_page(rows, limit, [](const payments::Entry& last) { return entry_cursor(last.id); });
  answer_json(exchange, render_entries(rows, cursor));
}

void Dispatch::read_key(Exchange& exchange, std::string_view segment) {
  Query query = query_of(exchange);
  if (refuse_query(exchange, query)) return;
  const auto key = percent_decoded(segment);
  if (!key || !could_be_key(*key)) return exchange.refuse(ProblemKind::not_found);
  exchange.set_key_hash(runtime::short_hash(*key));
  const auto state = parts_.engine.key_state(exchange.tenant_id(), *key);
  if (!state) return exchange.refuse(ProblemKind::not_found);
  answer_json(exchange, render_key_state(*key, *state));
}

}  // namespace oncepay::http

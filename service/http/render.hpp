// What the business objects look like as JSON, and the stored answers made of them.
//
// A payment looks the same in the 201 that made it, in a GET and in a list, with `decline_reason`
// after `status` where it was declined. Members come in the contract's order. `metadata` is written
// as it was kept; `description` and `overdraft_limit` are null where there is none. An entry's
// `amount` is signed (negative is a debit), its `id` is text like all ids. Pages carry
// `next_cursor`, null on the last one.
//
// Deliberately not here: headers of one exchange (routes), the order of rows (payments), problems.
//
// Threads: pure functions; the renderers may be called by several lanes at once.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "once/engine.hpp"
#include "payments/books.hpp"
#include "payments/executors.hpp"

namespace oncepay::http {

inline constexpr std::string_view json_media_type = "application/json";

std::string render_payment(const payments::Payment& payment);
std::string render_account(const payments::Account& account);

// `next_cursor`: nothing on the last page.
std::string render_payments(std::span<const payments::ListedPayment> page,
                            const std::optional<std::string>& next_cursor);
std::string render_entries(std::span<const payments::Entry> page,
                           const std::optional<std::string>& next_cursor);

// What there is not yet is null: `payment_id`, `answer_status` and `completed_at` of a key in
// processing, and its other times while its claim is not committed.
std::string render_key_state(std::string_view key, const once::KeyState& state);

// What the answer to an operation calls its resource: the payment's id itself, or `accounts/` and
// the account's id. The client chooses account ids, so one could look like a payment's; this
// cannot.
std::string resource_id_of(const payments::Payment& payment);
std::string resource_id_of(const payments::Account& account);
// Empty when the resource is no payment.
std::string_view payment_id_in(std::string_view resource_id);

// For the executors: 201 with Location, 402, 422 and 409.
payments::Renderers make_renderers();

}  // namespace oncepay::http

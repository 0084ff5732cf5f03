// Query parameters, percent-encoding and cursors: strict, because an ignored parameter is a wrong
// page.
//
// Every parameter must be known, sent once and well-formed; what is wrong is collected, each with
// the pointer `?name`. Parameters are `name=value` between single `&`; names and values are
// percent-decoded once. `+` is a plus sign (RFC 3986), not a space: no value here can hold a space,
// and keys can hold a plus.
//
// Threads: plain values. Errors: FieldErrors. Source: RFC 3986 sections 2.1 and 3.4; RFC 4648
// section 5.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "http/requests.hpp"
#include "payments/books.hpp"

namespace oncepay::http {

inline constexpr int page_limit_default = 20;
inline constexpr int page_limit_max = 100;
inline constexpr std::size_t query_parameters_max = 32;  // more are refused as a whole

// Nothing for a broken escape.
std::optional<std::string> percent_decoded(std::string_view text);

class Query {
 public:
  // `text` is what follows the question mark.
  explicit Query(std::string_view text);

  // The value of a parameter, which thereby is a known one; nothing when it was not sent.
  std::optional<std::string> take(std::string_view name);
  void refuse(std::string_view name, std::string_view detail);

  // Names what was not taken as unknown, then hands out everything that was wrong.
  FieldErrors finish();

 private:
  struct Parameter {
    std::string shown;  // the name as sent, fit for a pointer
    std::string name;
    std::string value;
    bool taken = false;
  };
  void add(std::string_view piece);

  std::vector<Parameter> parameters_;
  FieldErrors errors_;
};

// 1 to 100, 20 when it was not sent.
int take_limit(Query& query);

// A cursor names the last row of a page. Clients hand it back as it is; it is bound to its kind of
// list: that of an account's payments names a transfer if and only if the list has some.
std::string payment_cursor(std::string_view payment_id);
std::string account_payment_cursor(const payments::PaymentPosition& position);
std::string entry_cursor(std::int64_t entry_id);
std::optional<std::string> take_payment_cursor(Query& query);
std::optional<payments::PaymentPosition> take_account_payment_cursor(Query& query,
                                                                     bool has_transfers);
std::optional<std::int64_t> take_entry_cursor(Query& query);

}  // namespace oncepay::http

#include "http/query.hpp"

#include <doctest/doctest.h>

using namespace oncepay::http;

namespace {

std::string pointers(FieldErrors errors) {
  std::string all;
  for (const auto& error : errors) all += (all.empty() ? "" : " ") + error.pointer;
  return all;
}

}  // namespace

TEST_CASE("a query parameter is known, sent once and well-formed, or the request is refused") {
  struct Attempt {
    std::string text;
    std::string_view wrong;
  };
  const Attempt attempts[] = {
      {"", ""},
      {"limit=5", ""},
      {"limit=5&account=a", ""},
      {"l%69mit=5", ""},
      {"limit=%35", ""},
      {"account=customer%3A42", ""},
      {"Limit=5", "?Limit"},
      {"colour=red&limit=5&size=1", "?colour ?size"},
      {"limit=5&limit=5", "?limit"},
      {"limit=5&%6Cimit=6", "?%6Cimit"},
      {"limit=5&&account=a", "?"},
      {"&", "? ?"},
      {"=5", "?"},
      {"limit=%", "?limit"},
      {"limit=%3", "?limit"},
      {"limit=%zz", "?limit"},
      {"a%=1", "?a%"},
      {"\xFF\x01=1", "?%FF%01"},
      {"a b=1", "?a%20b"},
      {"limit", "?limit"},
      {"limit=", "?limit"},
      {"limit=0", "?limit"},
      {"limit=1", ""},
      {"limit=100", ""},
      {"limit=101", "?limit"},
      {"limit=-1", "?limit"},
      {"limit=+1", "?limit"},
      {"limit=1.0", "?limit"},
      {"limit=99999999999999999999", "?limit"},
      {"limit=1%00", "?limit"},
  };
  for (const auto& attempt : attempts) {
    CAPTURE(attempt.text);
    Query query(attempt.text);
    take_limit(query);
    query.take("account");
    CHECK(pointers(query.finish()) == attempt.wrong);
  }
}

TEST_CASE("a plus sign is a plus sign") {
  Query query("idempotency_key=a+b%2Bc%252F");
  CHECK(query.take("idempotency_key") == "a+b+c%2F");
}

TEST_CASE("the number of parameters is bounded") {
  std::string text = "a=1";
  for (int at = 0; at < 5000; ++at) text += "&a=1";
  CHECK(pointers(Query(text).finish()) == "?");
}

TEST_CASE("a limit is 20 unless it was sent") {
  Query query("");
  CHECK(take_limit(query) == 20);
  Query other("limit=7");
  CHECK(take_limit(other) == 7);
}

TEST_CASE("a cursor comes back as it went out, and nothing else is taken for one") {
  const std::string id = "0197f3c2-0000-7000-8000-000000000001";
  Query payments("cursor=" + payment_cursor(id));
  CHECK(take_payment_cursor(payments) == id);
  CHECK(payments.finish().empty());
  for (const std::int64_t entry : {0L, 1L, 42L, 9'223'372'036'854'775'807L}) {
    Query entries("cursor=" + entry_cursor(entry));
    CHECK(take_entry_cursor(entries) == entry);
    CHECK(entries.finish().empty());
  }

  for (const auto transfer : {std::optional<std::int64_t>(), std::optional<std::int64_t>(0),
                              std::optional<std::int64_t>(9'223'372'036'854'775'807)}) {
    const auto sent = "cursor=" + account_payment_cursor({id, transfer});
    Query query(sent);
    const auto position = take_account_payment_cursor(query, transfer.has_value()).value();
    CHECK(position.payment_id == id);
    CHECK(position.transfer_id == transfer);
    CHECK(query.finish().empty());
    Query other(sent);
    CHECK_FALSE(take_account_payment_cursor(other, !transfer.has_value()));
    CHECK(pointers(other.finish()) == "?cursor");
  }

  const auto cursor = payment_cursor(id);
  for (const auto& garbage : std::initializer_list<std::string>{
           "", "x", id, cursor + "A", cursor + "=", cursor.substr(1), cursor + "%00",
           "%20" + cursor, payment_cursor("x"), payment_cursor(""), payment_cursor(id + "'"),
           entry_cursor(7), account_payment_cursor({id, 7}), std::string(5000, 'A')}) {
    CAPTURE(garbage);
    Query query("cursor=" + garbage);
    CHECK(take_payment_cursor(query) == std::nullopt);
    CHECK(pointers(query.finish()) == "?cursor");
  }
  for (const auto& garbage :
       {payment_cursor(id), entry_cursor(7), account_payment_cursor({}),
        account_payment_cursor({std::nullopt, 7}), account_payment_cursor({id, -7}),
        account_payment_cursor({id + "'", 7}), std::string("YWNjb3VudA")}) {
    CAPTURE(garbage);
    for (const bool has_transfers : {false, true}) {
      Query query("cursor=" + garbage);
      CHECK_FALSE(take_account_payment_cursor(query, has_transfers));
      CHECK(pointers(query.finish()) == "?cursor");
    }
  }
  for (const auto& garbage :
       {payment_cursor(id), entry_cursor(-1), account_payment_cursor({id, 7}),
        std::string("ZW50cnk6"), std::string("ZW50cnk6OTk5OTk5OTk5OTk5OTk5OTk5OTk5OTk")}) {
    CAPTURE(garbage);
    Query query("cursor=" + garbage);
    CHECK(take_entry_cursor(query) == std::nullopt);
    CHECK(pointers(query.finish()) == "?cursor");
  }
}

TEST_CASE("percent-decoding is done once and strictly") {
  CHECK(percent_decoded("customer%3A42") == "customer:42");
  CHECK(percent_decoded("a%252Fb") == "a%2Fb");
  CHECK(percent_decoded("%c3%A4") == "\xC3\xA4");
  CHECK(percent_decoded("") == "");
  CHECK_FALSE(percent_decoded("%").has_value());
  CHECK_FALSE(percent_decoded("a%4").has_value());
  CHECK_FALSE(percent_decoded("%4g").has_value());
}

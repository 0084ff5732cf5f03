#include "http/render.hpp"

#include <doctest/doctest.h>

#include "http/json_text.hpp"

using namespace oncepay;
using namespace oncepay::http;

namespace {

payments::Payment some_payment() {
  return {.id = "0197f3c2-0000-7000-8000-000000000001",
          .status = payments::PaymentStatus::succeeded,
          .decline_reason = std::nullopt,
          .amount = 1999,
          .currency = "EUR",
          .source = "customer:42",
          .destination = "merchant:7",
          .description = "order 1001",
          .metadata = R"({"order":"1001"})",
          .created_at_us = 1'795'960'800'123'456};
}

std::string time_text(std::int64_t time_us) {
  std::string out;
  append_json_time(out, time_us);
  return out;
}

}  // namespace

TEST_CASE("a payment looks as the contract shows it") {
  CHECK(render_payment(some_payment()) ==
        R"({"id":"0197f3c2-0000-7000-8000-000000000001","object":"payment","status":"succeeded",)"
        R"("amount":1999,"currency":"EUR","source":"customer:42","destination":"merchant:7",)"
        R"("description":"order 1001","metadata":{"order":"1001"},)"
        R"("created_at":"2026-11-29T14:00:00.123456Z"})");
}

TEST_CASE("a payment without description and metadata says so, a declined one says why") {
  auto payment = some_payment();
  payment.description.reset();
  payment.metadata.clear();
  payment.status = payments::PaymentStatus::declined;
  payment.decline_reason = payments::DeclineReason::insufficient_funds;
  const auto text = render_payment(payment);
  CHECK(text.find(R"("status":"declined","decline_reason":"insufficient-funds",)") !=
        std::string::npos);
  CHECK(text.find(R"("description":null,"metadata":{},)") != std::string::npos);
}

TEST_CASE("times are UTC with six digits, whenever they are") {
  struct Attempt {
    std::int64_t time_us;
    std::string_view text;
  };
  const Attempt attempts[] = {
      {0, "\"1970-01-01T00:00:00.000000Z\""},
      {1, "\"1970-01-01T00:00:00.000001Z\""},
      {-1, "\"1969-12-31T23:59:59.999999Z\""},
      {951'782'399'000'000, "\"2000-02-28T23:59:59.000000Z\""},
      {951'782'400'000'000, "\"2000-02-29T00:00:00.000000Z\""},
      {4'102'444'800'100'000, "\"2100-01-01T00:00:00.100000Z\""},
  };
  for (const auto& attempt : attempts) CHECK(time_text(attempt.time_us) == attempt.text);
}

TEST_CASE("strings are escaped so that nothing can leave them") {
  std::string out;
  append_json_string(out, "a\"b\\c\n\r\t\b\f\x01\x1F\x7F/\xC3\xA4");
  CHECK(out == "\"a\\\"b\\\\c\\n\\r\\t\\b\\f\\u0001\\u001f\x7F/\xC3\xA4\"");
}

TEST_CASE("an account shows its balance, and null where it has no floor") {
  const payments::Account account{.id = "customer:42",
                                  .currency = "EUR",
                                  .balance = -5,
                                  .overdraft_limit = 10,
                                  .created_at_us = 0};
  CHECK(render_account(account) ==
        R"({"id":"customer:42","object":"account","currency":"EUR","balance":-5,"available":-5,)"
        R"("overdraft_limit":10,"created_at":"1970-01-01T00:00:00.000000Z"})");
  auto world = account;
  world.overdraft_limit.reset();
  CHECK(render_account(world).find(R"("overdraft_limit":null)") != std::string::npos);
}

TEST_CASE("lists say whether there is more and how to go on") {
  CHECK(render_payments({}, std::nullopt) ==
        R"({"object":"list","data":[],"has_more":false,"next_cursor":null})");
  const payments::Entry entries[] = {{.id = 8,
                                      .payment_id = "p2",
                                      .amount = -5,
                                      .balance_after = 95,
                                      .counterparty = "merchant:7",
                                      .currency = "EUR",
                                      .created_at_us = 0},
                                     {.id = 7,
                                      .payment_id = "p1",
                                      .amount = 100,
                                      .balance_after = 100,
                                      .counterparty = "world",
                                      .currency = "EUR",
                                      .created_at_us = 0}};
  CHECK(render_entries(entries, "abc") ==
        R"({"object":"list","data":[{"id":"8","object":"entry","payment_id":"p2","amount":-5,)"
        R"("currency":"EUR","balance_after":95,"counterparty":"merchant:7",)"
        R"("created_at":"1970-01-01T00:00:00.000000Z"},{"id":"7","object":"entry",)"
        R"("payment_id":"p1","amount":100,"currency":"EUR","balance_after":100,)"
        R"("counterparty":"world","created_at":"1970-01-01T00:00:00.000000Z"}],)"
        R"("has_more":true,"next_cursor":"abc"})");
}

TEST_CASE("a key's state names its payment, and an account is never taken for one") {
  once::KeyState state{.completed = true,
                       .resource_id = some_payment().id,
                       .answer_status = 201,
                       .created_at_us = 3,
                       .completed_at_us = 1,
                       .expires_at_us = 2};
  CHECK(
      render_key_state("a\"b", state) ==
      R"({"object":"idempotency_key","key":"a\"b","status":"completed",)"
      R"("payment_id":"0197f3c2-0000-7000-8000-000000000001","answer_status":201,)"
      R"("created_at":"1970-01-01T00:00:00.000003Z","completed_at":"1970-01-01T00:00:00.000001Z",)"
      R"("expires_at":"1970-01-01T00:00:00.000002Z"})");
  payments::Account account;
  account.id = some_payment().id;
  CHECK(payment_id_in(resource_id_of(account)) == "");
  CHECK(payment_id_in(resource_id_of(some_payment())) == some_payment().id);

  state = {};
  CHECK(render_key_state("k", state) ==
        R"({"object":"idempotency_key","key":"k","status":"processing","payment_id":null,)"
        R"("answer_status":null,"created_at":null,"completed_at":null,"expires_at":null})");
}

TEST_CASE("RPL-01 stored answers carry status, content type and Location") {
  const auto renderers = make_renderers();
  const auto paid = renderers.payment(some_payment());
  CHECK(paid.status == 201);
  CHECK(paid.content_type == "application/json");
  CHECK(paid.location == "/v1/payments/" + some_payment().id);
  CHECK(paid.body == render_payment(some_payment()));
  CHECK(paid.resource_id == some_payment().id);

  auto payment = some_payment();
  payment.decline_reason = payments::DeclineReason::balance_limit;
  const auto declined = renderers.declined(payment, "request-1");
  CHECK(declined.status == 402);
  CHECK(declined.content_type == "application/problem+json");
  CHECK_FALSE(declined.location.has_value());
  CHECK(declined.body.starts_with(R"({"type":"/problems/balance-limit",)"));
  CHECK(declined.body.find(R"("instance":"request-1")") != std::string::npos);
  CHECK(declined.body.find("\"payment_id\":\"" + payment.id + "\"") != std::string::npos);
  CHECK(declined.resource_id == payment.id);
}

TEST_CASE("a refusal points to each member at fault; an unknown account comes before a currency") {
  using payments::RefusalReason;
  const auto refused =
      make_renderers().refused({{RefusalReason::currency_mismatch, "/source"},
                                {RefusalReason::account_not_found, "/destination"}},
                               "request-1");
  CHECK(refused.status == 422);
  CHECK(refused.body.starts_with(R"({"type":"/problems/account-not-found",)"));
  CHECK(refused.body.find(R"({"pointer":"/source","detail":)") != std::string::npos);
  CHECK(refused.body.find(R"({"pointer":"/destination","detail":)") != std::string::npos);
  CHECK(refused.resource_id.empty());
  const auto taken = make_renderers().refused({{RefusalReason::account_exists, "/id"}}, "r");
  CHECK(taken.status == 409);
  CHECK(taken.body.starts_with(R"({"type":"/problems/account-exists",)"));
}

#include "http/requests.hpp"

#include <doctest/doctest.h>

using namespace oncepay::http;
using oncepay::payments::AccountRequest;
using oncepay::payments::PaymentRequest;

namespace {

JsonValue json(std::string_view document) {
  auto read = read_json(document);
  REQUIRE(std::holds_alternative<JsonValue>(read));
  return std::get<JsonValue>(std::move(read));
}

// The pointers of everything that is wrong, in order; empty when all is well.
template <class Request>
std::string pointers(const std::variant<Request, FieldErrors>& read) {
  std::string all;
  if (const auto* errors = std::get_if<FieldErrors>(&read))
    for (const auto& error : *errors) {
      CHECK_FALSE(error.detail.empty());
      all += (all.empty() ? "" : " ") + (error.pointer.empty() ? "(all)" : error.pointer);
    }
  return all;
}

std::string wrong_in_payment(std::string_view document) {
  return pointers(read_payment_request(json(document)));
}
std::string wrong_in_account(std::string_view document) {
  return pointers(read_account_request(json(document)));
}

std::string payment_with(std::string_view member) {
  return R"({"currency":"EUR","source":"a","destination":"b",)" + std::string(member) + "}";
}
std::string paying(std::string_view amount) {
  return payment_with("\"amount\":" + std::string(amount));
}
std::string with(std::string_view member) {
  return payment_with("\"amount\":1," + std::string(member));
}
std::string letters(std::size_t count, std::string_view letter = "x") {
  std::string all;
  for (std::size_t at = 0; at < count; ++at) all += letter;
  return all;
}

}  // namespace

TEST_CASE("MNY-04 MNY-06 an amount is a JSON integer of minor units from 1 to 2^53-1") {
  struct Attempt {
    std::string_view amount;
    std::string_view wrong;
  };
  const Attempt attempts[] = {
      {"1", ""},
      {"1999", ""},
      {"9007199254740991", ""},
      {"9007199254740992", "/amount"},
      {"9223372036854775807", "/amount"},
      {"9223372036854775808", "/amount"},
      {"18446744073709551615", "/amount"},
      {"18446744073709551617", "/amount"},
      {"100000000000000000000000000000001", "/amount"},
      {"0", "/amount"},
      {"-0", "/amount"},
      {"-1", "/amount"},
      {"-9223372036854775808", "/amount"},
      {"-18446744073709551615", "/amount"},
      {"10.0", "/amount"},
      {"10.99", "/amount"},
      {"1.5", "/amount"},
      {"1e3", "/amount"},
      {"1E0", "/amount"},
      {"true", "/amount"},
      {"\"10\"", "/amount"},
      {"\"1000\"", "/amount"},
      {"null", "/amount"},
      {"[1000]", "/amount"},
      {"{}", "/amount"},
  };
  for (const auto& attempt : attempts) {
    CAPTURE(attempt.amount);
    CHECK(wrong_in_payment(paying(attempt.amount)) == attempt.wrong);
  }
  CHECK(wrong_in_payment(R"({"currency":"EUR","source":"a","destination":"b"})") == "/amount");
}

TEST_CASE("every member of a payment follows its rule, and errors point to it") {
  struct Attempt {
    std::string document;
    std::string_view wrong;
  };
  const Attempt attempts[] = {
      {"{}", "/amount /currency /source /destination"},
      {"[]", "(all)"},
      {"null", "(all)"},
      {"\"x\"", "(all)"},
      {R"({"amount":1,"currency":"eur","source":"a","destination":"b"})", "/currency"},
      {R"({"amount":1,"currency":"BGN","source":"a","destination":"b"})", "/currency"},
      {R"({"amount":1,"currency":978,"source":"a","destination":"b"})", "/currency"},
      {R"({"amount":1,"currency":"EUR","source":"a","destination":"a"})", "/destination"},
      {R"({"amount":1,"currency":"EUR","source":"","destination":"a b"})", "/source /destination"},
      {R"({"amount":1,"currency":"EUR","source":"","destination":""})", "/source /destination"},
      {R"({"amount":1,"currency":"EUR","source":null,"destination":7})", "/source /destination"},
      {R"({"amount":1,"currency":"EUR","source":")" + letters(64) + R"(","destination":")" +
           letters(65) + "\"}",
       "/destination"},
      {with(R"("description":"")"), ""},
      {with(R"("description":null)"), ""},
      {with(R"("description":7)"), "/description"},
      {with("\"description\":\"" + letters(500) + "\""), ""},
      {with("\"description\":\"" + letters(501) + "\""), "/description"},
      {with("\"description\":\"" + letters(500, "\xF0\x9F\x92\xB6") + "\""), ""},
      {with("\"description\":\"" + letters(501, "\xC3\xA4") + "\""), "/description"},
      {with(R"("metadata":{})"), ""},
      {with(R"("metadata":null)"), ""},
      {with(R"("metadata":[])"), "/metadata"},
      {with(R"("metadata":"x")"), "/metadata"},
      {with(R"("metadata":{"":"","a":"b"})"), ""},
      {with(R"("metadata":{"a":1,"b":null,"c":["x"],"d":"fine"})"),
       "/metadata/a /metadata/b /metadata/c"},
      {with("\"metadata\":{\"" + letters(40) + "\":\"" + letters(500) + "\"}"), ""},
      {with("\"metadata\":{\"" + letters(40, "\xE2\x82\xAC") + "\":\"\"}"), ""},
      {with("\"metadata\":{\"" + letters(41) + "\":\"" + letters(501) + "\"}"),
       "/metadata/xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx "
       "/metadata/xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"},
      {with(R"("metadata":{"a/b~c":1})"), "/metadata/a~1b~0c"},
      {with(R"("amonut":1)"), "/amonut"},
      {with(R"("z":1,"~/":2,"":3)"), "/z /~0~1 /"},
      {R"({"amount":0,"currency":"X","source":"a","destination":"a","description":1,"metadata":2,)"
       R"("status":"succeeded"})",
       "/amount /currency /destination /description /metadata /status"},
  };
  for (const auto& attempt : attempts) {
    CAPTURE(attempt.document);
    CHECK(wrong_in_payment(attempt.document) == attempt.wrong);
  }
}

TEST_CASE("metadata holds at most 50 pairs") {
  const auto pairs = [](int count) {
    std::string members;
    for (int at = 0; at < count; ++at)
      members += (at == 0 ? "\"k" : ",\"k") + std::to_string(at) + "\":\"v\"";
    return with("\"metadata\":{" + members + "}");
  };
  CHECK(wrong_in_payment(pairs(50)) == "");
  CHECK(wrong_in_payment(pairs(51)) == "/metadata");
}

TEST_CASE("JSN-06 text is kept code point for code point, metadata in the client's order") {
  const auto read = read_payment_request(
      json(R"({"amount":1999,"currency":"EUR","source":"customer:42","destination":"merchant:7",)"
           R"("description":"a\\u0000b \u00e4\ud83d\udcb6\u007f",)"
           R"("metadata":{"z":"1","a":"\"\\\n","\/":"\u0001"}})"));
  REQUIRE(std::holds_alternative<PaymentRequest>(read));
  const auto& request = std::get<PaymentRequest>(read);
  CHECK(request.amount == 1999);
  CHECK(request.currency == "EUR");
  CHECK(request.source == "customer:42");
  CHECK(request.destination == "merchant:7");
  CHECK(request.description == "a\\u0000b \xC3\xA4\xF0\x9F\x92\xB6\x7F");
  CHECK(request.metadata == R"({"z":"1","a":"\"\\\n","/":"\u0001"})");
}

TEST_CASE("members left out and members sent as null mean the same where they are optional") {
  for (const auto& document : {paying("1"), with(R"("description":null,"metadata":null)")}) {
    const auto read = read_payment_request(json(document));
    REQUIRE(std::holds_alternative<PaymentRequest>(read));
    CHECK_FALSE(std::get<PaymentRequest>(read).description.has_value());
    CHECK(std::get<PaymentRequest>(read).metadata == "{}");
  }
}

TEST_CASE("every member of an account follows its rule, and errors point to it") {
  struct Attempt {
    std::string_view document;
    std::string_view wrong;
  };
  const Attempt attempts[] = {
      {R"({"id":"customer:42","currency":"EUR"})", ""},
      {R"({"id":"A-z_0.9:","currency":"EUR","overdraft_limit":0})", ""},
      {R"({"id":"a","currency":"EUR","overdraft_limit":null})", ""},
      {R"({"id":"a","currency":"EUR","overdraft_limit":9007199254740991})", ""},
      {R"({"id":"a","currency":"EUR","overdraft_limit":9007199254740992})", "/overdraft_limit"},
      {R"({"id":"a","currency":"EUR","overdraft_limit":-1})", "/overdraft_limit"},
      {R"({"id":"a","currency":"EUR","overdraft_limit":-0})", "/overdraft_limit"},
      {R"({"id":"a","currency":"EUR","overdraft_limit":1.0})", "/overdraft_limit"},
      {R"({"id":"a","currency":"EUR","overdraft_limit":"0"})", "/overdraft_limit"},
      {R"({"id":"a","currency":"EUR","balance":1})", "/balance"},
      {R"({"id":"a/b","currency":"EUR"})", "/id"},
      {"{\"id\":\"\xC3\xA4\",\"currency\":\"EUR\"}", "/id"},
      {R"({"id":5,"currency":"XXX"})", "/id /currency"},
      {"{}", "/id /currency"},
      {"7", "(all)"},
  };
  for (const auto& attempt : attempts) {
    CAPTURE(attempt.document);
    CHECK(wrong_in_account(attempt.document) == attempt.wrong);
  }
}

TEST_CASE("an overdraft limit is 0 when left out and no floor when null") {
  const auto limit = [](std::string_view document) {
    return std::get<AccountRequest>(read_account_request(json(document))).overdraft_limit;
  };
  CHECK(limit(R"({"id":"a","currency":"EUR"})") == 0);
  CHECK(limit(R"({"id":"a","currency":"EUR","overdraft_limit":5})") == 5);
  CHECK(limit(R"({"id":"a","currency":"EUR","overdraft_limit":null})") == std::nullopt);
}

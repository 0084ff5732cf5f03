// Strict JSON: a body that two readers could read differently, or that one of them could not
// survive, is refused with 400 before a claim; everything that is honest text comes back code point
// for code point.
#include <doctest/doctest.h>

#include "support/names.hpp"
#include "support/problem.hpp"
#include "support/shop.hpp"

namespace {

using namespace support;
using namespace std::string_literals;

Shop& shop() {
  static Shop instance;
  return instance;
}

const Payment& standing_payment() {
  static const Payment payment = shop().payment_between_new_accounts(1, 1'000'000);
  return payment;
}

// `,"description":…` or whatever else comes after the four members that every payment has.
std::string with_more(const std::string& more) {
  std::string body = standing_payment().json();
  body.insert(body.size() - 1, more);
  return body;
}

void expect_refused(const std::string& body, std::string_view type) {
  const std::string key = fresh_key();
  const Answer answer = shop().caller().pay(key, body);
  INFO("body: ", body.substr(0, 300));
  expect_problem(answer, 400, type);
  CHECK(answer.type() != problems::key_invalid);
  CHECK(shop().key_rows(key) == 0);
  CHECK(shop().payments_with_key(key) == 0);
}

void expect_text_kept(const std::string& description) {
  INFO("description: ", description);
  Caller caller = shop().caller();
  const Answer answer = caller.pay(fresh_key(), with_more(",\"description\":" + description));
  expect_succeeded(answer);
  const nlohmann::json sent = nlohmann::json::parse(description);
  CHECK(answer.json().at("description") == sent);
  const Answer read = caller.get("/v1/payments/" + payment_id_of(answer));
  CHECK(read.json().at("description") == sent);
}

}  // namespace

TEST_CASE("a body that is not one JSON value is refused as invalid-json") {
  const std::string good = standing_payment().json();
  for (const std::string& body : {""s,
                                  " "s,
                                  "{"s,
                                  "}"s,
                                  good.substr(0, good.size() - 1),
                                  good + "}",
                                  good + good,
                                  good + "x",
                                  good + "\0"s,
                                  good + "\0{}"s,
                                  "\xEF\xBB\xBF" + good,
                                  "\0"s + good,
                                  "{'amount':1}"s,
                                  "{amount:1}"s,
                                  with_more(","),
                                  with_more(",\"a\""),
                                  "// no\n" + good,
                                  good + "/* no */",
                                  "NaN"s,
                                  "undefined"s,
                                  "tru"s,
                                  "\""s,
                                  "[1,]"s,
                                  "[1 2]"s}) {
    expect_refused(body, problems::invalid_json);
  }
}

TEST_CASE("a JSON value that is no object is refused") {
  for (const char* body : {"[]", "\"pay\"", "1", "true", "null", "[{}]"}) {
    expect_refused(body, problems::any);
  }
}

TEST_CASE("numbers that JSON does not know are refused as invalid-json") {
  for (const char* number : {"+1", "01", "-", ".5", "1.", "1e", "1e+", "0x10", "1_000", "Infinity",
                             "-Infinity", "1,000", "--1", "١"}) {
    expect_refused(with_more(",\"description\":"s + number), problems::invalid_json);
  }
}

TEST_CASE("a member that comes twice is refused, also when an escape hides it") {
  // JSN-01: a proxy reads the first, the service would book the last.
  for (const char* twice :
       {R"(,"amount":100000)", R"(,"\u0061mount":100000)", R"(,"amount":1)",
        R"(,"metadata":{"a":"1","a":"2"})", R"(,"metadata":{"a":"1","\u0061":"1"})",
        R"(,"description":"x","description":"x")", R"(,"metadata":{"😀":"1","\ud83d\ude00":"2"})",
        R"(,"zz":{"q":[{"a":1,"a":2}]})"}) {
    expect_refused(with_more(twice), problems::invalid_json);
  }
}

TEST_CASE("U+0000 is refused wherever text can stand, raw and escaped") {
  // JSN-06: PostgreSQL's text cannot hold it, so it must not get that far.
  for (const std::string& more :
       {R"(,"description":"a\u0000b")"s, R"(,"description":"\u0000")"s,
        R"(,"metadata":{"a":"\u0000"})"s, R"(,"metadata":{"a\u0000":"b"})"s, R"(,"\u0000":"b")"s,
        ",\"description\":\"a\0b\""s}) {
    expect_refused(with_more(more), problems::any);
  }
}

TEST_CASE("the text of a backslash and u0000 is harmless and comes back unchanged") {
  // JSN-06
  expect_text_kept(R"("a\\u0000b")");
}

TEST_CASE("lone surrogates are refused, paired ones are a character") {
  for (const char* text : {R"("\ud800")", R"("\udc00")", R"("\udc00\ud800")", R"("\ud800x")",
                           R"("\ud800\ud800")", R"("\ud83d\u0041")", R"("x\udfff")"}) {
    expect_refused(with_more(",\"description\":"s + text), problems::any);
    expect_refused(with_more(",\"metadata\":{"s + text + ":\"v\"}"), problems::any);
  }
  expect_text_kept(R"("\ud83d\ude00")");
}

TEST_CASE("bytes that are not UTF-8 are refused as invalid-json") {
  for (const char* bytes :
       {"\xff", "\xfe", "\x80", "\xc3", "\xc3(", "\xc0\x80", "\xc1\xbf", "\xe0\x80\x80",
        "\xed\xa0\x80", "\xed\xbf\xbf", "\xe2\x82", "\xf0\x9f\x98", "\xf4\x90\x80\x80",
        "\xf8\x88\x80\x80\x80", "\xf0\x80\x80\x80"}) {
    expect_refused(with_more(",\"description\":\"a"s + bytes + "\""), problems::invalid_json);
    expect_refused(with_more(",\"metadata\":{\"a"s + bytes + "\":\"v\"}"), problems::invalid_json);
  }
}

TEST_CASE("control characters inside a string are refused unless escaped") {
  for (const char* raw : {"\n", "\t", "\r", "\x01", "\x1f"}) {
    expect_refused(with_more(",\"description\":\"a"s + raw + "b\""), problems::invalid_json);
  }
  for (const char* escape : {R"(\x41)", R"(\')", R"(\u12)", R"(\u12G4)", R"(\U0041)", R"(\)"}) {
    expect_refused(with_more(",\"description\":\"a"s + escape + "\""), problems::invalid_json);
  }
  expect_text_kept(R"("a\n\t\r\b\f\/\\\"\u0001b")");
}

TEST_CASE("depth over 16 is refused, and no depth ends the process") {
  // JSN-04. The payment's own object is depth 1.
  const auto nested = [](int depth) {
    return with_more(",\"metadata\":" + std::string(static_cast<std::size_t>(depth - 1), '[') +
                     std::string(static_cast<std::size_t>(depth - 1), ']'));
  };
  expect_refused(nested(16), problems::invalid_request);
  expect_refused(nested(17), problems::invalid_json);
  expect_refused(std::string(32'000, '[') + std::string(32'000, ']'), problems::invalid_json);
  expect_refused(std::string(60'000, '['), problems::invalid_json);
  std::string objects;
  for (int i = 0; i < 10'000; ++i) {
    objects += "{\"a\":";
  }
  expect_refused(objects, problems::invalid_json);
  CHECK(shop().instance.alive());
  expect_recovered(shop());
}

TEST_CASE("many members and long numbers cost no more than their bytes") {
  std::string members;
  for (int i = 0; i < 6000; ++i) {
    members += ",\"m" + std::to_string(i) + "\":1";
  }
  const Stopwatch watch;
  expect_refused(with_more(members), problems::invalid_request);
  expect_refused(with_more(",\"description\":" + std::string(60'000, '9')), problems::any);
  CHECK(watch.elapsed() < 5s);
}

TEST_CASE("text is kept code point for code point, never normalised, trimmed or folded") {
  for (const char* text :
       {R"("")", R"(" ")", R"("  two  ")", "\"é\"", "\"e\u0301\"", R"("é")", "\"\u2028\u2029\"",
        "\"ﬁ Å Ω\"", "\"\U0001F469\u200D\U0001F680\"", "\"</script>\"",
        R"("\"quoted\" \\ back/slash")", "\"\uFEFFbom\"", "\"\u202Eright\"", "\"'; DROP TABLE\"",
        "\"%s %n {} $1\"", "\"\u007f\u0080\"", "\"\U0010FFFF\"", "\"\uFFFD\""}) {
    expect_text_kept(text);
  }
}

TEST_CASE("metadata is kept pair by pair, names included") {
  const nlohmann::json metadata{{"é", "1"},   {"e\u0301", "2"}, {"", "3"},          {" ", " "},
                                {"a/b", "~"}, {"amount", "9"},  {"__proto__", "x"}, {"😀", "😀"}};
  Caller caller = shop().caller();
  const Answer answer = caller.pay(fresh_key(), with_more(",\"metadata\":" + metadata.dump()));
  // An empty name is within "names up to 40 characters".
  expect_succeeded(answer);
  CHECK(answer.json().at("metadata") == metadata);
  CHECK(caller.get("/v1/payments/" + payment_id_of(answer)).json().at("metadata") == metadata);
}

#include "http/json_reader.hpp"

#include <doctest/doctest.h>

#include "http/canonical_json.hpp"

using namespace oncepay::http;
using namespace std::string_literals;

namespace {

bool is_read(std::string_view document) {
  return std::holds_alternative<JsonValue>(read_json(document));
}

JsonValue value_of(std::string_view document) {
  auto read = read_json(document);
  REQUIRE(std::holds_alternative<JsonValue>(read));
  return std::get<JsonValue>(std::move(read));
}

std::string repeated(std::string_view text, std::size_t times) {
  std::string all;
  for (std::size_t at = 0; at < times; ++at) all += text;
  return all;
}

}  // namespace

TEST_CASE("a body is one strict JSON document, or it is refused") {
  struct Attempt {
    std::string document;
    bool accepted;
  };
  const Attempt attempts[] = {
      {"{}", true},
      {" {\"a\" : [1, true, null, \"x\"]}\r\n\t ", true},
      {"\"text\"", true},
      {"0", true},
      // Duplicate members: raw, escaped, nested, in an array.
      {R"({"amount":1,"amount":100000,"currency":"USD"})", false},
      {R"({"amount":1,"\u0061mount":100000})", false},
      {R"({"a":{"b":1,"b":1}})", false},
      {R"([{"b":1},{"b":1}])", true},
      {R"([{"b":1,"b":2}])", false},
      {R"({"":1,"":2})", false},
      {R"({"a":1,"A":2})", true},
      // NUL: raw in front, inside, behind; escaped in strings and names.
      {"\0{}"s, false},
      {"{}\0"s, false},
      {"{}\0{\"amount\":1}"s, false},
      {"{\"a\":\"b\0c\"}"s, false},
      {R"({"a":"b\u0000c"})", false},
      {R"({"a\u0000b":1})", false},
      {R"({"a":"b\\u0000c"})", true},
      // Byte order marks.
      {"\xEF\xBB\xBF{}", false},
      {"\xFE\xFF{}", false},
      {"{}\xEF\xBB\xBF", false},
      // Bytes behind the document, none at all, half a document.
      {"{}x", false},
      {"{}{}", false},
      {"{},", false},
      {"1 2", false},
      {"", false},
      {"   ", false},
      {"{", false},
      {R"({"a":1)", false},
      {R"({"a")", false},
      {"nul", false},
      // What other readers forgive.
      {R"({"a":1,})", false},
      {"[1,]", false},
      {"[,1]", false},
      {"{a:1}", false},
      {"{'a':1}", false},
      {"// no\n{}", false},
      {"/* no */{}", false},
      {"NaN", false},
      {"[Infinity]", false},
      {"[-Infinity]", false},
      {"[+1]", false},
      {"[01]", false},
      {"[-01]", false},
      {"[.5]", false},
      {"[1.]", false},
      {"[1e]", false},
      {"[0x10]", false},
      {"[1e999]", false},
      {"True", false},
      {"[\"a\tb\"]", false},
      {"[\"a\nb\"]", false},
      {R"(["\x41"])", false},
      {R"(["\u12"])", false},
      {"{}\f", false},
      {"{}\xC2\xA0", false},
      // UTF-8 and surrogates.
      {"[\"\xC3\xA4\xE2\x82\xAC\xF0\x9F\x92\xB6\"]", true},
      {"[\"\xC3\"]", false},
      {"[\"\xC0\x80\"]", false},
      {"[\"\xE0\x80\x80\"]", false},
      {"[\"\xED\xA0\x80\"]", false},
      {"[\"\xF4\x90\x80\x80\"]", false},
      {"[\"\xFF\"]", false},
      {"{\"\xFF\":1}", false},
      {R"(["\ud83d\udcb6"])", true},
      {R"(["\ud800"])", false},
      {R"(["\ud800x"])", false},
      {R"(["\ud800\ud800"])", false},
      {R"(["\udc00"])", false},
      {R"({"\udfff":1})", false},
  };
  for (const auto& attempt : attempts) {
    CAPTURE(attempt.document);
    CHECK(is_read(attempt.document) == attempt.accepted);
  }
}

TEST_CASE("JSN-04 nesting is bounded, however deep a body goes") {
  CHECK(is_read(repeated("[", 16) + repeated("]", 16)));
  CHECK_FALSE(is_read(repeated("[", 17) + repeated("]", 17)));
  CHECK(is_read(repeated("{\"a\":", 16) + "1" + repeated("}", 16)));
  CHECK_FALSE(is_read(repeated("{\"a\":", 17) + "1" + repeated("}", 17)));
  CHECK_FALSE(is_read(repeated("[", 200'000) + repeated("]", 200'000)));
  CHECK_FALSE(is_read("{\"metadata\":" + repeated("[", 200'000) + repeated("]", 200'000) + "}"));
  CHECK_FALSE(is_read(repeated("[{\"a\":", 100'000)));
}

TEST_CASE("the number of values is bounded") {
  CHECK(is_read("[1" + repeated(",1", 65'534) + "]"));
  CHECK_FALSE(is_read("[1" + repeated(",1", 65'535) + "]"));
  CHECK_FALSE(is_read("[" + repeated("[],", 70'000) + "[]]"));
}

TEST_CASE("a duplicate is found among many members too") {
  std::string members;
  for (int at = 0; at < 500; ++at) members += "\"name" + std::to_string(at) + "\":1,";
  CHECK(is_read("{" + members + "\"last\":1}"));
  CHECK_FALSE(is_read("{" + members + "\"name7\":1}"));
}

TEST_CASE("numbers keep what was sent") {
  struct Attempt {
    std::string_view document;
    JsonKind kind;
  };
  const Attempt attempts[] = {
      {"0", JsonKind::integer},
      {"-0", JsonKind::integer},
      {"10", JsonKind::integer},
      {"-1", JsonKind::integer},
      {"9007199254740993", JsonKind::integer},
      {"9223372036854775807", JsonKind::integer},
      {"-9223372036854775808", JsonKind::integer},
      {"18446744073709551615", JsonKind::integer},
      {"18446744073709551616", JsonKind::integer},
      {"-9223372036854775809", JsonKind::integer},
      {"123456789012345678901234567890", JsonKind::integer},
      {"10.0", JsonKind::number},
      {"-0.0", JsonKind::number},
      {"1e3", JsonKind::number},
      {"1E+3", JsonKind::number},
      {"10.99", JsonKind::number},
      {"0.1000000000000000055511151231257827", JsonKind::number},
  };
  for (const auto& attempt : attempts) {
    CAPTURE(attempt.document);
    const auto value = value_of(attempt.document);
    CHECK(value.kind == attempt.kind);
    CHECK(value.text == attempt.document);
  }
}

TEST_CASE("strings are decoded, members keep the order in which they were sent") {
  const auto value =
      value_of("{\"z\":\"\\u00e4\\ud83d\\udcb6\\n\",\"a\":[true,null],\"\\u006D\":{}}");
  REQUIRE(value.members.size() == 3);
  CHECK(value.members[0].name == "z");
  CHECK(value.members[0].value.text == "\xC3\xA4\xF0\x9F\x92\xB6\n");
  CHECK(value.members[1].name == "a");
  CHECK(value.members[1].value.items.size() == 2);
  CHECK(value.members[1].value.items[1].kind == JsonKind::null);
  CHECK(value.members[2].name == "m");
  REQUIRE(value.find("m") != nullptr);
  CHECK(value.find("m")->kind == JsonKind::object);
  CHECK(value.find("absent") == nullptr);
}

TEST_CASE("an error says where and why, and never repeats the input") {
  const std::string secret = "hunter2";
  for (const auto& document : {"{\"" + secret + "\":" + secret + "}", "[\"" + secret,
                               "{\"" + secret + "\":1,\"" + secret + "\":1}"}) {
    const auto read = read_json(document);
    REQUIRE(std::holds_alternative<JsonError>(read));
    CHECK(std::get<JsonError>(read).reason.find(secret) == std::string_view::npos);
  }
  CHECK(std::get<JsonError>(read_json("[1,x]")).position == 4);
  CHECK(std::get<JsonError>(read_json("[1]\0"s)).position == 3);
}

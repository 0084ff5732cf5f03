#include "http/canonical_json.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>
#include <random>

using namespace oncepay::http;

namespace {

std::string canonical_text(std::string_view document) {
  const auto read = read_json(document);
  REQUIRE(std::holds_alternative<JsonValue>(read));
  return canonical_json(std::get<JsonValue>(read));
}

// Random documents, and the many ways in which the same document can be written.
class Author {
 public:
  explicit Author(unsigned seed) : random_(seed) {}

  JsonValue document(int depth = 0) {
    JsonValue value;
    const auto kind = below(depth < 4 ? 7U : 5U);
    if (kind == 0) {
      value.kind = JsonKind::null;
    } else if (kind == 1) {
      value.kind = JsonKind::boolean;
      value.text = below(2) == 0 ? "true" : "false";
    } else if (kind == 2) {
      value.kind = JsonKind::integer;
      value.text = std::to_string(static_cast<long>(below(2'000'000)) - 1'000'000);
    } else if (kind == 3) {
      value.kind = JsonKind::number;
      value.text = std::to_string(below(1000)) + "." + std::to_string(below(1000));
    } else if (kind == 4) {
      value.kind = JsonKind::string;
      value.text = text();
    } else if (kind == 5) {
      value.kind = JsonKind::array;
      for (auto left = below(5); left > 0; --left) value.items.push_back(document(depth + 1));
    } else {
      value.kind = JsonKind::object;
      for (auto left = below(6); left > 0; --left) {
        auto name = text();
        if (value.find(name) == nullptr)
          value.members.push_back({std::move(name), document(depth + 1)});
      }
    }
    return value;
  }

  // Members in any order, white space anywhere, characters escaped or not.
  std::string written(const JsonValue& value) {
    switch (value.kind) {
      case JsonKind::null:
        return space() + "null" + space();
      case JsonKind::boolean:
      case JsonKind::integer:
      case JsonKind::number:
        return space() + value.text + space();
      case JsonKind::string:
        return space() + written_string(value.text) + space();
      case JsonKind::array: {
        std::string out = space() + "[" + space();
        for (std::size_t at = 0; at < value.items.size(); ++at)
          out += (at == 0 ? "" : ",") + written(value.items[at]);
        return out + "]" + space();
      }
      case JsonKind::object:
        break;
    }
    auto members = value.members;
    std::shuffle(members.begin(), members.end(), random_);
    std::string out = space() + "{" + space();
    for (std::size_t at = 0; at < members.size(); ++at) {
      if (at != 0) out += "," + space();
      out += written_string(members[at].name) + space() + ":" + written(members[at].value);
    }
    return out + "}" + space();
  }

  // The same document with one thing changed, somewhere.
  void change(JsonValue& value) {
    const bool has_children = !value.items.empty() || !value.members.empty();
    if (has_children && below(4) != 0) {
      if (value.kind == JsonKind::array) return change(value.items[below(value.items.size())]);
      auto& member = value.members[below(value.members.size())];
      if (below(3) != 0) return change(member.value);
      member.name += "x";
      while (std::count_if(value.members.begin(), value.members.end(),
                           [&](const auto& other) { return other.name == member.name; }) > 1)
        member.name += "x";
      return;
    }
    switch (value.kind) {
      case JsonKind::null:
        value = {JsonKind::boolean, "false", {}, {}};
        return;
      case JsonKind::boolean:
        value.text = value.text == "true" ? "false" : "true";
        return;
      case JsonKind::integer:
        value.kind = JsonKind::string;
        return;  // 1 is not "1"
      case JsonKind::number:
        value.text += "0";
        return;  // 1.5 is not written 1.50
      case JsonKind::string:
        value.text += "x";
        return;
      case JsonKind::array:
        value.items.push_back({});
        return;
      case JsonKind::object:
        if (!value.find("added"))
          value.members.push_back({"added", {}});
        else
          value.members.clear();
        return;
    }
  }

 private:
  std::size_t below(std::size_t bound) {
    return std::uniform_int_distribution<std::size_t>(0, bound - 1)(random_);
  }
  std::string text() {
    static const char* const pieces[] = {"a",
                                         "b",
                                         "Z",
                                         "\"",
                                         "\\",
                                         "/",
                                         "\n",
                                         "\x01",
                                         "\xC3\xA4",
                                         "\xEF\xBF\xBD",
                                         "\t",
                                         "\x7F",
                                         "\xF0\x9F\x92\xB6",
                                         "\xE2\x82\xAC",
                                         " "};
    std::string out;
    for (auto left = below(6); left > 0; --left) out += pieces[below(std::size(pieces))];
    return out;
  }
  std::string space() {
    static const char* const spaces[] = {"", "", "", " ", "\n", "\t", "\r\n  "};
    return spaces[below(std::size(spaces))];
  }
  static std::string escaped(unsigned code_unit) {
    char text[8];
    std::snprintf(text, sizeof text, code_unit % 2 == 0 ? "\\u%04x" : "\\u%04X", code_unit);
    return text;
  }
  std::string written_string(std::string_view text) {
    std::string out = "\"";
    for (std::size_t at = 0; at < text.size(); ++at) {
      const auto byte = static_cast<unsigned char>(text[at]);
      if (byte == '/' && below(2) == 0) {
        out += "\\/";
      } else if (byte < 0x20 || byte == '"' || byte == '\\' || (byte < 0x80 && below(4) == 0)) {
        out += escaped(byte);
      } else if (text.substr(at).starts_with("\xF0\x9F\x92\xB6") && below(2) == 0) {
        out += "\\uD83d\\uDcB6";
        at += 3;
      } else {
        out += text[at];
      }
    }
    return out + "\"";
  }

  std::mt19937 random_;
};

}  // namespace

TEST_CASE("FPR-03 the canonical text is one for all ways to write a document") {
  struct Attempt {
    std::string_view document;
    std::string_view canonical;
  };
  const Attempt attempts[] = {
      {R"({"amount":1000,"currency":"USD"})", R"({"amount":1000,"currency":"USD"})"},
      {"{\n\"currency\" : \"\\u0055SD\",\r\n\t\"amount\":1000 }",
       R"({"amount":1000,"currency":"USD"})"},
      {R"({"b":{"d":1,"c":2},"a":[3,2,1]})", R"({"a":[3,2,1],"b":{"c":2,"d":1}})"},
      {R"({"\u0062":1,"\u0061":2})", R"({"a":2,"b":1})"},
      {R"(["\/","\b\t\n\f\r","\u000B\u001f","\"\\"])",
       R"(["/","\b\t\n\f\r","\u000b\u001f","\"\\"])"},
      {R"(["\u00e4\ud83d\udcb6\u007f"])", "[\"\xC3\xA4\xF0\x9F\x92\xB6\x7F\"]"},
      {R"({"a":null,"B":true,"":false})", R"({"":false,"B":true,"a":null})"},
      {"[ ]", "[]"},
      {"{ }", "{}"},
      {"[-0,0,18446744073709551616]", "[-0,0,18446744073709551616]"},
      // By code point: U+FFFD before U+1F4B6, where UTF-16 code units would say otherwise.
      {"{\"\xF0\x9F\x92\xB6\":1,\"\xEF\xBF\xBD\":2}",
       "{\"\xEF\xBF\xBD\":2,\"\xF0\x9F\x92\xB6\":1}"},
  };
  for (const auto& attempt : attempts) {
    CAPTURE(attempt.document);
    CHECK(canonical_text(attempt.document) == attempt.canonical);
  }
}

TEST_CASE("FPR-03 what differs stays different") {
  struct Attempt {
    std::string_view one;
    std::string_view other;
  };
  const Attempt attempts[] = {
      {R"({"amount":1000})", R"({"amount":"1000"})"},
      {"[1,2]", "[2,1]"},
      {"[1]", "[1.0]"},
      {"[1000]", "[1e3]"},
      {"[0]", "[-0]"},
      {"[9007199254740992]", "[9007199254740993]"},
      {R"(["a"])", R"(["A"])"},
      {R"(["a"])", R"(["a "])"},
      {R"({"a":null})", "{}"},
      {R"(["null"])", "[null]"},
      {R"(["true"])", "[true]"},
      {"[]", "{}"},
      {"[[],[]]", "[[[]]]"},
      {R"({"a":"b\",\"c\":\"d"})", R"({"a":"b","c":"d"})"},
      // The same to the eye: composed and decomposed.
      {"[\"\xC3\xA4\"]", "[\"a\xCC\x88\"]"},
  };
  for (const auto& attempt : attempts) {
    CAPTURE(attempt.one);
    CAPTURE(attempt.other);
    CHECK(canonical_text(attempt.one) != canonical_text(attempt.other));
  }
}

TEST_CASE("property: any writing of a document has its canonical text, any change another one") {
  Author author(20'261'129);
  for (int round = 0; round < 4000; ++round) {
    const auto document = author.document();
    const auto canonical = canonical_json(document);
    for (int writing = 0; writing < 3; ++writing) {
      const auto text = author.written(document);
      CAPTURE(text);
      REQUIRE(canonical_text(text) == canonical);
    }
    REQUIRE(canonical_text(canonical) == canonical);
    auto changed = document;
    author.change(changed);
    CAPTURE(canonical);
    REQUIRE(canonical_json(changed) != canonical);
  }
}

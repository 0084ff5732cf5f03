#include "runtime/utf8.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace oncepay::runtime;

namespace {

// Each piece as "41", or "!1" for one invalid byte.
std::string pieces_of(std::string_view text) {
  std::string pieces;
  while (!text.empty()) {
    const Utf8Piece piece = first_utf8_piece(text);
    pieces += pieces.empty() ? "" : " ";
    pieces += piece.valid ? std::to_string(piece.code_point) : "!" + std::to_string(piece.bytes);
    text.remove_prefix(piece.bytes);
  }
  return pieces;
}

}  // namespace

TEST_CASE("UTF-8 is taken apart as table 3-7 of Unicode says") {
  struct Row {
    std::string text;
    std::string pieces;
  };
  const std::vector<Row> rows{
      {"A", "65"},
      {"\xc2\x80", "128"},
      {"\xdf\xbf", "2047"},
      {"\xe0\xa0\x80", "2048"},
      {"\xed\x9f\xbf", "55295"},
      {"\xee\x80\x80", "57344"},
      {"\xef\xbf\xbf", "65535"},
      {"\xf0\x90\x80\x80", "65536"},
      {"\xf4\x8f\xbf\xbf", "1114111"},
      {std::string("\0", 1), "0"},
      {"\x80", "!1"},
      {"\xc0\x80", "!1 !1"},  // overlong
      {"\xc1\xbf", "!1 !1"},
      {"\xe0\x9f\xbf", "!1 !1 !1"},
      {"\xf0\x8f\xbf\xbf", "!1 !1 !1 !1"},
      {"\xed\xa0\x80", "!1 !1 !1"},         // surrogate
      {"\xf4\x90\x80\x80", "!1 !1 !1 !1"},  // above U+10FFFF
      {"\xf5\x80\x80\x80", "!1 !1 !1 !1"},
      {"\xff", "!1"},
      {"\xe2\x82", "!2"},  // cut: one maximal subpart
      {"\xf0\x9f\x92", "!3"},
      {"\xe2\x82"
       "A",
       "!2 65"},
      {"\xe2\xe2\x82\xac", "!1 8364"},
  };
  for (const auto& [text, pieces] : rows) {
    CAPTURE(pieces);
    CHECK(pieces_of(text) == pieces);
    CHECK(is_valid_utf8(text) == (pieces.find('!') == std::string::npos));
  }
  CHECK(is_valid_utf8(""));
}

// UTF-8 read one code point at a time, without trusting it.
//
// Deliberately not here: normalization, classes of characters. Overlong forms, surrogates and what
// lies above U+10FFFF are invalid; an invalid piece is the longest prefix that no valid sequence
// could continue from, so that one U+FFFD stands for one damaged character.
//
// Threads: pure functions.
// Source: RFC 3629; Unicode 15, table 3-7 "Well-Formed UTF-8 Byte Sequences".
#pragma once

#include <cstddef>
#include <string_view>

namespace oncepay::runtime {

struct Utf8Piece {
  std::size_t bytes;    // at least 1
  char32_t code_point;  // of a valid piece
  bool valid;
};

// `text` is not empty.
Utf8Piece first_utf8_piece(std::string_view text);

bool is_valid_utf8(std::string_view text);

}  // namespace oncepay::runtime

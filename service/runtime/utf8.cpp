#include "runtime/utf8.hpp"

namespace oncepay::runtime {
namespace {

struct Lead {
  std::size_t bytes;         // of the whole sequence; 0 = no sequence begins so
  unsigned char second_min;  // of its second byte; later ones are 0x80 to 0xbf
  unsigned char second_max;
};

Lead lead_of(unsigned char byte) {
  if (byte < 0x80) return {1, 0, 0};
  if (byte < 0xc2) return {0, 0, 0};
  if (byte < 0xe0) return {2, 0x80, 0xbf};
  if (byte == 0xe0) return {3, 0xa0, 0xbf};
  if (byte == 0xed) return {3, 0x80, 0x9f};
  if (byte < 0xf0) return {3, 0x80, 0xbf};
  if (byte == 0xf0) return {4, 0x90, 0xbf};
  if (byte < 0xf4) return {4, 0x80, 0xbf};
  if (byte == 0xf4) return {4, 0x80, 0x8f};
  return {0, 0, 0};
}

}  // namespace

Utf8Piece first_utf8_piece(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  const Lead lead = lead_of(first);
  if (lead.bytes == 0) return {1, 0, false};
  if (lead.bytes == 1) return {1, first, true};
  char32_t code_point = first & (0x7fU >> lead.bytes);
  for (std::size_t at = 1; at < lead.bytes; ++at) {
    if (at == text.size()) return {at, 0, false};
    const auto byte = static_cast<unsigned char>(text[at]);
    const unsigned char min = at == 1 ? lead.second_min : 0x80;
    const unsigned char max = at == 1 ? lead.second_max : 0xbf;
    if (byte < min || byte > max) return {at, 0, false};
    code_point = (code_point << 6U) | (byte & 0x3fU);
  }
  return {lead.bytes, code_point, true};
}

bool is_valid_utf8(std::string_view text) {
  while (!text.empty()) {
    const Utf8Piece piece = first_utf8_piece(text);
    if (!piece.valid) return false;
    text.remove_prefix(piece.bytes);
  }
  return true;
}

}  // namespace oncepay::runtime

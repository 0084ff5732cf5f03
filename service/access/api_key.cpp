#include "access/api_key.hpp"

#include <cstdint>

#include "runtime/digest.hpp"

namespace oncepay::access {
namespace {

constexpr std::string_view prefix = "opk_";
constexpr std::string_view alphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
constexpr std::size_t random_byte_count = 32;
constexpr std::size_t key_length = 4 + 43;

std::string base64url(std::string_view bytes) {
  std::string text;
  std::uint32_t bits = 0;
  unsigned pending = 0;
  for (const char byte : bytes) {
    bits = (bits << 8U) | static_cast<unsigned char>(byte);
    for (pending += 8; pending >= 6; pending -= 6) {
      text += alphabet[(bits >> (pending - 6)) & 0x3fU];
    }
  }
  if (pending > 0) text += alphabet[(bits << (6 - pending)) & 0x3fU];
  return text;
}

}  // namespace

std::string make_api_key() {
  return std::string(prefix) + base64url(runtime::random_bytes(random_byte_count));
}

bool is_api_key(std::string_view text) {
  return text.size() == key_length && text.starts_with(prefix) &&
         text.find_first_not_of(alphabet, prefix.size()) == std::string_view::npos;
}

std::string digest_of_api_key(std::string_view api_key) { return runtime::sha256(api_key); }

}  // namespace oncepay::access

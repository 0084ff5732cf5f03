#include "runtime/uuid.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>

#include "runtime/digest.hpp"

namespace oncepay::runtime {
namespace {

constexpr unsigned counter_bits = 12;

// 48 bits of Unix milliseconds and a 12-bit counter that starts below half in each new millisecond.
// A counter that overflows carries into the milliseconds, and a clock that goes back is not
// followed, so the number only ever rises. One per process: that is the scope in which ids rise
// strictly.
std::uint64_t next_time_and_counter(std::uint64_t random) {
  static std::atomic<std::uint64_t> last{0};
  const auto now = std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::system_clock::now().time_since_epoch());
  const std::uint64_t fresh =
      (static_cast<std::uint64_t>(now.count()) << counter_bits) | (random & 0x7ffU);
  std::uint64_t seen = last.load(std::memory_order_relaxed);
  std::uint64_t next = 0;
  do {
    next = std::max(fresh, seen + 1);
  } while (!last.compare_exchange_weak(seen, next, std::memory_order_relaxed));
  return next;
}

std::uint64_t read_u64(std::string_view bytes) {
  std::uint64_t number = 0;
  for (const char byte : bytes.substr(0, 8)) {
    number = (number << 8U) | static_cast<unsigned char>(byte);
  }
  return number;
}

bool is_hex_digit(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

}  // namespace

std::string make_uuid_v7() {
  const std::string random = random_bytes(16);
  const std::uint64_t ordered = next_time_and_counter(read_u64(random.substr(8)));
  const std::uint64_t high = (ordered >> counter_bits << 16U) | 0x7000U | (ordered & 0xfffU);
  const std::uint64_t low = (read_u64(random) & 0x3fffffffffffffffU) | 0x8000000000000000U;
  std::string text;
  text.reserve(36);
  static constexpr std::string_view digits = "0123456789abcdef";
  for (unsigned at = 0; at < 32; ++at) {
    if (at == 8 || at == 12 || at == 16 || at == 20) text += '-';
    const std::uint64_t half = at < 16 ? high : low;
    text += digits[(half >> (60U - 4U * (at % 16))) & 0xfU];
  }
  return text;
}

bool is_uuid(std::string_view text) {
  if (text.size() != 36) return false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool dash = at == 8 || at == 13 || at == 18 || at == 23;
    if (dash ? text[at] != '-' : !is_hex_digit(text[at])) return false;
  }
  return true;
}

}  // namespace oncepay::runtime

#include "http/json_text.hpp"

#include <array>
#include <charconv>
#include <chrono>

namespace oncepay::http {
namespace {

// 0: as it is; 'u': \u00xx; anything else: the letter behind the backslash.
constexpr std::array<char, 256> make_escapes() {
  std::array<char, 256> escapes{};
  for (std::size_t control = 0; control < 0x20; ++control) escapes[control] = 'u';
  escapes['\b'] = 'b';
  escapes['\t'] = 't';
  escapes['\n'] = 'n';
  escapes['\f'] = 'f';
  escapes['\r'] = 'r';
  escapes['"'] = '"';
  escapes['\\'] = '\\';
  return escapes;
}

constexpr std::array<char, 256> escape_of = make_escapes();

void append_digits(std::string& out, std::int64_t number, std::size_t width) {
  char text[20];
  const auto end = std::to_chars(text, text + sizeof text, number).ptr;
  const auto length = static_cast<std::size_t>(end - text);
  if (length < width) out.append(width - length, '0');
  out.append(text, length);
}

}  // namespace

void append_json_string(std::string& out, std::string_view utf8) {
  constexpr std::string_view hex = "0123456789abcdef";
  out += '"';
  std::size_t plain_begin = 0;
  for (std::size_t at = 0; at < utf8.size(); ++at) {
    const auto byte = static_cast<unsigned char>(utf8[at]);
    const char escape = escape_of[byte];
    if (escape == 0) [[likely]]
      continue;
    out.append(utf8, plain_begin, at - plain_begin);
    plain_begin = at + 1;
    out += '\\';
    out += escape;
    if (escape == 'u') {
      out += "00";
      out += hex[byte >> 4];
      out += hex[byte & 0xF];
    }
  }
  out.append(utf8, plain_begin, std::string_view::npos);
  out += '"';
}

void append_json_number(std::string& out, std::int64_t number) {
  char text[20];
  out.append(text, std::to_chars(text, text + sizeof text, number).ptr);
}

void append_json_time(std::string& out, std::int64_t time_us) {
  using namespace std::chrono;
  const sys_time<microseconds> time{microseconds{time_us}};
  const auto midnight = floor<days>(time);
  const year_month_day date{midnight};
  const hh_mm_ss clock{time - midnight};
  out += '"';
  append_digits(out, static_cast<int>(date.year()), 4);
  out += '-';
  append_digits(out, static_cast<unsigned>(date.month()), 2);
  out += '-';
  append_digits(out, static_cast<unsigned>(date.day()), 2);
  out += 'T';
  append_digits(out, clock.hours().count(), 2);
  out += ':';
  append_digits(out, clock.minutes().count(), 2);
  out += ':';
  append_digits(out, clock.seconds().count(), 2);
  out += '.';
  append_digits(out, clock.subseconds().count(), 6);
  out += "Z\"";
}

}  // namespace oncepay::http

#include "http/edge/answer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "http/edge/grammar.hpp"

namespace oncepay::http::edge {
namespace {

std::string_view reason_phrase(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 201:
      return "Created";
    case 202:
      return "Accepted";
    case 204:
      return "No Content";
    case 304:
      return "Not Modified";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 402:
      return "Payment Required";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 406:
      return "Not Acceptable";
    case 408:
      return "Request Timeout";
    case 409:
      return "Conflict";
    case 410:
      return "Gone";
    case 411:
      return "Length Required";
    case 412:
      return "Precondition Failed";
    case 413:
      return "Content Too Large";
    case 414:
      return "URI Too Long";
    case 415:
      return "Unsupported Media Type";
    case 417:
      return "Expectation Failed";
    case 422:
      return "Unprocessable Content";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 501:
      return "Not Implemented";
    case 503:
      return "Service Unavailable";
    case 504:
      return "Gateway Timeout";
    case 505:
      return "HTTP Version Not Supported";
    default:
      return "";  // a phrase may be empty, nobody is to read it
  }
}

bool belongs_to_edge(std::string_view name) {
  constexpr std::array<std::string_view, 5> ours{"Content-Length", "Connection", "Date",
                                                 "Transfer-Encoding", "Keep-Alive"};
  return std::any_of(ours.begin(), ours.end(),
                     [name](std::string_view own) { return equals_ignoring_case(name, own); });
}

bool is_sendable(const Header& field) {
  constexpr std::string_view breaks_framing("\r\n\0", 3);
  return is_token(field.name) && field.value.find_first_of(breaks_framing) == std::string::npos;
}

bool has_body(int status) { return status != 204 && status != 304; }

}  // namespace

bool append_answer(const Response& response, const AnswerFacts& facts, std::string& wire) {
  // An interim status would leave the client waiting for the final one.
  if (response.status < 200 || response.status > 599) return false;
  if (!std::all_of(response.headers.begin(), response.headers.end(), is_sendable)) return false;

  auto out = std::back_inserter(wire);
  fmt::format_to(out, "HTTP/1.1 {} {}\r\nDate: {}\r\n", response.status,
                 reason_phrase(response.status), facts.date);
  for (const auto& [name, value] : response.headers) {
    if (!belongs_to_edge(name)) wire.append(name).append(": ").append(value).append("\r\n");
  }
  if (has_body(response.status)) {
    fmt::format_to(out, "Content-Length: {}\r\n", response.body.size());
  }
  switch (facts.after) {
    case AfterAnswer::close:
      wire.append("Connection: close\r\n");
      break;
    case AfterAnswer::say_keep_alive:
      wire.append("Connection: keep-alive\r\n");
      break;
    case AfterAnswer::keep_alive:
      break;
  }
  wire.append("\r\n");
  if (has_body(response.status) && !facts.is_head_request) wire.append(response.body);
  return true;
}

bool wants_close(const Response& response) {
  return std::any_of(response.headers.begin(), response.headers.end(), [](const Header& field) {
    return equals_ignoring_case(field.name, "Connection") &&
           equals_ignoring_case(field.value, "close");
  });
}

std::string_view DateCache::at(std::time_t second) {
  if (second == second_) return text_;
  constexpr std::array days{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  constexpr std::array months{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                              "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  std::tm utc{};
  ::gmtime_r(&second, &utc);
  // By hand: strftime would translate the names by the locale.
  text_ = fmt::format("{}, {:02} {} {:04} {:02}:{:02}:{:02} GMT",
                      days[static_cast<std::size_t>(utc.tm_wday)], utc.tm_mday,
                      months[static_cast<std::size_t>(utc.tm_mon)], utc.tm_year + 1900, utc.tm_hour,
                      utc.tm_min, utc.tm_sec);
  second_ = second;
  return text_;
}

}  // namespace oncepay::http::edge

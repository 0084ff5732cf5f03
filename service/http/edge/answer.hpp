// A Response as bytes, with what belongs to the edge: Content-Length, Date, Connection.
//
// A value that would break the framing (CR, LF, NUL) is never sent: such a response cannot be
// written and the caller sends 500 instead. Fields of the edge that a handler set anyway are left
// out.
//
// Deliberately not here: sending. Threads: pure functions; a DateCache is used by one thread at a
// time. Source: RFC 9112 sections 4 and 6.3, RFC 9110 sections 5.6.7 (Date), 8.6 (Content-Length),
// 9.3.2 (HEAD).
#pragma once

#include <ctime>
#include <string>
#include <string_view>

#include "http/message.hpp"

namespace oncepay::http::edge {

inline constexpr std::string_view continue_answer = "HTTP/1.1 100 Continue\r\n\r\n";

enum class AfterAnswer {
  close,           // Connection: close
  keep_alive,      // nothing to say in HTTP/1.1
  say_keep_alive,  // Connection: keep-alive, for HTTP/1.0
};

struct AnswerFacts {
  bool is_head_request = false;  // no body, and the Content-Length of the answer to a GET
  AfterAnswer after = AfterAnswer::close;
  std::string_view date;
};

// Appends to `wire`. False, and nothing appended: the response cannot be sent.
[[nodiscard]] bool append_answer(const Response& response, const AnswerFacts& facts,
                                 std::string& wire);

// The handler asks for the connection to be closed.
[[nodiscard]] bool wants_close(const Response& response);

// "Sun, 06 Nov 1994 08:49:37 GMT", made once a second.
class DateCache {
 public:
  [[nodiscard]] std::string_view at(std::time_t second);

 private:
  std::time_t second_ = -1;
  std::string text_;
};

}  // namespace oncepay::http::edge

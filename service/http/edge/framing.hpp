// Cuts a stream of bytes into whole HTTP/1.x requests, or says why it will not.
//
// A pure state machine: feed it bytes in any cuts, and it ends in the same state as with all of
// them at once. It keeps no more than one request, within FramingLimits. Order of refusals is order
// of bytes: what is wrong first is answered.
//
// Deliberately not here: sockets, clocks, answers. Stricter than the RFC has to be: no bare LF, no
// white space around a chunk size, no repeated length, one empty line before a request and no more.
//
// Threads: one at a time. Source: RFC 9112; sections are named where a rule is less than obvious.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "http/edge/head.hpp"
#include "http/edge/refusal.hpp"
#include "http/message.hpp"

namespace oncepay::http::edge {

struct FramingLimits {
  std::size_t head_bytes_max = 16 * 1024;  // request line, fields and the empty line; trailers too
  std::size_t fields_max = 100;            // header fields; trailer fields are counted on their own
  std::size_t body_bytes_max = 64 * 1024;  // after de-chunking
  std::size_t chunk_line_bytes_max = 256;  // one chunk size with its extensions and CR LF
  std::size_t chunk_extension_bytes_max = 4 * 1024;  // of all chunks of a body together
};

class Framing {
 public:
  enum class State { idle, head, body, complete, refused };

  explicit Framing(const FramingLimits& limits) : limits_(limits) {}

  // Takes bytes up to the end of one request and returns how many it took. The rest belongs to the
  // next request: feed it after take(). Takes nothing once complete or refused.
  std::size_t feed(std::string_view bytes);

  // idle: not a byte of a request has come, closing the connection loses nothing.
  [[nodiscard]] State state() const;

  // Valid in state refused.
  [[nodiscard]] const Refusal& refusal() const { return refusal_; }

  // The sender waits for "100 Continue": its head is fine and none of its body has come yet. True
  // until continue_sent() is called.
  [[nodiscard]] bool continue_due() const;
  void continue_sent() { meaning_.continue_expected = false; }

  // Facts of the request line and head, as far as they are known.
  [[nodiscard]] bool keep_alive() const { return meaning_.keep_alive; }
  [[nodiscard]] bool is_head_request() const { return request_.method == "HEAD"; }
  [[nodiscard]] Version version() const { return version_; }

  // Memory that the request in the making holds, for whoever adds it up over all connections.
  [[nodiscard]] std::size_t bytes_held() const;

  // Valid in state complete: hands out the request and begins anew. Transfer-Encoding is gone from
  // its headers, since the body is no longer chunked; the Host is that of an absolute-form target.
  [[nodiscard]] Request take();

  // Begins anew, whatever was read so far, and gives its memory back.
  void reset() { *this = Framing(FramingLimits(limits_)); }

 private:
  enum class Part {
    request_line,
    fields,
    sized_body,
    chunk_size,
    chunk_data,
    chunk_end,
    trailers,
    complete,
    refused
  };
  enum class Line { incomplete, complete, refused };

  Line take_line(std::string_view& bytes, std::size_t& budget, const Refusal& over_budget);
  void end_line();
  void step(std::string_view& bytes);
  void step_line(std::string_view& bytes);
  void step_body(std::string_view& bytes);
  void step_chunk_end(std::string_view& bytes);

  void read_request_line();
  void read_field();
  void end_head();
  void read_chunk_size();
  void read_trailer();
  void refuse(const Refusal& refusal);

  FramingLimits limits_;
  Part part_ = Part::request_line;
  Refusal refusal_;
  Request request_;
  std::string authority_;  // of an absolute-form target
  Version version_ = Version::http_1_1;
  HeadMeaning meaning_;
  std::string kept_line_;    // the begun line, when its end is not among the bytes at hand
  std::string_view line_;    // the complete line, in kept_line_ or in the bytes at hand
  bool saw_cr_ = false;      // the last byte was a CR whose LF has not come
  bool blank_line_ = false;  // the one empty line before a request has come
  std::size_t head_left_ =
      limits_.head_bytes_max;  // bytes that the head, later the trailers, may take
  std::size_t line_left_ = 0;  // bytes that this chunk line may take
  std::size_t extension_left_ = 0;
  std::size_t trailers_left_ = 0;
  std::size_t body_left_ = 0;  // bytes missing of the sized body or of this chunk
};

}  // namespace oncepay::http::edge

// One client: its channel, the request it is sending, the answer it is reading. It moves bytes and
// says how that went; the loop decides what follows.
//
// One request at a time: while one is with the handler or its answer is not fully sent, nothing is
// read, so the kernel's windows hold the client back and at most one read's worth of bytes waits
// here.
//
// Deliberately not here: time, limits over all connections, the handler (loop.hpp).
//
// Threads: the loop's alone. Source: RFC 9112 sections 9.3.2 (pipelining), 9.6 (tear-down).
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "http/edge/acceptor.hpp"
#include "http/edge/answer.hpp"
#include "http/edge/channel.hpp"
#include "http/edge/deadlines.hpp"
#include "http/edge/framing.hpp"

namespace oncepay::http::edge {

enum class Phase {
  handshake,
  receive,  // idle or in the middle of a request
  running,  // the handler has the request
  write,    // an answer is on its way
  linger,   // the answer is out, what still comes is dropped until the client closes
};

enum class Received {
  request,  // a whole one, take_request() has it
  refused,  // framing().refusal() says why
  more,     // some bytes came, more may be there
  blocked,
  ended,  // the client will send no more and left no whole request
  failed,
};

class Connection {
 public:
  Connection(ConnectionId id, std::unique_ptr<Channel> channel, Peer peer,
             const FramingLimits& limits, Deadlines::Place deadline);

  [[nodiscard]] ConnectionId id() const { return id_; }
  [[nodiscard]] const Peer& peer() const { return peer_; }
  [[nodiscard]] const Framing& framing() const { return framing_; }

  // An event of the socket: what was blocked may be so no longer.
  void wake(bool peer_ended);

  [[nodiscard]] Io handshake() { return channel_->handshake(); }

  // Reads once, or takes up what is left of the last read. `scratch` is free again afterwards.
  [[nodiscard]] Received receive(std::span<char> scratch, std::size_t& bytes_in);

  // Keeps in mind how the answer has to look, then empties the framing for the next request.
  [[nodiscard]] Request take_request();
  // The same for a request that was refused: nothing of it is kept.
  void give_up_request();

  // done: all is with the kernel. blocked: the rest is kept for flush().
  [[nodiscard]] Io send(std::string_view wire, std::size_t& bytes_out);
  [[nodiscard]] Io flush(std::size_t& bytes_out);
  [[nodiscard]] bool has_output() const { return !output_.empty(); }

  // The sender waits for 100 Continue, and nothing else is on its way to it.
  [[nodiscard]] bool continue_due() const { return !has_output() && framing_.continue_due(); }
  void continue_sent() { framing_.continue_sent(); }

  // Nothing would be lost by closing.
  [[nodiscard]] bool is_idle() const;

  void finish_writing() { channel_->finish_writing(); }
  [[nodiscard]] Io discard(std::span<char> scratch);
  [[nodiscard]] std::size_t discarded_bytes() const { return discarded_bytes_; }

  // The answer that is due.
  [[nodiscard]] AnswerFacts answer_facts(bool close) const;
  [[nodiscard]] bool keep_alive() const { return keep_alive_; }
  void answered() { request_bytes_ = 0; }

  // What this connection adds to buffered_bytes_max.
  [[nodiscard]] std::size_t bytes_held() const;

  // Steered by the loop.
  Phase phase = Phase::receive;
  Deadlines::Place deadline;
  bool close_after_answer = false;
  std::size_t bytes_accounted = 0;

 private:
  [[nodiscard]] Received judge() const;
  void remember_request();

  const ConnectionId id_;
  const std::unique_ptr<Channel> channel_;
  const Peer peer_;
  Framing framing_;
  std::string input_;  // bytes behind the last request, not fed yet
  std::size_t input_taken_ = 0;
  std::string output_;
  std::size_t output_sent_ = 0;
  std::size_t request_bytes_ = 0;  // of the request that the handler has
  std::size_t discarded_bytes_ = 0;
  bool readable_ = true;
  bool peer_ended_ = false;
  bool is_head_request_ = false;
  bool keep_alive_ = false;
  Version version_ = Version::http_1_1;
};

}  // namespace oncepay::http::edge

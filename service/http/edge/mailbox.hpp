// Answers from other threads on their way to the loop, and the bell that wakes it.
//
// Many letters between two turns of the loop ring once. A letter to a connection that is gone is
// dropped by the loop. There is at most one letter for each request that was handed out.
//
// Threads: post and ring from any; collect by the loop alone. Outlives the server as long as
// somebody holds a Reply. Source: eventfd(2).
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "http/edge/deadlines.hpp"
#include "http/edge/descriptor.hpp"
#include "http/message.hpp"

namespace oncepay::http::edge {

struct Letter {
  ConnectionId connection = 0;
  std::optional<Response> response;  // nothing: the handler will never answer
};

class Mailbox {
 public:
  Mailbox();  // throws std::system_error

  // Readable when there is something to collect or somebody rang.
  [[nodiscard]] int descriptor() const { return bell_.get(); }

  void post(Letter letter);
  void ring();

  // Exchanges the letters that have come for `empty`, whose memory is used again.
  void collect(std::vector<Letter>& empty);

  // Letters are dropped from now on: nobody will collect them.
  void close();

 private:
  Descriptor bell_;
  std::mutex mutex_;
  std::vector<Letter> letters_;
  bool closed_ = false;
};

// A Reply that answers once and, if it is forgotten, says so.
[[nodiscard]] Reply make_reply(std::shared_ptr<Mailbox> mailbox, ConnectionId connection);

}  // namespace oncepay::http::edge

// A connected, non-blocking byte stream: plain here, encrypted in tls.hpp. What the loop reads and
// writes.
//
// Deliberately not here: waiting (loop.hpp), meaning (framing.hpp). No call blocks, none raises
// SIGPIPE (TLS relies on the loop's thread having it blocked).
//
// Threads: one at a time. Source: recv(2), send(2), shutdown(2).
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include "http/edge/descriptor.hpp"

namespace oncepay::http::edge {

enum class Io {
  done,     // some bytes went through, or the handshake is finished
  blocked,  // nothing now; the socket's next event may change that
  ended,    // the peer will send no more
  failed,   // the connection is of no use any more
};

struct IoResult {
  Io io = Io::failed;
  std::size_t bytes = 0;
};

class Channel {
 public:
  explicit Channel(Descriptor socket) : socket_(std::move(socket)) {}
  virtual ~Channel() = default;
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  [[nodiscard]] int descriptor() const { return socket_.get(); }

  // Once, until it is done.
  virtual Io handshake() = 0;
  virtual IoResult read(std::span<char> buffer) = 0;
  // May take a part. After `blocked` the same bytes are offered again.
  virtual IoResult write(std::string_view bytes) = 0;
  // Says that nothing more will be written. What the peer still sends can be discarded.
  virtual void finish_writing();
  // Reads from the socket without looking at the bytes.
  IoResult discard(std::span<char> buffer);

  // Whether a read that filled less than its buffer has emptied the socket.
  [[nodiscard]] virtual bool short_read_means_empty() const = 0;

 private:
  Descriptor socket_;
};

[[nodiscard]] std::unique_ptr<Channel> make_plain_channel(Descriptor socket);

}  // namespace oncepay::http::edge

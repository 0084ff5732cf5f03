// The address to listen on, as text and as an open socket.
//
// Deliberately not here: accepting (acceptor.hpp). SO_REUSEADDR alone: with SO_REUSEPORT two
// processes would share a port unnoticed.
//
// Threads: one at a time. Source: socket(7), ip(7), ipv6(7), unix(7).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "http/edge/descriptor.hpp"

namespace oncepay::http::edge {

struct ListenAddress {
  std::string host = "127.0.0.1";  // name or number, without brackets
  std::uint16_t port = 8080;       // 0: the system chooses, see Listener::port
  std::string unix_path;           // not empty: a Unix socket, host and port do not count
  mode_t unix_mode = 0660;
};

// "127.0.0.1:8080", "[::]:8080", "localhost:0", "unix:/run/oncepay.sock",
// "unix:/run/a.sock?mode=0600". Throws std::invalid_argument that says what is wrong.
[[nodiscard]] ListenAddress parse_listen(std::string_view text);

[[nodiscard]] std::string to_string(const ListenAddress& address);

// An open, non-blocking, listening socket. A Unix socket's file goes with it.
class Listener {
 public:
  // Throws std::runtime_error: a lower-case message and, where there is one, a line that begins
  // "HINT: ". The file of a Unix socket that nobody listens on any more is replaced.
  explicit Listener(const ListenAddress& address);
  Listener(Listener&&) = default;
  Listener& operator=(Listener&&) = delete;
  ~Listener();

  [[nodiscard]] int descriptor() const { return socket_.get(); }
  [[nodiscard]] std::uint16_t port() const { return port_; }  // 0 for a Unix socket
  [[nodiscard]] bool is_unix() const { return !unix_path_.empty(); }

 private:
  void open_unix(const ListenAddress& address);
  void open_tcp(const ListenAddress& address);

  Descriptor socket_;
  std::uint16_t port_ = 0;
  std::string unix_path_;
  dev_t unix_device_ = 0;  // which file was made here: another process may have replaced it since
  ino_t unix_inode_ = 0;
};

}  // namespace oncepay::http::edge

// A client that sends the bytes it is told to and shows what comes back: for rules about bytes on
// the wire.
//
// Every wait has a bound and throws when it passes, so that a test fails instead of hanging.
//
// Threads: one at a time.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "http/edge/descriptor.hpp"
#include "http/edge/observed.hpp"

namespace oncepay::http::edge::testing {

class RawClient {
 public:
  explicit RawClient(Descriptor connected) : socket_(std::move(connected)) {}
  explicit RawClient(std::uint16_t port, int receive_buffer_bytes = 0)
      : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    if (receive_buffer_bytes > 0) {
      ::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVBUF, &receive_buffer_bytes,
                   sizeof(receive_buffer_bytes));
    }
    connect(port);
  }

  // A client whose socket exists before it connects.
  static RawClient unconnected() {
    return RawClient(Descriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)));
  }
  static RawClient to_unix(const std::string& path) {
    Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    path.copy(name.sun_path, sizeof(name.sun_path) - 1);
    if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&name), sizeof(name)) != 0) {
      throw std::runtime_error("cannot connect to " + path);
    }
    return RawClient(std::move(socket));
  }

  void connect(std::uint16_t port) {
    sockaddr_in name{};
    name.sin_family = AF_INET;
    name.sin_port = htons(port);
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&name), sizeof(name)) != 0) {
      throw std::runtime_error("cannot connect");
    }
  }

  [[nodiscard]] int descriptor() const { return socket_.get(); }

  // False: the server has closed the connection.
  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t count = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (count < 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    return true;
  }

  void finish_writing() { ::shutdown(socket_.get(), SHUT_WR); }

  // Closes with a reset instead of a farewell.
  void reset() {
    const linger abruptly{1, 0};
    ::setsockopt(socket_.get(), SOL_SOCKET, SO_LINGER, &abruptly, sizeof(abruptly));
    socket_.close();
  }

  // The next answer, final or interim. Nothing: the connection was closed before one began.
  std::optional<Answer> read_answer(bool is_head_request = false) {
    std::size_t end = 0;
    while ((end = buffer_.find("\r\n\r\n")) == std::string::npos) {
      if (!read_some()) {
        if (buffer_.empty()) return std::nullopt;
        throw std::runtime_error("an answer broke off: " + buffer_);
      }
    }
    Answer answer;
    answer.head = buffer_.substr(0, end + 2);
    buffer_.erase(0, end + 4);
    answer.status = std::stoi(answer.head.substr(9, 3));
    const std::string length = answer.field("Content-Length");
    const std::size_t body = is_head_request || length.empty() ? 0 : std::stoul(length);
    while (buffer_.size() < body) {
      if (!read_some()) throw std::runtime_error("a body broke off");
    }
    answer.body = buffer_.substr(0, body);
    buffer_.erase(0, body);
    return answer;
  }

  // The server closes, and sends nothing more before.
  bool is_closed() {
    if (!buffer_.empty()) return false;
    return !read_some() && buffer_.empty();
  }

  // Something came, or the connection was closed, within the time.
  bool readable_within(std::chrono::milliseconds time) {
    if (!buffer_.empty()) return true;
    pollfd wanted{socket_.get(), POLLIN, 0};
    return ::poll(&wanted, 1, static_cast<int>(time.count())) > 0;
  }

 private:
  // False: closed or reset.
  bool read_some() {
    if (!readable_within_socket()) throw std::runtime_error("nothing came in time");
    char bytes[16 * 1024];
    const ssize_t count = ::recv(socket_.get(), bytes, sizeof(bytes), 0);
    if (count <= 0) return false;
    buffer_.append(bytes, static_cast<std::size_t>(count));
    return true;
  }
  bool readable_within_socket() {
    pollfd wanted{socket_.get(), POLLIN, 0};
    return ::poll(&wanted, 1, static_cast<int>(patience.count())) > 0;
  }

  Descriptor socket_;
  std::string buffer_;
};

}  // namespace oncepay::http::edge::testing

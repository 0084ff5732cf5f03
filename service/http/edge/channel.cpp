#include "http/edge/channel.hpp"

#include <sys/socket.h>

#include <cerrno>

namespace oncepay::http::edge {
namespace {

IoResult receive(int socket, std::span<char> buffer) {
  while (true) {
    const ssize_t count = ::recv(socket, buffer.data(), buffer.size(), 0);
    if (count > 0) return {Io::done, static_cast<std::size_t>(count)};
    if (count == 0) return {Io::ended, 0};
    if (errno == EINTR) continue;
    return {errno == EAGAIN ? Io::blocked : Io::failed, 0};
  }
}

class PlainChannel final : public Channel {
 public:
  using Channel::Channel;

  Io handshake() override { return Io::done; }

  IoResult read(std::span<char> buffer) override { return receive(descriptor(), buffer); }

  IoResult write(std::string_view bytes) override {
    while (true) {
      const ssize_t count = ::send(descriptor(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (count >= 0) return {Io::done, static_cast<std::size_t>(count)};
      if (errno == EINTR) continue;
      return {errno == EAGAIN ? Io::blocked : Io::failed, 0};
    }
  }

  [[nodiscard]] bool short_read_means_empty() const override { return true; }
};

}  // namespace

void Channel::finish_writing() { ::shutdown(descriptor(), SHUT_WR); }

IoResult Channel::discard(std::span<char> buffer) { return receive(descriptor(), buffer); }

std::unique_ptr<Channel> make_plain_channel(Descriptor socket) {
  return std::make_unique<PlainChannel>(std::move(socket));
}

}  // namespace oncepay::http::edge

#include "support/sockets.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

namespace support {
namespace {

constexpr int backlog = 512;

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

int without_delay(int socket) {
  const int on = 1;
  if (socket >= 0) ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return socket;
}

}  // namespace

int listen_on_loopback(std::uint16_t& port) {
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof address;
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  if (listener < 0 || ::bind(listener, any, size) != 0 || ::listen(listener, backlog) != 0 ||
      ::getsockname(listener, any, &size) != 0) {
    throw std::system_error(errno, std::generic_category(), "listen");
  }
  port = ntohs(address.sin_port);
  return listener;
}

int accept_from(int listener) {
  return without_delay(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC));
}

int connect_to_loopback(std::uint16_t port) {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in address = loopback(port);
  if (::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
    return without_delay(socket);
  }
  ::close(socket);
  return -1;
}

std::string receive_some(int socket) {
  std::array<char, 65536> chunk;
  const ssize_t size = ::recv(socket, chunk.data(), chunk.size(), 0);
  return size <= 0 ? "" : std::string(chunk.data(), static_cast<std::size_t>(size));
}

bool send_all(int socket, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

bool wait_readable(int socket, std::chrono::milliseconds budget) {
  pollfd ready{socket, POLLIN, 0};
  return ::poll(&ready, 1, static_cast<int>(budget.count())) > 0;
}

}  // namespace support

#include "http/edge/listen.hpp"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <system_error>

namespace oncepay::http::edge {
namespace {

// Bursts of connections wait here while the loop is busy; the kernel caps it at net.core.somaxconn.
constexpr int backlog = 4096;

std::string words(int error) { return std::generic_category().message(error); }

[[noreturn]] void fail(const ListenAddress& address, int error) {
  std::string text = fmt::format("cannot listen on {}: {}", to_string(address), words(error));
  if (error == EADDRINUSE) {
    text += "\nHINT: another process listens there; stop it or choose another address";
  } else if (error == EACCES && address.unix_path.empty()) {
    text += "\nHINT: ports below 1024 need a privilege; choose a higher one";
  } else if (error == EADDRNOTAVAIL) {
    text += "\nHINT: this machine has no such address";
  }
  throw std::runtime_error(text);
}

mode_t parse_mode(std::string_view text) {
  unsigned mode = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, fault] = std::from_chars(text.data(), end, mode, 8);
  if (fault != std::errc{} || stopped != end || mode > 0777) {
    throw std::invalid_argument(fmt::format("mode '{}' is no octal mode such as 0660", text));
  }
  return static_cast<mode_t>(mode);
}

ListenAddress parse_unix(std::string_view text) {
  ListenAddress address;
  const std::size_t question = std::min(text.find('?'), text.size());
  address.unix_path = text.substr(0, question);
  const std::string_view query = text.substr(question);
  if (!query.empty()) {
    constexpr std::string_view mode = "?mode=";
    if (query.substr(0, mode.size()) != mode) {
      throw std::invalid_argument(fmt::format("'{}' is unknown; ?mode=0660 is known", query));
    }
    address.unix_mode = parse_mode(query.substr(mode.size()));
  }
  if (address.unix_path.empty()) throw std::invalid_argument("a path has to follow 'unix:'");
  if (address.unix_path.size() >= sizeof(sockaddr_un::sun_path)) {
    throw std::invalid_argument(fmt::format("the path of a Unix socket has at most {} bytes",
                                            sizeof(sockaddr_un::sun_path) - 1));
  }
  return address;
}

sockaddr_un unix_name(const std::string& path) {
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  path.copy(name.sun_path, sizeof(name.sun_path) - 1);
  return name;
}

// A socket file outlives its process. Whether somebody still listens only a connection can tell.
void remove_stale(const ListenAddress& address, const sockaddr_un& name) {
  struct stat file {};
  if (::lstat(address.unix_path.c_str(), &file) != 0) return;
  if (!S_ISSOCK(file.st_mode)) fail(address, EEXIST);
  const Descriptor probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int connected =
      ::connect(probe.get(), reinterpret_cast<const sockaddr*>(&name), sizeof(name));
  if (connected == 0 || errno != ECONNREFUSED) fail(address, EADDRINUSE);
  ::unlink(address.unix_path.c_str());
}

std::uint16_t port_of(int socket) {
  sockaddr_storage bound{};
  socklen_t length = sizeof(bound);
  ::getsockname(socket, reinterpret_cast<sockaddr*>(&bound), &length);
  if (bound.ss_family == AF_INET6) {
    return ntohs(reinterpret_cast<const sockaddr_in6&>(bound).sin6_port);
  }
  return ntohs(reinterpret_cast<const sockaddr_in&>(bound).sin_port);
}

}  // namespace

ListenAddress parse_listen(std::string_view text) {
  constexpr std::string_view unix_prefix = "unix:";
  if (text.substr(0, unix_prefix.size()) == unix_prefix) {
    return parse_unix(text.substr(unix_prefix.size()));
  }
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) {
    throw std::invalid_argument(fmt::format("'{}' has no port: write host:port", text));
  }
  std::string_view host = text.substr(0, colon);
  const std::string_view port = text.substr(colon + 1);
  if (host.size() >= 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string_view::npos) {
    throw std::invalid_argument(fmt::format("'{}': write an IPv6 address as [::1]:8080", text));
  }
  if (host.empty()) {
    throw std::invalid_argument(
        fmt::format("'{}' has no host: write 0.0.0.0{} for all addresses", text, text));
  }
  ListenAddress address;
  address.host = host;
  const char* const end = port.data() + port.size();
  const auto [stopped, fault] = std::from_chars(port.data(), end, address.port);
  if (fault != std::errc{} || stopped != end) {
    throw std::invalid_argument(fmt::format("port '{}' is no number from 0 to 65535", port));
  }
  return address;
}

std::string to_string(const ListenAddress& address) {
  if (!address.unix_path.empty()) return "unix:" + address.unix_path;
  const bool is_ipv6 = address.host.find(':') != std::string::npos;
  return fmt::format(fmt::runtime(is_ipv6 ? "[{}]:{}" : "{}:{}"), address.host, address.port);
}

Listener::Listener(const ListenAddress& address) {
  if (address.unix_path.empty()) {
    open_tcp(address);
  } else {
    open_unix(address);
  }
}

Listener::~Listener() {
  if (!socket_.is_open() || unix_path_.empty()) return;
  struct stat file {};
  if (::lstat(unix_path_.c_str(), &file) != 0) return;
  if (file.st_dev == unix_device_ && file.st_ino == unix_inode_) ::unlink(unix_path_.c_str());
}

void Listener::open_unix(const ListenAddress& address) {
  const sockaddr_un name = unix_name(address.unix_path);
  remove_stale(address, name);
  socket_ = Descriptor(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const auto* any = reinterpret_cast<const sockaddr*>(&name);
  // The mode is set between bind and listen: before listen nobody can connect, whatever the umask
  // is.
  if (!socket_.is_open() || ::bind(socket_.get(), any, sizeof(name)) != 0 ||
      ::chmod(address.unix_path.c_str(), address.unix_mode) != 0 ||
      ::listen(socket_.get(), backlog) != 0) {
    fail(address, errno);
  }
  unix_path_ = address.unix_path;
  struct stat file {};
  if (::lstat(unix_path_.c_str(), &file) == 0) {
    unix_device_ = file.st_dev;
    unix_inode_ = file.st_ino;
  }
}

void Listener::open_tcp(const ListenAddress& address) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const std::string port = std::to_string(address.port);
  if (const int error = ::getaddrinfo(address.host.c_str(), port.c_str(), &wanted, &found)) {
    throw std::runtime_error(fmt::format("cannot listen on {}: {}\nHINT: is the host right?",
                                         to_string(address), ::gai_strerror(error)));
  }
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owned(found, ::freeaddrinfo);

  socket_ = Descriptor(::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket_.is_open()) fail(address, errno);
  const int on = 1;
  const int off = 0;
  ::setsockopt(socket_.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  // [::] takes IPv4 clients too, whatever the machine's default is.
  if (found->ai_family == AF_INET6) {
    ::setsockopt(socket_.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
  }
  if (::bind(socket_.get(), found->ai_addr, found->ai_addrlen) != 0 ||
      ::listen(socket_.get(), backlog) != 0) {
    fail(address, errno);
  }
  port_ = port_of(socket_.get());
}

}  // namespace oncepay::http::edge

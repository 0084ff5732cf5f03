#include "http/edge/acceptor.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace oncepay::http::edge {
namespace {

Descriptor open_reserve() { return Descriptor(::open("/dev/null", O_RDONLY | O_CLOEXEC)); }

}  // namespace

Peer describe_peer(const sockaddr_storage& address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  AddressKey key{};
  if (address.ss_family == AF_INET) {
    sockaddr_in ipv4{};
    std::memcpy(&ipv4, &address, sizeof(ipv4));
    ::inet_ntop(AF_INET, &ipv4.sin_addr, text.data(), text.size());
    std::memcpy(key.data() + 12, &ipv4.sin_addr, 4);
    return {text.data(), key};
  }
  if (address.ss_family != AF_INET6) return {"unix", std::nullopt};
  sockaddr_in6 ipv6{};
  std::memcpy(&ipv6, &address, sizeof(ipv6));
  const unsigned char* const bytes = ipv6.sin6_addr.s6_addr;
  if (IN6_IS_ADDR_V4MAPPED(&ipv6.sin6_addr)) {
    // An IPv4 client of a socket that takes both is the same client as ever.
    ::inet_ntop(AF_INET, bytes + 12, text.data(), text.size());
    std::copy(bytes + 12, bytes + 16, key.begin() + 12);
  } else {
    ::inet_ntop(AF_INET6, &ipv6.sin6_addr, text.data(), text.size());
    std::copy(bytes, bytes + 8, key.begin());
  }
  return {text.data(), key};
}

Acceptor::Acceptor(Listener listener, EdgeCounters& counters)
    : listener_(std::move(listener)), counters_(counters), reserve_(open_reserve()) {}

Acceptor::Outcome Acceptor::accept() {
  while (true) {
    sockaddr_storage address{};
    socklen_t length = sizeof(address);
    Descriptor socket(::accept4(listener_.descriptor(), reinterpret_cast<sockaddr*>(&address),
                                &length, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (socket.is_open()) {
      add(counters_.connections_accepted);
      if (!listener_.is_unix()) {
        // An answer is one write: waiting for more to send would only delay it.
        const int on = 1;
        ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
      }
      return {Status::accepted, std::move(socket), describe_peer(address)};
    }
    switch (errno) {
      case EAGAIN:
        return {};
      case EMFILE:
      case ENFILE:
        if (!turn_one_away()) return {Status::exhausted, {}, {}};
        break;
      case ENOBUFS:
      case ENOMEM:
        return {Status::exhausted, {}, {}};
      default:
        break;  // that one connection failed before it was accepted; the next may be fine
    }
  }
}

// Gives the reserved descriptor to one waiting connection for the blink of an eye.
bool Acceptor::turn_one_away() {
  reserve_.close();
  Descriptor socket(::accept4(listener_.descriptor(), nullptr, nullptr, SOCK_CLOEXEC));
  if (socket.is_open()) add(counters_.connections_refused_descriptors);
  // Another thread may have taken the descriptor meanwhile: then there is no reserve until one is
  // free.
  const bool turned_away = socket.is_open() || errno == EAGAIN;
  socket.close();
  reserve_ = open_reserve();
  return turned_away && reserve_.is_open();
}

bool AddressCounts::enter(const Peer& peer) {
  if (!peer.key) return true;
  std::size_t& count = counts_[*peer.key];
  if (count >= per_address_max_) return false;
  ++count;
  return true;
}

void AddressCounts::leave(const Peer& peer) {
  if (!peer.key) return;
  const auto found = counts_.find(*peer.key);
  if (found != counts_.end() && --found->second == 0) counts_.erase(found);
}

}  // namespace oncepay::http::edge

// New connections, one by one, counted by client address.
//
// When the process has no file descriptor left, the waiting connections are taken with a reserved
// one and closed, so that the listening socket does not stay readable and spin the loop, and
// clients need not guess.
//
// Deliberately not here: how many connections there may be in all, TLS (loop.hpp).
//
// Threads: one at a time. Source: accept4(2), "Error handling".
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <string>

#include "http/edge/counters.hpp"
#include "http/edge/descriptor.hpp"
#include "http/edge/listen.hpp"

struct sockaddr_storage;

namespace oncepay::http::edge {

// What connections are counted by: an IPv4 address, or the first 64 bits of an IPv6 address, since
// that is what one customer of a provider is given.
using AddressKey = std::array<unsigned char, 16>;

struct Peer {
  std::string address;            // as text without port; "unix" for a Unix socket
  std::optional<AddressKey> key;  // nothing: not limited
};

[[nodiscard]] Peer describe_peer(const sockaddr_storage& address);

class Acceptor {
 public:
  Acceptor(Listener listener, EdgeCounters& counters);

  [[nodiscard]] int descriptor() const { return listener_.descriptor(); }
  [[nodiscard]] std::uint16_t port() const { return listener_.port(); }

  enum class Status { accepted, none_waiting, exhausted };
  struct Outcome {
    Status status = Status::none_waiting;
    Descriptor socket;
    Peer peer;
  };
  // exhausted: nothing can be accepted for now; do not listen to the socket's events for a moment.
  [[nodiscard]] Outcome accept();

 private:
  [[nodiscard]] bool turn_one_away();

  Listener listener_;
  EdgeCounters& counters_;
  Descriptor reserve_;
};

// How many connections each address has.
class AddressCounts {
 public:
  explicit AddressCounts(std::size_t per_address_max) : per_address_max_(per_address_max) {}

  // Counts one more, unless the address has as many as it may.
  [[nodiscard]] bool enter(const Peer& peer);
  void leave(const Peer& peer);

 private:
  std::size_t per_address_max_;
  std::map<AddressKey, std::size_t> counts_;
};

}  // namespace oncepay::http::edge

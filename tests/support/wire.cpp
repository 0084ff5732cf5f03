#include "support/wire.hpp"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "support/sockets.hpp"

namespace support {
namespace {

void close_both(int& first, int& second) {
  ::close(std::exchange(first, -1));
  ::close(std::exchange(second, -1));
}

// COMMIT as a command of its own, alone or at the end of others, in a simple query or a parsed one;
// not the word inside another.
bool holds_commit(const std::string& bytes) {
  std::string lowered = bytes;
  std::transform(lowered.begin(), lowered.end(), lowered.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  for (auto at = lowered.find("commit"); at != std::string::npos;
       at = lowered.find("commit", at + 1)) {
    if (at < 2 || at + 6 >= lowered.size()) continue;
    const bool begins =
        static_cast<unsigned char>(lowered[at - 1]) < ' ' || lowered.compare(at - 2, 2, "; ") == 0;
    if (begins && (lowered[at + 6] == '\0' || lowered[at + 6] == ';')) return true;
  }
  return false;
}

// A transaction that is one message has written nothing yet when that passes here.
bool holds_claim(const std::string& bytes) {
  return bytes.find("once.claim_alone") != std::string::npos;
}

}  // namespace

Wire::Wire(const Database& database)
    : database_url_(database.url()), database_name_(database.name()), watcher_(database.url()) {
  listener_ = listen_on_loopback(port_);
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

Wire::~Wire() {
  thread_.request_stop();
  thread_.join();
  for (Pair& pair : pairs_) {
    close_both(pair.service, pair.server);
  }
  ::close(listener_);
}

std::string Wire::url() const {
  return "postgresql://" + std::string(runtime_role) + "@127.0.0.1:" + std::to_string(port_) + "/" +
         database_name_ + "?sslmode=disable&gssencmode=disable";
}

void Wire::at_next_commit(Loss loss, Then then) {
  then_ = then;
  loss_ = loss;
}

void Wire::cut() { cut_ = true; }

void Wire::mend() { cut_ = false; }

int Wire::connect_to_server() const {
  const std::string host = watcher_.host();
  if (host.starts_with('/')) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string path = host + "/.s.PGSQL." + watcher_.port();
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    const int server = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (::connect(server, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
      return server;
    }
    ::close(server);
    return -1;
  }
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (::getaddrinfo(host.c_str(), watcher_.port().c_str(), &hints, &found) != 0) {
    return -1;
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> release(found, &::freeaddrinfo);
  const int server = ::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (::connect(server, found->ai_addr, found->ai_addrlen) == 0) {
    const int on = 1;
    ::setsockopt(server, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return server;
  }
  ::close(server);
  return -1;
}

void Wire::accept_one() {
  Pair pair;
  pair.service = accept_from(listener_);
  pair.server = cut_ ? -1 : connect_to_server();
  if (pair.server < 0) {
    ::close(pair.service);
    return;
  }
  pairs_.push_back(std::move(pair));
}

bool Wire::transaction_wrote(const Pair& pair) {
  return !pair.backend_pid.empty() &&
         watcher_.number("SELECT count(backend_xid) FROM pg_stat_activity WHERE pid = $1",
                         {pair.backend_pid}) == 1;
}

void Wire::lose(Pair& pair, const std::string& bytes) {
  if (then_ == Then::unreachable) {
    cut_ = true;
  }
  if (loss_ == Loss::answer && send_all(pair.server, bytes)) {
    // The server answers COMMIT once it has committed: after this the money has moved.
    pollfd answered{pair.server, POLLIN, 0};
    ::poll(&answered, 1, 10'000);
    receive_some(pair.server);
  }
  loss_ = Loss::nothing;
}

bool Wire::forward_from_service(Pair& pair) {
  const std::string bytes = receive_some(pair.service);
  if (bytes.empty()) {
    return false;
  }
  if (loss_ != Loss::nothing && holds_commit(bytes) &&
      (holds_claim(bytes) || transaction_wrote(pair))) {
    lose(pair, bytes);
    return false;
  }
  return send_all(pair.server, bytes);
}

bool Wire::forward_from_server(Pair& pair) {
  const std::string bytes = receive_some(pair.server);
  if (pair.backend_pid.empty()) {
    pair.greeting += bytes;
    // BackendKeyData: 'K', length 12, process id, secret.
    const std::size_t at = pair.greeting.find(std::string("K\0\0\0\x0c", 5));
    if (at != std::string::npos && pair.greeting.size() >= at + 9) {
      std::uint32_t pid = 0;
      std::memcpy(&pid, pair.greeting.data() + at + 5, sizeof pid);
      pair.backend_pid = std::to_string(ntohl(pid));
      pair.greeting.clear();
    }
  }
  return !bytes.empty() && send_all(pair.service, bytes);
}

void Wire::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    std::vector<pollfd> sockets{{listener_, POLLIN, 0}};
    for (const Pair& pair : pairs_) {
      sockets.push_back({pair.service, POLLIN, 0});
      sockets.push_back({pair.server, POLLIN, 0});
    }
    ::poll(sockets.data(), sockets.size(), 20);
    for (std::size_t i = 0; i < (sockets.size() - 1) / 2; ++i) {
      Pair& pair = pairs_[i];
      const bool lives = !cut_ && (sockets[2 * i + 1].revents == 0 || forward_from_service(pair)) &&
                         (sockets[2 * i + 2].revents == 0 || forward_from_server(pair));
      if (!lives) {
        close_both(pair.service, pair.server);
      }
    }
    std::erase_if(pairs_, [](const Pair& pair) { return pair.service < 0; });
    if (sockets[0].revents != 0) {
      accept_one();
    }
  }
}

}  // namespace support

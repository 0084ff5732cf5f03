// How the loop takes in new connections, and whom it turns away.
#include <sys/epoll.h>
#include <sys/socket.h>

#include <cstdint>
#include <ctime>
#include <utility>

#include "http/edge/loop.hpp"

namespace oncepay::http::edge {
namespace {

constexpr int accepts_max = 64;  // in one turn, so that a flood of them does not stop the others
constexpr std::chrono::milliseconds accept_pause{100};  // when the process has run out of something

}  // namespace

bool Loop::listen_to_acceptor(bool on) {
  epoll_event event{};     // its id is 0
  event.events = EPOLLIN;  // level-triggered: what one turn leaves, the next one takes
  const int operation = on ? EPOLL_CTL_ADD : EPOLL_CTL_DEL;
  return ::epoll_ctl(epoll_.get(), operation, acceptor_->descriptor(), &event) == 0;
}

void Loop::pause_accepting() {
  if (listen_to_acceptor(false)) accept_again_at_ = now_ + accept_pause;
}

void Loop::resume_accepting() {
  if (!accept_again_at_ || now_ < *accept_again_at_) return;
  accept_again_at_.reset();
  if (!listen_to_acceptor(true)) accept_again_at_ = now_ + accept_pause;
}

void Loop::accept_some() {
  for (int i = 0; i < accepts_max && acceptor_; ++i) {
    Acceptor::Outcome outcome = acceptor_->accept();
    switch (outcome.status) {
      case Acceptor::Status::none_waiting:
        return;
      case Acceptor::Status::exhausted:
        return pause_accepting();
      case Acceptor::Status::accepted:
        take_in(std::move(outcome.socket), std::move(outcome.peer));
        break;
    }
  }
}

bool Loop::make_room() {
  if (connections_open_ < config_.connections_max) return true;
  const auto idle = deadlines_.longest_idle(now_, config_.idle_protection);
  if (!idle) return false;
  add(counters_.connections_evicted_idle);
  close(*find(*idle));
  return true;
}

void Loop::take_in(Descriptor socket, Peer peer) {
  if (!address_counts_.enter(peer)) {
    add(counters_.connections_refused_address);
    return turn_away(socket, refusals::address_connections);
  }
  if (!make_room()) {
    address_counts_.leave(peer);
    add(counters_.connections_refused_limit);
    return turn_away(socket, refusals::too_many_connections);
  }
  const int fd = socket.get();
  const auto slot = static_cast<std::size_t>(fd);
  if (++generation_ == 0) ++generation_;
  const ConnectionId id = (std::uint64_t{generation_} << 32U) | slot;
  auto channel =
      tls_ == nullptr ? make_plain_channel(std::move(socket)) : tls_->accept(std::move(socket));
  epoll_event event{};
  event.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
  event.data.u64 = id;
  if (!channel || ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0) {
    address_counts_.leave(peer);
    return;
  }
  if (slot >= connections_.size()) connections_.resize(slot + 1);
  connections_[slot] = std::make_unique<Connection>(id, std::move(channel), std::move(peer),
                                                    framing_limits(config_), deadlines_.add(id));
  Connection& connection = *connections_[slot];
  connection.phase = tls_ == nullptr ? Phase::receive : Phase::handshake;
  const auto kind = tls_ == nullptr ? DeadlineKind::idle : DeadlineKind::handshake;
  deadlines_.set(connection.deadline, kind, now_);
  ++connections_open_;
  counters_.connections_now.store(connections_open_, std::memory_order_relaxed);
  // Registering an edge-triggered socket reports what is there already: no need to look now.
}

// Cheap on purpose: one write into an empty socket buffer, no waiting for anything.
void Loop::turn_away(const Descriptor& socket, const Refusal& refusal) {
  if (tls_ != nullptr) return;
  wire_.clear();
  AnswerFacts facts;
  facts.date = date_.at(std::time(nullptr));
  if (!append_answer(make_refusal(refusal), facts, wire_)) return;
  [[maybe_unused]] const ssize_t sent =
      ::send(socket.get(), wire_.data(), wire_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  ::shutdown(socket.get(), SHUT_WR);
  // Closing with unread bytes would reset the connection and take the answer with it.
  [[maybe_unused]] const ssize_t dropped =
      ::recv(socket.get(), scratch_.data(), scratch_.size(), MSG_DONTWAIT);
}

}  // namespace oncepay::http::edge

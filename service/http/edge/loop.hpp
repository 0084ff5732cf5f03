// One thread that owns every socket: it accepts, reads whole requests, hands them to the workers,
// and writes the answers that come back. No connection costs a thread, and none can make another
// one wait.
//
// How: epoll, edge-triggered, each socket registered once. pump() takes a connection as far as it
// goes without waiting, for a bounded number of steps; whoever could go on is taken up again after
// the others. Answers from other threads come through the Mailbox, many to a wake-up.
//
// Deliberately not here: the grammar (framing.hpp), TLS (tls.hpp), bytes of one connection
// (connection.hpp).
//
// Threads: run() in one; drain, stop_now and wait_drained from any other. Source: epoll(7).
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "http/edge/acceptor.hpp"
#include "http/edge/config.hpp"
#include "http/edge/connection.hpp"
#include "http/edge/counters.hpp"
#include "http/edge/deadlines.hpp"
#include "http/edge/mailbox.hpp"
#include "http/edge/tls.hpp"
#include "http/edge/workers.hpp"

namespace oncepay::http::edge {

class Loop {
 public:
  // All references outlive the loop. `tls` may be null.
  Loop(const EdgeConfig& config, EdgeCounters& counters, Workers& workers,
       std::shared_ptr<Mailbox> mailbox, Listener listener, TlsContext* tls);

  void run();

  // See Server.
  void drain(std::chrono::milliseconds shutdown_delay);
  void stop_now();
  [[nodiscard]] bool wait_drained(std::chrono::milliseconds deadline);

 private:
  // One turn of the loop.
  void wait_for_events();
  void turn();
  void hand_on();
  [[nodiscard]] int wait_ms() const;
  void on_event(std::uint64_t id, std::uint32_t events);
  void deliver_letters();
  void pass_deadlines();
  void advance_drain();

  // Accepting: loop_accept.cpp.
  void accept_some();
  void take_in(Descriptor socket, Peer peer);
  [[nodiscard]] bool make_room();
  void turn_away(const Descriptor& socket, const Refusal& refusal);
  [[nodiscard]] bool listen_to_acceptor(bool on);
  void pause_accepting();
  void resume_accepting();

  // One connection, as far as it goes. The steps return false when there is nothing more to do now;
  // the connection may be gone then.
  void pump(Connection& connection);
  [[nodiscard]] bool step(Connection& connection);
  [[nodiscard]] bool step_handshake(Connection& connection);
  [[nodiscard]] bool step_receive(Connection& connection);
  [[nodiscard]] bool step_write(Connection& connection);
  [[nodiscard]] bool step_linger(Connection& connection);

  [[nodiscard]] bool wait_for_more(Connection& connection, Received received);
  [[nodiscard]] bool send_continue(Connection& connection);
  void dispatch(Connection& connection);
  void refuse(Connection& connection, Refusal refusal);
  [[nodiscard]] Response make_refusal(const Refusal& refusal);
  void answer(Connection& connection, const Response& response, bool closing);
  void close(Connection& connection);
  void account(Connection& connection);

  [[nodiscard]] Connection* find(ConnectionId id);
  [[nodiscard]] bool over_budget() const { return bytes_held_ > config_.buffered_bytes_max; }
  [[nodiscard]] bool is_draining() const { return drain_at_.has_value(); }

  const EdgeConfig& config_;
  EdgeCounters& counters_;
  Workers& workers_;
  const std::shared_ptr<Mailbox> mailbox_;
  TlsContext* const tls_;

  Descriptor epoll_;
  std::optional<Acceptor> acceptor_;  // nothing: no longer accepting
  std::optional<TimePoint> accept_again_at_;
  AddressCounts address_counts_;
  Deadlines deadlines_;

  std::vector<std::unique_ptr<Connection>> connections_;  // by file descriptor
  std::size_t connections_open_ = 0;
  std::uint32_t generation_ = 0;  // tells connections apart that had the same descriptor
  std::size_t bytes_held_ = 0;

  TimePoint now_;
  std::vector<char> scratch_;  // what is read, before it is fed to a framing
  std::string wire_;           // the answer being written
  DateCache date_;
  std::vector<Task> tasks_;  // of this turn, submitted together
  std::size_t room_ = 0;     // tasks that the workers will take in this turn
  std::vector<Letter> letters_;
  std::vector<ConnectionId> again_;  // could go on, but others come first
  std::vector<ConnectionId> again_now_;

  std::optional<TimePoint> drain_at_;  // the loop's own copy of the order below
  std::atomic<bool> stop_ = false;
  std::mutex orders_mutex_;
  std::optional<TimePoint> drain_ordered_;
  std::condition_variable over_changed_;
  bool drained_ = false;
  bool over_ = false;
};

}  // namespace oncepay::http::edge

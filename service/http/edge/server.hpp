// The edge: bytes from clients in, whole requests to a Handler, its answers back. Nothing that a
// client sends, in any order or speed, crashes the process, grows its memory without bound or keeps
// others from being served (G9 of the contract).
//
//   edge::EdgeConfig config;
//   config.listen = edge::parse_listen("127.0.0.1:8080");
//   config.refuse = problem_document;
//   edge::Server server(config, handler);
//   server.start();
//   …                                             // SIGHUP:  server.reload_tls()
//   server.drain(shutdown_delay);                 // SIGTERM
//   if (!server.wait_drained(grace)) server.stop_now();
//
// How many requests can wait: waiting_requests_max for a worker thread; beyond it 503 with
// Retry-After at once. A handler may keep as many as it likes, and waiting for its reply costs no
// thread.
//
// Deliberately not here: routes, authentication, problem documents, metrics' names, signals.
//
// Threads: 1 + worker_threads, all signals blocked in them. All functions from any thread, but
// start once, first. The handler outlives the server; Replies may outlive it and are dropped then.
// Source: RFC 9110, RFC 9112.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "http/edge/config.hpp"
#include "http/edge/counters.hpp"
#include "http/message.hpp"

namespace oncepay::http::edge {

class Server {
 public:
  // Throws std::invalid_argument that names the setting which cannot work.
  Server(EdgeConfig config, Handler& handler);
  ~Server();  // stops now
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Listens and begins to serve. Throws std::runtime_error with a message for the operator: address
  // in use, certificate unreadable.
  void start();

  // After start. 0 for a Unix socket.
  [[nodiscard]] std::uint16_t port() const;

  // Reads certificate and key again for connections to come. What is wrong with them, if anything:
  // then the old ones stay in use. Without TLS it does nothing.
  [[nodiscard]] std::optional<std::string> reload_tls();

  // From now on every answer says Connection: close. New connections are accepted for
  // `shutdown_delay` more, since whoever balances load learns late; then idle ones are closed and
  // the rest is answered. Of several calls the one that ends it first counts.
  void drain(std::chrono::milliseconds shutdown_delay);

  // Waits until, after drain(), every connection is closed. False: not within the deadline, or
  // stopped.
  [[nodiscard]] bool wait_drained(std::chrono::milliseconds deadline);

  // Closes everything, answered or not, and returns at once. Requests that run finish in the
  // handler.
  void stop_now();

  [[nodiscard]] const EdgeCounters& counters() const;

 private:
  struct Parts;
  const EdgeConfig config_;
  Handler& handler_;
  EdgeCounters counters_;
  std::uint16_t port_ = 0;
  std::unique_ptr<Parts> parts_;  // nothing before start
};

}  // namespace oncepay::http::edge

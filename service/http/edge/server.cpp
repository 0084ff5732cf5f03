#include "http/edge/server.hpp"

#include <csignal>
#include <stdexcept>
#include <thread>
#include <utility>

#include "http/edge/listen.hpp"
#include "http/edge/loop.hpp"
#include "http/edge/mailbox.hpp"
#include "http/edge/tls.hpp"
#include "http/edge/workers.hpp"

namespace oncepay::http::edge {
namespace {

// Threads begin with their parent's mask: those made while this lives take no signals. So SIGTERM
// goes to whoever waits for it, and SIGPIPE from a write of OpenSSL's goes nowhere.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_BLOCK, &all, &before_);
  }
  ~SignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

EdgeConfig checked(EdgeConfig config) {
  if (const auto fault = fault_of(config)) throw std::invalid_argument(*fault);
  return config;
}

std::unique_ptr<TlsContext> make_tls(const EdgeConfig& config) {
  return config.tls ? std::make_unique<TlsContext>(*config.tls) : nullptr;
}

}  // namespace

// In the order of their making; they end the other way round, the loop's thread first.
struct Server::Parts {
  Parts(const EdgeConfig& config, Handler& handler, EdgeCounters& counters, Listener listener)
      : tls(make_tls(config)),
        mailbox(std::make_shared<Mailbox>()),
        workers(handler, counters, config.worker_threads, config.waiting_requests_max),
        loop(config, counters, workers, mailbox, std::move(listener), tls.get()),
        thread([this] { loop.run(); }) {}

  ~Parts() {
    loop.stop_now();
    thread.join();
    mailbox->close();
  }

  const std::unique_ptr<TlsContext> tls;
  const std::shared_ptr<Mailbox> mailbox;
  Workers workers;
  Loop loop;
  std::jthread thread;
};

Server::Server(EdgeConfig config, Handler& handler)
    : config_(checked(std::move(config))), handler_(handler) {}

Server::~Server() = default;

void Server::start() {
  if (parts_) throw std::logic_error("the edge was started before");
  Listener listener(config_.listen);
  port_ = listener.port();
  const SignalsBlocked during_start;
  parts_ = std::make_unique<Parts>(config_, handler_, counters_, std::move(listener));
}

std::uint16_t Server::port() const { return port_; }

std::optional<std::string> Server::reload_tls() {
  return parts_ && parts_->tls ? parts_->tls->reload() : std::nullopt;
}

void Server::drain(std::chrono::milliseconds shutdown_delay) {
  if (parts_) parts_->loop.drain(shutdown_delay);
}

bool Server::wait_drained(std::chrono::milliseconds deadline) {
  return !parts_ || parts_->loop.wait_drained(deadline);
}

void Server::stop_now() {
  if (parts_) parts_->loop.stop_now();
}

const EdgeCounters& Server::counters() const { return counters_; }

}  // namespace oncepay::http::edge

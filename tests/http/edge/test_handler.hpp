// What stands behind the edge in its tests: it answers by path, at once, later, wrongly or never.
//
// Threads: handle from any; the rest from the test's.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "http/edge/server.hpp"
#include "http/message.hpp"

namespace oncepay::http::edge::testing {

class TestHandler : public Handler {
 public:
  // /echo…   "METHOD target [body]" at once
  // /later   kept until answer_kept
  // /block   keeps the thread until unblock
  // /thread  which thread it came on
  // /big     900,000 bytes; /too-big more than may be sent
  // /throw, /forget, /twice, /split: faults of a handler
  void handle(Request request, Reply reply) override {
    reached.fetch_add(1);
    const std::string path = request.target.substr(0, request.target.find('?'));
    if (path == "/later") {
      const std::lock_guard lock(mutex_);
      kept_.emplace_back(std::move(request), std::move(reply));
      return;
    }
    if (path == "/block") {
      std::unique_lock lock(mutex_);
      blocked.fetch_add(1);
      unblocked_changed_.wait(lock, [this] { return unblocked_; });
    }
    if (path == "/throw") throw std::runtime_error("a fault of the handler");
    if (path == "/forget") return;
    Response response = echo(request);
    if (path == "/thread") {
      response.body = std::to_string(std::hash<std::thread::id>()(std::this_thread::get_id()));
    }
    if (path == "/big") response.body.assign(900'000, 'b');
    if (path == "/too-big") response.body.assign(2'000'000, 'b');
    if (path == "/split") response.headers.push_back({"X-Split", "a\r\nX-Injected: b"});
    if (path == "/close") response.set("Connection", "close");
    if (path == "/empty") {
      response.status = 204;
      response.body.clear();
    }
    if (path == "/twice") reply(response);
    reply(std::move(response));
  }

  [[nodiscard]] bool is_quick() const override { return quick; }

  [[nodiscard]] static Response echo(const Request& request) {
    Response response;
    response.status = 200;
    response.set("Content-Type", "text/plain");
    response.body = request.method + " " + request.target + " [" + request.body + "]";
    return response;
  }

  [[nodiscard]] std::size_t kept() {
    const std::lock_guard lock(mutex_);
    return kept_.size();
  }

  void answer_first_kept() {
    std::unique_lock lock(mutex_);
    auto [request, reply] = std::move(kept_.front());
    kept_.erase(kept_.begin());
    lock.unlock();
    reply(echo(request));
  }

  // Answers all that is kept, the last one first.
  void answer_kept() {
    std::vector<std::pair<Request, Reply>> kept;
    {
      const std::lock_guard lock(mutex_);
      kept.swap(kept_);
    }
    for (auto entry = kept.rbegin(); entry != kept.rend(); ++entry) {
      entry->second(echo(entry->first));
    }
  }

  void unblock() {
    const std::lock_guard lock(mutex_);
    unblocked_ = true;
    unblocked_changed_.notify_all();
  }

  std::atomic<bool> quick = false;
  std::atomic<std::size_t> reached = 0;
  std::atomic<std::size_t> blocked = 0;

 private:
  std::mutex mutex_;
  std::vector<std::pair<Request, Reply>> kept_;
  std::condition_variable unblocked_changed_;
  bool unblocked_ = false;
};

// A server on a free port with the handler above.
struct Edge {
  static EdgeConfig defaults() {
    EdgeConfig config;
    config.listen = parse_listen("127.0.0.1:0");
    config.worker_threads = 2;
    return config;
  }

  explicit Edge(EdgeConfig config = defaults()) : server(std::move(config), handler) {
    server.start();
  }
  ~Edge() { handler.unblock(); }

  [[nodiscard]] std::uint16_t port() const { return server.port(); }
  [[nodiscard]] const EdgeCounters& counters() const { return server.counters(); }

  TestHandler handler;
  Server server;
};

inline std::string get(const std::string& target, const std::string& lines = "") {
  return "GET " + target + " HTTP/1.1\r\nHost: a\r\n" + lines + "\r\n";
}

inline std::string post(const std::string& target, const std::string& lines,
                        const std::string& body = "") {
  return "POST " + target + " HTTP/1.1\r\nHost: a\r\n" + lines + "\r\n" + body;
}

}  // namespace oncepay::http::edge::testing

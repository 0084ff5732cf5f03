#include "http/edge/loop.hpp"

#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <system_error>
#include <utility>

namespace oncepay::http::edge {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t events_max = 256;        // taken from the kernel in one turn
constexpr int steps_max = 16;                  // of one connection before others come first
constexpr std::size_t read_bytes = 16 * 1024;  // at once; also what can wait behind a request

// Ids below 2^32 are no connections: their generation would be 0.
constexpr std::uint64_t acceptor_id = 0;  // see listen_to_acceptor
constexpr std::uint64_t mailbox_id = 1;

}  // namespace

Loop::Loop(const EdgeConfig& config, EdgeCounters& counters, Workers& workers,
           std::shared_ptr<Mailbox> mailbox, Listener listener, TlsContext* tls)
    : config_(config),
      counters_(counters),
      workers_(workers),
      mailbox_(std::move(mailbox)),
      tls_(tls),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)),
      address_counts_(config.connections_per_address_max),
      deadlines_({config.handshake_deadline, config.idle_deadline, config.request_deadline,
                  config.write_deadline, config.linger_deadline}),
      scratch_(read_bytes) {
  if (!epoll_.is_open()) throw std::system_error(errno, std::generic_category(), "epoll_create1");
  acceptor_.emplace(std::move(listener), counters);
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = mailbox_id;
  if (!listen_to_acceptor(true) ||
      ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, mailbox_->descriptor(), &event) != 0) {
    throw std::system_error(errno, std::generic_category(), "epoll_ctl");
  }
}

void Loop::run() {
  now_ = std::chrono::steady_clock::now();
  while (!stop_.load(std::memory_order_acquire)) {
    wait_for_events();
    turn();
  }
  acceptor_.reset();
  for (auto& slot : connections_) {
    if (slot) close(*slot);
  }
  const std::lock_guard lock(orders_mutex_);
  over_ = true;
  over_changed_.notify_all();
}

void Loop::wait_for_events() {
  std::array<epoll_event, events_max> events;
  const int count =
      ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), wait_ms());
  now_ = std::chrono::steady_clock::now();
  room_ = workers_.room();
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events[static_cast<std::size_t>(i)];
    on_event(event.data.u64, event.events);
  }
}

void Loop::turn() {
  again_now_.swap(again_);
  for (const ConnectionId id : again_now_) {
    if (Connection* const connection = find(id)) pump(*connection);
  }
  again_now_.clear();
  pass_deadlines();
  resume_accepting();
  advance_drain();
  hand_on();
}

// A request that is alone may not be worth waking a worker.
void Loop::hand_on() {
  if (tasks_.size() == 1 && workers_.better_here(tasks_.front())) {
    Task task = std::move(tasks_.front());
    tasks_.clear();
    workers_.run_here(std::move(task));
  } else {
    workers_.submit(tasks_);
  }
}

int Loop::wait_ms() const {
  if (!again_.empty()) return 0;
  std::optional<TimePoint> next = deadlines_.next();
  const auto sooner = [&next](const std::optional<TimePoint>& other) {
    if (other && (!next || *other < *next)) next = other;
  };
  sooner(accept_again_at_);
  if (acceptor_) sooner(drain_at_);
  if (!next) return -1;
  const auto left = std::chrono::ceil<milliseconds>(*next - now_).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 60'000));
}

void Loop::on_event(std::uint64_t id, std::uint32_t events) {
  if (id == acceptor_id) return accept_some();
  if (id == mailbox_id) return deliver_letters();
  Connection* const connection = find(id);
  if (connection == nullptr) return;  // closed earlier in this turn
  // Reset, or closed from both sides: nobody will read an answer.
  if ((events & (EPOLLERR | EPOLLHUP)) != 0) return close(*connection);
  connection->wake((events & EPOLLRDHUP) != 0);
  pump(*connection);
}

void Loop::deliver_letters() {
  mailbox_->collect(letters_);
  for (Letter& letter : letters_) {
    Connection* const connection = find(letter.connection);
    if (connection == nullptr || connection->phase != Phase::running) {
      add(counters_.answers_without_client);
      continue;
    }
    if (letter.response) {
      answer(*connection, *letter.response, false);
    } else {
      add(counters_.answers_missing);
      answer(*connection, make_refusal(refusals::internal), false);
    }
    pump(*connection);
  }
  letters_.clear();
}

void Loop::pass_deadlines() {
  while (const auto passed = deadlines_.passed(now_)) {
    Connection* const connection = find(passed->connection);
    switch (passed->kind) {
      case DeadlineKind::handshake:
        add(counters_.deadlines_handshake);
        break;
      case DeadlineKind::idle:
        add(counters_.deadlines_idle);
        break;
      case DeadlineKind::write:
        add(counters_.deadlines_write);
        break;
      case DeadlineKind::linger:
        break;
      case DeadlineKind::request:
        add(counters_.deadlines_request);
        refuse(*connection, refusals::request_timeout);
        pump(*connection);
        continue;
    }
    close(*connection);
  }
}

void Loop::advance_drain() {
  if (acceptor_) {
    const std::lock_guard lock(orders_mutex_);
    drain_at_ = drain_ordered_;
  }
  if (!is_draining()) return;
  if (acceptor_ && now_ >= *drain_at_) {
    acceptor_.reset();  // closing takes it out of the epoll set
    accept_again_at_.reset();
    for (auto& slot : connections_) {
      if (slot && (slot->is_idle() || slot->phase == Phase::handshake)) close(*slot);
    }
  }
  if (acceptor_ || connections_open_ > 0) return;
  const std::lock_guard lock(orders_mutex_);
  drained_ = true;
  over_changed_.notify_all();
}

Connection* Loop::find(ConnectionId id) {
  const std::size_t slot = id & 0xFFFF'FFFFU;
  if (slot >= connections_.size() || !connections_[slot]) return nullptr;
  Connection* const connection = connections_[slot].get();
  return connection->id() == id ? connection : nullptr;
}

void Loop::pump(Connection& connection) {
  const ConnectionId id = connection.id();
  for (int i = 0; i < steps_max; ++i) {
    if (!step(connection)) return;
  }
  again_.push_back(id);
}

void Loop::drain(milliseconds shutdown_delay) {
  {
    const std::lock_guard lock(orders_mutex_);
    const TimePoint at = std::chrono::steady_clock::now() + shutdown_delay;
    if (!drain_ordered_ || at < *drain_ordered_) drain_ordered_ = at;
  }
  mailbox_->ring();
}

void Loop::stop_now() {
  stop_.store(true, std::memory_order_release);
  mailbox_->ring();
}

bool Loop::wait_drained(milliseconds deadline) {
  std::unique_lock lock(orders_mutex_);
  over_changed_.wait_for(lock, deadline, [this] { return drained_ || over_; });
  return drained_;
}

}  // namespace oncepay::http::edge

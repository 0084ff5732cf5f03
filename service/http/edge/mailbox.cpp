#include "http/edge/mailbox.hpp"

#include <sys/eventfd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <system_error>
#include <utility>

namespace oncepay::http::edge {
namespace {

// Reply is copied around as a std::function; this is the one thing that all copies share.
class Ticket {
 public:
  Ticket(std::shared_ptr<Mailbox> mailbox, ConnectionId connection)
      : mailbox_(std::move(mailbox)), connection_(connection) {}
  Ticket(const Ticket&) = delete;
  Ticket& operator=(const Ticket&) = delete;
  ~Ticket() {
    if (!used_.exchange(true)) mailbox_->post({connection_, std::nullopt});
  }

  void use(Response response) {
    if (!used_.exchange(true)) mailbox_->post({connection_, std::move(response)});
  }

 private:
  std::shared_ptr<Mailbox> mailbox_;
  ConnectionId connection_;
  std::atomic<bool> used_ = false;
};

}  // namespace

Mailbox::Mailbox() : bell_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!bell_.is_open()) throw std::system_error(errno, std::generic_category(), "eventfd");
}

void Mailbox::post(Letter letter) {
  bool first = false;
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return;
    first = letters_.empty();
    letters_.push_back(std::move(letter));
  }
  // Later letters are collected with the first one: the loop empties the box after it heard the
  // bell.
  if (first) ring();
}

void Mailbox::ring() {
  const std::uint64_t one = 1;
  // It can fail only when the counter is full, and then the bell is ringing already.
  [[maybe_unused]] const ssize_t written = ::write(bell_.get(), &one, sizeof(one));
}

void Mailbox::collect(std::vector<Letter>& empty) {
  std::uint64_t rung = 0;
  // First the bell, then the box: the other way round a letter between the two would not wake
  // anybody.
  [[maybe_unused]] const ssize_t read = ::read(bell_.get(), &rung, sizeof(rung));
  const std::lock_guard lock(mutex_);
  letters_.swap(empty);
}

void Mailbox::close() {
  std::vector<Letter> dropped;
  const std::lock_guard lock(mutex_);
  closed_ = true;
  letters_.swap(dropped);
}

Reply make_reply(std::shared_ptr<Mailbox> mailbox, ConnectionId connection) {
  auto ticket = std::make_shared<Ticket>(std::move(mailbox), connection);
  return [ticket = std::move(ticket)](Response response) { ticket->use(std::move(response)); };
}

}  // namespace oncepay::http::edge

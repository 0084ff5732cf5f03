#include "db/pool.hpp"

#include <algorithm>
#include <random>

namespace oncepay::db {
namespace {

constexpr std::chrono::milliseconds pause_first{50};
constexpr std::chrono::milliseconds pause_max{1000};

// Doubles with each failure; the upper half of it is random, so that instances drift apart.
std::chrono::milliseconds pause_after(unsigned failures) {
  const auto pause = std::min(pause_max, pause_first * (1 << std::min(failures, 10U)));
  thread_local std::minstd_rand random{std::random_device{}()};
  std::uniform_int_distribution<std::int64_t> half(pause.count() / 2, pause.count());
  return std::chrono::milliseconds(half(random));
}

}  // namespace

// Gives the connection back however its use ends.
class Pool::Loan {
 public:
  explicit Loan(Pool& pool) : pool_(pool), connection_(pool.borrow(was_idle_)) {}
  ~Loan() { pool_.give_back(std::move(connection_)); }
  Loan(const Loan&) = delete;
  Loan& operator=(const Loan&) = delete;

  Connection& connection() { return *connection_; }
  [[nodiscard]] bool was_idle() const { return was_idle_; }

 private:
  Pool& pool_;
  bool was_idle_ = false;
  std::unique_ptr<Connection> connection_;
};

Pool::Pool(ConnectionSettings settings, std::size_t connections_max, std::chrono::milliseconds wait)
    : settings_(std::move(settings)), connections_max_(connections_max), wait_(wait) {}

void Pool::run(Access access, const std::function<void(Transaction&)>& work) {
  for (bool may_replace = true;; may_replace = false) {
    Loan loan(*this);
    bool begun = false;
    try {
      Transaction transaction(loan.connection(), access);
      begun = true;
      work(transaction);
      transaction.commit();
      return;
    } catch (const TransientError& error) {
      if (!loan.connection().usable()) drop_idle();
      if (begun || !may_replace || !loan.was_idle()) throw;
    }
  }
}

bool Pool::reachable() const {
  const std::lock_guard lock(mutex_);
  return open_ > 0 || Clock::now() >= not_before_;
}

Pool::Use Pool::use() const {
  const std::lock_guard lock(mutex_);
  return {idle_.size(), open_ - idle_.size()};
}

std::unique_ptr<Connection> Pool::borrow(bool& was_idle) {
  std::unique_lock lock(mutex_);
  const auto deadline = Clock::now() + wait_;
  for (;;) {
    if (!idle_.empty()) {
      auto connection = std::move(idle_.back());
      idle_.pop_back();
      was_idle = true;
      return connection;
    }
    const bool may_open = open_ < connections_max_;
    const auto now = Clock::now();
    if (may_open && now >= not_before_) break;
    if (open_ == 0)
      throw TransientError(last_failure_, "the database could not be reached just now");
    if (now >= deadline) {
      throw TransientError(TransientReason::out_of_capacity,
                           "no database connection came free in time");
    }
    returned_.wait_until(lock, may_open ? std::min(deadline, not_before_) : deadline);
  }
  ++open_;
  lock.unlock();
  was_idle = false;
  return open();
}

std::unique_ptr<Connection> Pool::open() {
  const auto failed = [this](TransientReason reason) {
    const std::lock_guard lock(mutex_);
    --open_;
    not_before_ = Clock::now() + pause_after(failures_++);
    last_failure_ = reason;
    returned_.notify_one();
  };
  try {
    auto connection = std::make_unique<Connection>(settings_);
    const std::lock_guard lock(mutex_);
    failures_ = 0;
    return connection;
  } catch (const TransientError& error) {
    failed(error.reason());
    throw;
  } catch (const std::exception&) {
    failed(TransientReason::connection_lost);
    throw;
  }
}

void Pool::give_back(std::unique_ptr<Connection> connection) {
  const bool usable = connection->usable();
  if (!usable) connection.reset();  // closing takes a moment: not under the lock
  const std::lock_guard lock(mutex_);
  if (usable) {
    idle_.push_back(std::move(connection));
  } else {
    --open_;
  }
  returned_.notify_one();
}

void Pool::drop_idle() {
  std::vector<std::unique_ptr<Connection>> dropped;
  const std::lock_guard lock(mutex_);
  dropped.swap(idle_);
  open_ -= dropped.size();
  returned_.notify_all();
}

}  // namespace oncepay::db

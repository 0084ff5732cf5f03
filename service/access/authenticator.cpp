#include "access/authenticator.hpp"

#include <list>
#include <mutex>
#include <unordered_map>

#include "access/api_key.hpp"
#include "sql/statements.hpp"

namespace oncepay::access {
namespace {

using Clock = std::chrono::steady_clock;

// Digests with a value and an age; the oldest leaves when there are too many.
template <class Value>
class Recent {
 public:
  Recent(std::chrono::milliseconds lifetime, std::size_t size_max)
      : lifetime_(lifetime), size_max_(size_max) {}

  [[nodiscard]] std::optional<Value> find(const std::string& digest) const {
    const auto found = places_.find(digest);
    if (found == places_.end() || found->second->forget_at <= Clock::now()) return std::nullopt;
    return found->second->value;
  }

  void remember(const std::string& digest, Value value) {
    forget(digest);
    if (size_max_ == 0) return;
    if (places_.size() >= size_max_) {
      places_.erase(by_age_.front().digest);
      by_age_.pop_front();
    }
    by_age_.push_back({digest, std::move(value), Clock::now() + lifetime_});
    places_[digest] = std::prev(by_age_.end());
  }

  void forget(const std::string& digest) {
    const auto found = places_.find(digest);
    if (found == places_.end()) return;
    by_age_.erase(found->second);
    places_.erase(found);
  }

 private:
  struct Entry {
    std::string digest;
    Value value;
    Clock::time_point forget_at;
  };

  std::chrono::milliseconds lifetime_;
  std::size_t size_max_;
  std::list<Entry> by_age_;
  std::unordered_map<std::string, typename std::list<Entry>::iterator> places_;
};

struct Wrong {};

}  // namespace

struct Authenticator::Memory {
  Memory(std::chrono::milliseconds remember, std::size_t remembered_max)
      : good(remember, remembered_max), wrong(remember, remembered_max) {}

  std::mutex mutex;
  Recent<Caller> good;
  Recent<Wrong> wrong;
};

Authenticator::Authenticator(db::Pool& pool, std::chrono::milliseconds remember,
                             std::size_t remembered_max)
    : pool_(pool), memory_(std::make_shared<Memory>(remember, remembered_max)) {}

std::optional<Authenticator::Remembered> Authenticator::remembered(std::string_view api_key) const {
  if (!is_api_key(api_key)) return Remembered{};
  const std::string digest = digest_of_api_key(api_key);
  const std::lock_guard lock(memory_->mutex);
  if (auto caller = memory_->good.find(digest)) return Remembered{std::move(caller)};
  if (memory_->wrong.find(digest)) return Remembered{};
  return std::nullopt;
}

std::optional<Caller> Authenticator::authenticate(std::string_view api_key) {
  if (auto known = remembered(api_key)) return known->caller;
  const std::string digest = digest_of_api_key(api_key);
  const std::optional<Caller> caller = look_up(digest);
  const std::lock_guard lock(memory_->mutex);
  if (caller) {
    memory_->good.remember(digest, *caller);
  } else {
    memory_->good.forget(digest);
    memory_->wrong.remember(digest, {});
  }
  return caller;
}

std::optional<Caller> Authenticator::look_up(const std::string& digest) {
  std::optional<Caller> caller;
  pool_.run(db::Access::read_only, [&](db::Transaction& transaction) {
    const db::Rows rows = transaction.run(sql::access::find_caller, db::Params().add_bytes(digest));
    if (rows.empty()) return;
    caller.emplace();
    caller->tenant_id = rows.text(0, 0);
    if (rows.flag(0, 1)) caller->scopes.add(Scope::read);
    if (rows.flag(0, 2)) caller->scopes.add(Scope::write);
  });
  return caller;
}

bool Authenticator::ready() const { return pool_.reachable(); }

}  // namespace oncepay::access

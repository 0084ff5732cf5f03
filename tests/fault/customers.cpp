#include "fault/customers.hpp"

#include <algorithm>
#include <condition_variable>

namespace fault {

using support::Payment;

namespace {

constexpr std::size_t remembered_max = 500;           // settled wishes that may be sent again
constexpr std::int64_t too_much = 9'000'000'000'000;  // for every account but the world's
constexpr milliseconds first_pause{50};
constexpr milliseconds pause_max{1000};

bool ended(const std::optional<Seen>& seen) {
  return seen && seen->status != 409 && seen->status != 503;
}

}  // namespace

Customers::Customers(Field& field, const CustomersSettings& settings, std::uint32_t seed)
    : field_(field), settings_(settings), seed_(seed) {
  for (int i = 0; i < settings.count; ++i) {
    threads_.emplace_back([this, i](const std::stop_token& stop) { live(stop, i); });
  }
}

Customers::~Customers() {
  give_up_ = true;
  threads_.clear();
}

int Customers::settled() const {
  const std::lock_guard lock(mutex_);
  return settled_;
}

void Customers::finish(milliseconds budget) {
  for (std::jthread& thread : threads_) thread.request_stop();
  hurry_ = true;
  std::jthread alarm([this, budget](const std::stop_token& stop) {
    std::mutex mutex;
    std::unique_lock lock(mutex);
    std::condition_variable_any over;
    over.wait_for(lock, stop, budget, [] { return false; });
    if (!stop.stop_requested()) give_up_ = true;
  });
  threads_.clear();
}

Customers::Wish Customers::next_wish(Random& random) {
  const auto& accounts = field_.accounts();
  const auto pick = [&random](std::size_t below) { return random() % below; };
  const std::lock_guard lock(mutex_);
  const auto dice = static_cast<int>(pick(100));
  if (dice < 8 && !settled_wishes_.empty()) return settled_wishes_[pick(settled_wishes_.size())];
  if (dice < 12 && !settled_wishes_.empty()) {
    Wish other = settled_wishes_[pick(settled_wishes_.size())];
    other.payment.amount += 1;
    return other;
  }
  if (dice < 12 + settings_.twins && !running_.empty()) return running_[pick(running_.size())];
  const std::size_t source = pick(accounts.size());
  std::size_t destination = pick(accounts.size() - 1);
  if (destination >= source) ++destination;
  Payment payment{static_cast<std::int64_t>(1 + pick(6000)), "EUR", accounts[source],
                  accounts[destination]};
  if (dice >= 97) payment.destination = "nobody";
  if (dice < 93 || dice >= 97 || source == 0) return {support::fresh_key(), payment};
  payment.amount = too_much;
  return {support::fresh_key(), payment};
}

void Customers::live(const std::stop_token& stop, int number) {
  Random random(seed_ + static_cast<std::uint32_t>(number) * 7919U);
  while (!stop.stop_requested()) {
    const Wish wish = next_wish(random);
    {
      const std::lock_guard lock(mutex_);
      running_.push_back(wish);
    }
    const bool known = pursue(wish, number, random);
    {
      const std::lock_guard lock(mutex_);
      std::erase_if(running_, [&](const Wish& other) { return other.key == wish.key; });
      if (known && wish.payment.destination != "nobody") {
        settled_wishes_.push_back(wish);
        if (settled_wishes_.size() > remembered_max) settled_wishes_.pop_front();
      }
      ++settled_;
    }
    std::this_thread::sleep_for(settings_.pause);
  }
}

// True when the wish was decided, false when it was refused or given up.
bool Customers::pursue(const Wish& wish, int number, Random& random) {
  Post* post = &field_.any_post(random);
  auto client = std::make_unique<support::Client>(post->to_service.port(), settings_.patience);
  for (int attempt = 0; !give_up_; ++attempt) {
    support::Request request = payment_request(field_.tenant, wish.key, wish.payment);
    if (random() % 3 == 0) request.with("Prefer", "wait=2");
    Call call{"customer " + std::to_string(number),
              wish.key,
              wish.payment,
              post->name,
              0,
              0,
              std::nullopt,
              ""};
    const auto seen = pay_once(*client, request, std::move(call), field_.recorder);
    if (ended(seen)) return seen->decided();
    pause_after(seen, attempt, number, random);
    post = &field_.any_post(random);
    client = std::make_unique<support::Client>(post->to_service.port(), settings_.patience);
  }
  return false;
}

void Customers::pause_after(const std::optional<Seen>& seen, int attempt, int number,
                            Random& random) {
  milliseconds pause = std::min(pause_max, first_pause * (1 << std::min(attempt, 6)));
  if (seen && seen->retry_after_s > 0) pause = std::chrono::seconds(seen->retry_after_s);
  if (number % 2 == 1 || hurry_) pause /= settings_.impatience;
  std::this_thread::sleep_for(pause / 2 + pause * static_cast<int>(random() % 100) / 100);
}

}  // namespace fault

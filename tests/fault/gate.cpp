#include "fault/gate.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <utility>

#include "fault/protocol.hpp"
#include "support/sockets.hpp"

namespace fault {

using namespace support;

namespace {

using Clock = std::chrono::steady_clock;

constexpr auto tick = 5ms;                 // how late a delayed message may be
constexpr auto repeated_answer_time = 3s;  // how long the answer to a repeated request is read

struct Due {
  Clock::time_point at;
  std::string bytes;
};

bool claims(const Trip& trip) {
  return trip.holds("once.claim_keys") || trip.holds("once.claim_alone");
}

}  // namespace

struct Gate::Pair {
  Pair(int near, int far) : client(near), server(far) {}
  Pair(const Pair&) = delete;
  Pair& operator=(const Pair&) = delete;
  ~Pair() {
    ::close(client);
    if (server >= 0) ::close(server);
  }

  int client;
  int server;
  std::deque<Due> requests;
  std::deque<Due> answers;
  TripReader trips;
  AnswerReader said;
  std::vector<std::string> transaction;  // its trips so far
  bool claimed = false;                  // one of them claims keys
  // An answer is being held until the server is done with it.
  std::optional<Strike> holding;
  int holding_until_ready = 0;
  std::string held;
  int asked = 0;  // trips that end in a ReadyForQuery
};

Gate::Gate(Road road, std::uint16_t server_port, std::uint32_t seed)
    : road_(road), server_port_(server_port), random_(seed) {
  listener_ = listen_on_loopback(port_);
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

Gate::~Gate() {
  thread_.request_stop();
  thread_.join();
  pairs_.clear();
  for (const auto& [socket, deadline] : repeated_) ::close(socket);
  ::close(listener_);
}

void Gate::turn(const Forecast& forecast) {
  const std::lock_guard lock(mutex_);
  forecast_ = forecast;
}

Forecast Gate::forecast() const {
  const std::lock_guard lock(mutex_);
  return forecast_;
}

void Gate::arm(Strike strike) {
  const std::lock_guard lock(mutex_);
  armed_ = std::move(strike);
  struck_ = false;
}

void Gate::disarm() {
  const std::lock_guard lock(mutex_);
  armed_.reset();
}

bool Gate::struck() const {
  const std::lock_guard lock(mutex_);
  return struck_;
}

std::vector<std::string> Gate::last_batch() const {
  const std::lock_guard lock(mutex_);
  return last_batch_;
}

bool Gate::by_chance(const Forecast& forecast) {
  return std::uniform_int_distribution<int>(1, forecast.one_in)(random_) == 1;
}

void Gate::note(Pair& pair, const Trip& trip) {
  if (trip.holds("BEGIN")) {
    pair.transaction.clear();
    pair.claimed = false;
  }
  pair.transaction.push_back(trip.name);
  pair.claimed = pair.claimed || claims(trip);
  if (trip.holds("COMMIT") && pair.claimed) {
    const std::lock_guard lock(mutex_);
    last_batch_ = pair.transaction;
  }
}

// False: the connection ends here. A strike comes off when its time has come.
bool Gate::strike_before(Pair& pair, const Trip& trip) {
  std::optional<Strike> strike;
  {
    const std::lock_guard lock(mutex_);
    if (!armed_ || !trip.holds(armed_->at) || !pair.claimed) return true;
    strike = std::exchange(armed_, std::nullopt);
    if (strike->when == Strike::When::before) struck_ = true;
  }
  if (strike->when == Strike::When::after) {
    pair.holding = std::move(strike);
    pair.holding_until_ready = pair.asked + 1;
    return true;
  }
  if (strike->act) strike->act(pair.said.backend_pid().value_or(0));
  return strike->then == Strike::Then::pass;
}

bool Gate::strike_after(Pair& pair) {
  const Strike strike = *std::exchange(pair.holding, std::nullopt);
  if (strike.act) strike.act(pair.said.backend_pid().value_or(0));
  {
    const std::lock_guard lock(mutex_);
    struck_ = true;
  }
  if (strike.then == Strike::Then::lose) return false;
  pair.answers.push_back({Clock::now(), std::exchange(pair.held, "")});
  return true;
}

bool Gate::pass_trips(Pair& pair, const std::string& bytes) {
  for (Trip& trip : pair.trips.read(bytes)) {
    if (!trip.name.empty()) {
      note(pair, trip);
      if (!strike_before(pair, trip)) return false;
    }
    if (trip.answered_by_ready) ++pair.asked;
    if (!pass_request(pair, trip.bytes)) return false;
  }
  return true;
}

bool Gate::pass_request(Pair& pair, const std::string& bytes) {
  const Forecast now = forecast();
  const auto at = Clock::now() + (now.weather == Weather::slow ? now.delay : 0ms);
  if (now.weather == Weather::halves_request && by_chance(now)) {
    send_all(pair.server, std::string_view(bytes).substr(0, bytes.size() / 2));
    return false;
  }
  if (now.weather == Weather::loses_answer && by_chance(now)) {
    send_all(pair.server, bytes);
    wait_readable(pair.server, 2s);
    return false;
  }
  if (now.weather == Weather::repeats && by_chance(now)) send_again(bytes, now.also_to);
  pair.requests.push_back({at, bytes});
  return true;
}

void Gate::send_again(const std::string& bytes, std::uint16_t port) {
  const int socket = connect_to_loopback(port);
  if (socket < 0) return;
  send_all(socket, bytes);
  repeated_.emplace_back(socket, support::Deadline(repeated_answer_time));
}

bool Gate::forward_request(Pair& pair) {
  const std::string bytes = receive_some(pair.client);
  if (bytes.empty()) return false;
  return road_ == Road::database ? pass_trips(pair, bytes) : pass_request(pair, bytes);
}

bool Gate::forward_answer(Pair& pair) {
  const std::string bytes = receive_some(pair.server);
  if (bytes.empty()) {
    if (pair.holding) strike_after(pair);  // the server went away with the answer
    return false;
  }
  const Forecast now = forecast();
  if (now.weather == Weather::halves_answer && by_chance(now)) {
    send_all(pair.client, std::string_view(bytes).substr(0, bytes.size() / 2));
    return false;
  }
  if (road_ == Road::database) pair.said.read(bytes);
  if (pair.holding) {
    pair.held += bytes;
    return pair.said.ready() < pair.holding_until_ready || strike_after(pair);
  }
  // On a slow road to the database it is the request that takes longer: once for each statement.
  const bool late = now.weather == Weather::slow && road_ == Road::clients;
  pair.answers.push_back({Clock::now() + (late ? now.delay : 0ms), bytes});
  return true;
}

bool Gate::send_due(Pair& pair) {
  const auto now = Clock::now();
  for (auto& [queue, socket] :
       {std::pair(&pair.requests, pair.server), std::pair(&pair.answers, pair.client)}) {
    while (!queue->empty() && queue->front().at <= now) {
      if (!send_all(socket, queue->front().bytes)) return false;
      queue->pop_front();
    }
  }
  return true;
}

void Gate::accept_one() {
  const int client = accept_from(listener_);
  if (client < 0) return;
  const int server =
      forecast().weather == Weather::cut ? -1 : connect_to_loopback(server_port_.load());
  auto pair = std::make_unique<Pair>(client, server);
  if (server >= 0) pairs_.push_back(std::move(pair));
}

void Gate::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    const Weather weather = forecast().weather;
    std::vector<pollfd> sockets{{listener_, POLLIN, 0}};
    // Without a descriptor poll() ignores the entry; with one it would report hang-ups at once.
    const bool stalled = weather == Weather::stalled;
    bool waiting = false;
    for (const PairPtr& pair : pairs_) {
      sockets.push_back({stalled ? -1 : pair->client, POLLIN, 0});
      sockets.push_back({stalled ? -1 : pair->server, POLLIN, 0});
      waiting = waiting || !pair->requests.empty() || !pair->answers.empty();
    }
    ::poll(sockets.data(), sockets.size(),
           waiting ? static_cast<int>(milliseconds(tick).count()) : 20);
    for (std::size_t i = 0; i < pairs_.size() && !stalled; ++i) {
      Pair& pair = *pairs_[i];
      const bool lives =
          weather != Weather::cut && (sockets[2 * i + 1].revents == 0 || forward_request(pair)) &&
          (sockets[2 * i + 2].revents == 0 || forward_answer(pair)) && send_due(pair);
      if (!lives) pairs_[i].reset();
    }
    std::erase(pairs_, nullptr);
    std::erase_if(repeated_, [](const auto& sent) {
      if (!sent.second.passed()) return false;
      ::close(sent.first);
      return true;
    });
    if (sockets[0].revents != 0) accept_one();
  }
}

}  // namespace fault

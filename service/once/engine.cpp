#include "once/engine.hpp"

#include <thread>
#include <utility>
#include <vector>

#include "once/engine_metrics.hpp"
#include "once/in_flight.hpp"
#include "once/lane.hpp"
#include "once/queue.hpp"
#include "once/stored_key.hpp"
#include "sql/statements.hpp"

namespace oncepay::once {

namespace {

// Operations that may wait for a key somebody else is stuck on; each costs up to one lock_timeout.
constexpr std::size_t stuck_operations_max = 16;

using Name = std::pair<std::string_view, std::string_view>;  // tenant, key

// What is stored under the keys that are known, in no order: `index` tells which is which.
std::vector<StoredKey> read_keys(db::Pool& reads, std::span<const Name> names) {
  db::Array tenants, keys;
  for (const auto& [tenant_id, key] : names) {
    tenants.add(tenant_id);
    keys.add(key);
  }
  std::vector<StoredKey> stored;
  reads.run(db::Access::read_only, [&](db::Transaction& transaction) {
    const db::Rows rows =
        transaction.run(sql::once::read_keys, db::Params().add(tenants).add(keys));
    stored.clear();
    for (std::size_t row = 0; row < rows.size(); ++row) {
      stored.push_back(read_stored_key(rows, row));
    }
  });
  return stored;
}

}  // namespace

// Members end in reverse order: the lanes first, then what they use.
struct Engine::State {
  State(EngineSettings s, db::Pool& pool, runtime::Log& log, runtime::Metrics& registry)
      : settings(std::move(s)),
        reads(pool),
        metrics(registry),
        queue(settings.queue_operations_max),
        aside(stuck_operations_max),
        in_flight({settings.queue_operations_max + settings.lanes * settings.batch_operations_max,
                   settings.waiters_max, settings.answer_deadline},
                  [this](Operation operation, std::chrono::milliseconds wait, Completion done) {
                    submit(std::move(operation), wait, std::move(done));
                  }),
        shared{settings, queue, aside, in_flight, log, metrics} {
    metrics.lanes.set(static_cast<double>(settings.lanes));
    metrics.queue_operations_max.set(static_cast<double>(settings.queue_operations_max));
    for (std::size_t i = 0; i < settings.lanes; ++i) start_lane(LaneKind::batches);
    start_lane(LaneKind::aside);
  }

  ~State() {
    draining = true;
    lanes.clear();  // stops and joins
    for (const auto& pending : queue.take_all()) in_flight.finish(pending, Unavailable{});
    for (const auto& pending : aside.take_all()) in_flight.finish(pending, Unavailable{});
  }

  void start_lane(LaneKind kind) {
    lanes.emplace_back([this, kind](std::stop_token stop) { Lane(shared, kind).run(stop); });
  }

  void submit(Operation operation, std::chrono::milliseconds wait, Completion done) {
    in_flight.enter(
        std::move(operation), wait, std::move(done),
        [this](const PendingPtr& pending) -> std::optional<Resolution> { return admit(pending); });
  }

  std::optional<Resolution> admit(const PendingPtr& pending) {
    if (!ready()) return Unavailable{};
    if (aside.remembers(pending->map_key)) {
      if (!aside.push_stuck(pending)) return InProgress{};
    } else if (!queue.push(pending)) {
      return Overloaded{};
    }
    return std::nullopt;
  }

  [[nodiscard]] bool ready() const { return !draining && shared.lanes_connected > 0; }

  const EngineSettings settings;
  db::Pool& reads;
  EngineMetrics metrics;
  Queue queue;
  AsideQueue aside;
  std::atomic<bool> draining{false};
  InFlight in_flight;
  LaneShared shared;
  std::vector<std::jthread> lanes;
};

Engine::Engine(EngineSettings settings, db::Pool& reads, runtime::Log& log,
               runtime::Metrics& metrics)
    : state_(std::make_unique<State>(std::move(settings), reads, log, metrics)) {
  // The registry ends after the engine has stopped being asked: serve() owns both and renders in
  // between.
  metrics.before_rendering([state = state_.get()] {
    state->metrics.queue_operations.set(static_cast<double>(state->queue.size()));
    state->metrics.in_flight.set(static_cast<double>(state->in_flight.size()));
  });
}

Engine::~Engine() = default;

void Engine::submit(Operation operation, std::chrono::milliseconds wait, Completion done) {
  state_->submit(std::move(operation), wait, std::move(done));
}

std::vector<std::optional<Resolution>> Engine::look_up(
    std::span<const Operation* const> operations) {
  std::vector<Name> names;
  for (const Operation* operation : operations) {
    names.emplace_back(operation->tenant_id, operation->key);
  }
  std::vector<std::optional<Resolution>> resolutions(operations.size());
  for (const StoredKey& stored : read_keys(state_->reads, names)) {
    resolutions[stored.index] = judge(stored, *operations[stored.index]);
  }
  return resolutions;
}

std::optional<KeyState> Engine::key_state(const std::string& tenant_id, const std::string& key) {
  // Asked before the database is: what ends in between is found there.
  const bool in_flight = state_->in_flight.contains(tenant_id, key);
  const Name name(tenant_id, key);
  const auto found = read_keys(state_->reads, {&name, 1});
  if (found.empty() || found[0].expired)
    return in_flight ? std::optional(KeyState{}) : std::nullopt;
  const StoredKey& stored = found[0];
  return KeyState{stored.completed,     stored.answer.resource_id, stored.answer.status,
                  stored.created_at_us, stored.completed_at_us,    stored.expires_at_us};
}

bool Engine::ready() const { return state_->ready(); }

std::optional<std::chrono::milliseconds> Engine::take_recent_p99() {
  return state_->shared.recent.take_p99();
}

void Engine::drain() { state_->draining = true; }

bool Engine::wait_idle(std::chrono::steady_clock::time_point deadline) {
  return state_->in_flight.wait_idle(deadline);
}

}  // namespace oncepay::once

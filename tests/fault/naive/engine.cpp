// An engine that is wrong on purpose, behind the product's own interface: one transaction for each
// payment, and on request one of the three flaws that engines like it are known for. Linked with
// the rest of the product in place of service/once's engine, so that HTTP, ledger, statements and
// tables are the real ones; the product's code holds no switch for it. Without a flaw it is sound,
// which shows that what the checker finds is the flaw.
//
// NAIVE_FLAW: none; "blind": when COMMIT is in doubt the payment is run again without asking the
// key; "early": the answer goes out before COMMIT; "select": the key is looked up, not claimed, and
// written down at the end.
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "once/engine.hpp"
#include "once/stored_key.hpp"
#include "sql/statements.hpp"

namespace oncepay::once {
namespace {

constexpr std::size_t sessions = 6;
constexpr int attempts_max = 60;
constexpr std::chrono::milliseconds pause{50};

enum class Flaw { none, blind, early, select };

Flaw flaw_from_environment() {
  const char* const value = std::getenv("NAIVE_FLAW");
  const std::string_view name = value == nullptr ? "" : value;
  if (name == "blind") return Flaw::blind;
  if (name == "early") return Flaw::early;
  if (name == "select") return Flaw::select;
  return Flaw::none;
}

struct Work {
  Operation operation;
  Completion done;
  bool answered = false;

  void answer(Resolution resolution) {
    if (!std::exchange(answered, true)) done(std::move(resolution));
  }
};

db::Array one(std::string_view text) {
  db::Array array;
  array.add(text);
  return array;
}

std::int64_t clock_us() {
  return std::chrono::duration_cast<std::chrono::microseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

std::optional<Resolution> known(db::Transaction& transaction, const Operation& operation) {
  const db::Rows rows = transaction.run(
      sql::once::read_keys, db::Params().add(one(operation.tenant_id)).add(one(operation.key)));
  return rows.empty() ? std::nullopt : judge(read_stored_key(rows, 0), operation);
}

struct AnswerArrays {
  explicit AnswerArrays(const Answer* answer) {
    if (answer == nullptr) {
      for (auto* array : {&status, &type, &location, &body, &resource}) array->add_null();
      return;
    }
    status.add(std::int64_t{answer->status});
    type.add(answer->content_type);
    answer->location ? location.add(*answer->location) : location.add_null();
    body.add_bytes(answer->body);
    answer->resource_id.empty() ? resource.add_null() : resource.add(answer->resource_id);
  }
  void bind(db::Params& params) const {
    params.add(status).add(type).add(location).add(body).add(resource);
  }

  db::Array status, type, location, body, resource;
};

bool claim(db::Transaction& transaction, const Operation& operation, std::chrono::seconds retention,
           const Answer* expected, std::int64_t now_us) {
  db::Array fingerprint;
  fingerprint.add_bytes(operation.fingerprint);
  db::Params params;
  params.add(one(operation.tenant_id)).add(one(operation.key)).add(fingerprint);
  params.add(fingerprint_version_current).add(static_cast<std::int64_t>(retention.count()));
  AnswerArrays(expected).bind(params);
  params.add(now_us);
  return !transaction.run(sql::once::claim_keys, params).empty();
}

void complete(db::Transaction& transaction, const Operation& operation, const Answer& answer) {
  db::Params params;
  params.add(one(operation.tenant_id)).add(one(operation.key));
  AnswerArrays(&answer).bind(params);
  transaction.run(sql::once::complete_keys, params);
}

}  // namespace

struct Engine::State {
  State(EngineSettings given, db::Pool& pool) : settings(std::move(given)), reads(pool) {
    for (std::size_t i = 0; i < sessions; ++i) {
      threads.emplace_back([this](const std::stop_token& stop) { serve(stop); });
    }
  }

  void submit(Operation operation, Completion done) {
    const std::lock_guard lock(mutex);
    if (draining || connected == 0) return done(Unavailable{});
    queue.push_back({std::move(operation), std::move(done)});
    ++in_flight;
    pushed.notify_one();
  }

  void serve(const std::stop_token& stop) {
    std::unique_ptr<db::Connection> connection;
    connect(connection);
    while (!stop.stop_requested()) {
      std::optional<Work> work;
      {
        std::unique_lock lock(mutex);
        pushed.wait_for(lock, stop, std::chrono::seconds(1), [this] { return !queue.empty(); });
        if (!queue.empty()) {
          work.emplace(std::move(queue.front()));
          queue.pop_front();
        }
      }
      if (!work) {
        connect(connection);
        continue;
      }
      work->answer(decide(connection, *work));
      const std::lock_guard lock(mutex);
      if (--in_flight == 0) idle.notify_all();
    }
  }

  // Throws nothing: an engine without a session is not ready, and tries again.
  void connect(std::unique_ptr<db::Connection>& connection) {
    if (connection && connection->usable()) return;
    if (connection) --connected;
    connection.reset();
    try {
      connection = std::make_unique<db::Connection>(settings.database);
      ++connected;
    } catch (const std::runtime_error&) {
      std::this_thread::sleep_for(pause);
    }
  }

  Resolution decide(std::unique_ptr<db::Connection>& connection, Work& work) {
    bool in_doubt = false;
    for (int attempt = 0; attempt < attempts_max; ++attempt) {
      connect(connection);
      if (!connection) continue;
      try {
        return run(*connection, work, in_doubt);
      } catch (const db::InDoubtError&) {
        in_doubt = true;
      } catch (const db::TransientError& error) {
        if (error.reason() == db::TransientReason::lock_timeout && !in_doubt) return InProgress{};
        std::this_thread::sleep_for(pause);
      }
    }
    return in_doubt ? Resolution(OutcomeUnknown{}) : Resolution(Unavailable{});
  }

  Resolution run(db::Connection& connection, Work& work, bool in_doubt) {
    const Operation& operation = work.operation;
    db::Transaction transaction(connection);
    const std::int64_t now_us = clock_us();
    const auto expected = operation.executor->expect(*operation.payload, now_us);
    const Answer* const stored = expected ? &*expected : nullptr;
    if (flaw == Flaw::select) {
      if (auto resolution = known(transaction, operation)) return std::move(*resolution);
    } else if (!claim(transaction, operation, settings.retention, stored, now_us)) {
      const bool run_again = in_doubt && flaw == Flaw::blind;
      if (!run_again) return known(transaction, operation).value_or(Unavailable{});
    }
    const std::vector<Claim> claims{
        {operation.tenant_id, operation.key, *operation.payload, stored}};
    auto decisions = operation.executor->execute(transaction, claims, now_us);
    auto& decision = decisions.at(0);
    if (std::holds_alternative<Busy>(decision)) return Unavailable{};  // rolled back, as below
    if (auto* refused = std::get_if<Refused>(&decision)) return NotDone{std::move(refused->answer)};
    if (flaw == Flaw::select) claim(transaction, operation, settings.retention, stored, now_us);
    auto* const decided = std::get_if<Decided>(&decision);
    if (decided != nullptr) complete(transaction, operation, decided->answer);
    Answer answer = decided != nullptr ? std::move(decided->answer) : expected.value();
    if (flaw == Flaw::early) work.answer(Answered{answer, false});
    transaction.commit();
    return Answered{std::move(answer), false};
  }

  const EngineSettings settings;
  db::Pool& reads;
  const Flaw flaw = flaw_from_environment();
  std::mutex mutex;
  std::condition_variable_any pushed;
  std::condition_variable idle;
  std::deque<Work> queue;
  std::size_t in_flight = 0;
  bool draining = false;
  std::atomic<int> connected{0};
  std::vector<std::jthread> threads;
};

Engine::Engine(EngineSettings settings, db::Pool& reads, runtime::Log&, runtime::Metrics&)
    : state_(std::make_unique<State>(std::move(settings), reads)) {}

Engine::~Engine() = default;

void Engine::submit(Operation operation, std::chrono::milliseconds, Completion done) {
  state_->submit(std::move(operation), std::move(done));
}

std::vector<std::optional<Resolution>> Engine::look_up(
    std::span<const Operation* const> operations) {
  std::vector<std::optional<Resolution>> resolutions;
  state_->reads.run(db::Access::read_only, [&](db::Transaction& transaction) {
    resolutions.clear();
    for (const Operation* operation : operations) {
      resolutions.push_back(known(transaction, *operation));
    }
  });
  return resolutions;
}

std::optional<KeyState> Engine::key_state(const std::string&, const std::string&) {
  return std::nullopt;
}

std::optional<std::chrono::milliseconds> Engine::take_recent_p99() { return std::nullopt; }

bool Engine::ready() const { return !state_->draining && state_->connected > 0; }

void Engine::drain() {
  const std::lock_guard lock(state_->mutex);
  state_->draining = true;
}

bool Engine::wait_idle(std::chrono::steady_clock::time_point deadline) {
  std::unique_lock lock(state_->mutex);
  return state_->idle.wait_until(lock, deadline, [this] { return state_->in_flight == 0; });
}

}  // namespace oncepay::once

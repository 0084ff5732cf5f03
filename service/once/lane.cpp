#include "once/lane.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "once/alone.hpp"
#include "once/batch.hpp"
#include "runtime/pause.hpp"
#include "sql/statements.hpp"

namespace oncepay::once {

using std::chrono::milliseconds;

namespace {

constexpr int attempts_max = 6;  // of a batch that met a serialization failure
constexpr int looks_max = 3;     // of a batch whose claim did not fit the layout
// How long a batch waits for the database to come back.
constexpr milliseconds reconnect_patience{3'000};
constexpr milliseconds ping_interval{1'000};  // of an idle lane
constexpr milliseconds pause_max{500};
constexpr milliseconds clock_age_max{10'000};  // of the database's clock as a lane has seen it

// "No partition of relation found for row" (a violated constraint would have a name), or no such
// column: the claim was written for the other layout.
bool is_other_layout(const db::StatementError& error) {
  return (error.sqlstate() == "23514" && error.constraint().empty()) || error.sqlstate() == "42703";
}

// A COMMIT that is in doubt may belong to a backend that is still on its way to its claim. What
// this run has decided keeps the key, so that claim will fail; where it has given the key back,
// nobody can say yet that nothing is done.
void doubt_refusals(std::vector<Resolution>& resolutions) {
  for (Resolution& resolution : resolutions) {
    if (std::holds_alternative<NotDone>(resolution) ||
        std::holds_alternative<Unavailable>(resolution)) {
      resolution = OutcomeUnknown{};
    }
  }
}

}  // namespace

// How far one batch has come in its attempts.
struct Lane::Attempt {
  int count = 0;
  int looks = 0;
  BatchHistory history;
  SteadyTime lost_since{};
  SteadyTime resolve_until{};
};

Lane::Lane(LaneShared& shared, LaneKind kind)
    : shared_(shared), kind_(kind), random_(std::random_device{}()) {}

void Lane::run(std::stop_token stop) {
  if (kind_ == LaneKind::aside) {
    run_aside(std::move(stop));
  } else {
    run_batches(std::move(stop));
  }
  disconnect();
}

void Lane::run_batches(std::stop_token stop) {
  int failures = 0;
  while (!stop.stop_requested()) {
    if (!connect(stop)) {
      if (shared_.lanes_connected == 0) {
        for (const auto& pending : shared_.queue.take_all()) {
          shared_.in_flight.finish(pending, Unavailable{});
        }
      }
      pause(failures++, stop);
      continue;
    }
    failures = 0;
    auto batch = shared_.queue.take(shared_.settings.batch_operations_max, ping_interval, stop);
    if (batch.empty()) {
      if (!stop.stop_requested() && !ping()) disconnect();
      continue;
    }
    const auto taken_at = std::chrono::steady_clock::now();
    for (const auto& pending : batch) {
      const std::chrono::duration<double> waited = taken_at - pending->entered_at;
      shared_.metrics.queue_wait_seconds.observe(waited.count());
    }
    has_turn_ = true;
    process(std::move(batch), stop);
    end_turn();
  }
}

void Lane::end_turn() {
  if (has_turn_) shared_.queue.finished();
  has_turn_ = false;
}

void Lane::run_aside(std::stop_token stop) {
  while (!stop.stop_requested()) {
    PendingPtr pending = shared_.aside.take(ping_interval, stop);
    if (pending) process({std::move(pending)}, stop);
  }
}

bool Lane::connect(std::stop_token stop) {
  if (connection_ && connection_->usable()) return true;
  disconnect();
  if (stop.stop_requested()) return false;
  try {
    auto settings = shared_.settings.database;
    settings.plans = db::Plans::by_index;
    connection_ = std::make_unique<db::Connection>(settings);
    look();
  } catch (const db::TransientError& error) {
    shared_.metrics.connects_failed.add();
    shared_.log.warning("lane cannot connect", {{"reason", name_of(error.reason())}});
    disconnect();
    return false;
  } catch (const db::StatementError& error) {
    shared_.metrics.connects_failed.add();
    shared_.log.error("lane cannot connect", {{"sqlstate", error.sqlstate()}});
    disconnect();
    return false;
  } catch (const db::InDoubtError&) {
    disconnect();  // the look has changed nothing
    return false;
  }
  if (kind_ == LaneKind::batches) {
    counted_ = true;
    shared_.metrics.lanes_connected.set(++shared_.lanes_connected);
  }
  return true;
}

void Lane::disconnect() {
  connection_.reset();
  alone_works_ = true;
  if (counted_) shared_.metrics.lanes_connected.set(--shared_.lanes_connected);
  counted_ = false;
}

// What a lane has to know of its database, and whether that takes writes.
void Lane::look() {
  db::Transaction transaction(*connection_);
  const db::Rows rows = transaction.run(sql::once::ping);
  clock_.saw(rows.number(0, 1), std::chrono::steady_clock::now());
  layout_ = rows.flag(0, 2) ? KeyLayout::periods : KeyLayout::one_table;
  transaction.commit();
  if (!rows.flag(0, 0)) {
    throw db::TransientError(db::TransientReason::read_only, "the session takes no writes");
  }
}

// Finds out while nobody waits that the session died or that the primary was demoted.
bool Lane::ping() {
  try {
    look();
    return true;
  } catch (const std::runtime_error&) {
    return false;  // whatever it was: the next attempt to connect says more
  }
}

// Doubles with each attempt, jittered so that lanes and instances do not come back in step.
void Lane::pause(int attempt, std::stop_token stop) {
  const auto longest = std::min(pause_max, milliseconds(4) * (1 << std::min(attempt, 10)));
  std::uniform_int_distribution<milliseconds::rep> time(longest.count() / 2, longest.count());
  runtime::pause(milliseconds(time(random_)), stop);
}

void Lane::process(std::vector<PendingPtr> batch, std::stop_token stop) {
  Attempt attempt;
  while (!try_once(batch, attempt, stop)) {
    if (stop.stop_requested()) return give_up(batch, attempt);
    pause(attempt.count++, stop);
  }
}

// True when the batch is off our hands: answered, given up, or passed on.
bool Lane::try_once(const std::vector<PendingPtr>& batch, Attempt& attempt, std::stop_token stop) {
  const auto now = std::chrono::steady_clock::now();
  if (!connect(stop)) {
    if (attempt.lost_since == SteadyTime{}) attempt.lost_since = now;
    const auto until =
        attempt.history.in_doubt ? attempt.resolve_until : attempt.lost_since + reconnect_patience;
    if (now < until) return false;
    give_up(batch, attempt);
    return true;
  }
  std::optional<BatchResult> result;
  const BatchSettings settings{shared_.settings.retention, clock_, first_look_, layout_};
  try {
    if (may_run_alone(batch, attempt)) result = try_alone(batch.front(), settings, attempt);
    if (!result) {
      result = run_batch(*connection_, batch, settings, attempt.history,
                         [this](auto claimed) { shared_.in_flight.claimed(claimed); });
    }
  } catch (const db::InDoubtError&) {
    shared_.in_flight.released(batch);
    return after_in_doubt(batch, attempt) == Next::leave;
  } catch (const db::TransientError& error) {
    shared_.in_flight.released(batch);
    return after_transient(batch, error, attempt) == Next::leave;
  } catch (const db::StatementError& error) {
    shared_.in_flight.released(batch);
    if (is_other_layout(error) && attempt.looks++ < looks_max) {
      if (!ping()) disconnect();  // the ping tells which layout it is
      return false;
    }
    after_fault(batch, error, attempt, stop);
    return true;
  } catch (const std::exception& error) {
    shared_.in_flight.released(batch);
    after_fault(batch, error, attempt, stop);
    return true;
  }
  if (attempt.history.in_doubt) doubt_refusals(result->resolutions);
  // Committed, or read. From here on nothing may run the batch again. Another lane may run the next
  // one while this one answers.
  end_turn();
  observe(batch, *result);
  // Retries come in crowds, after an outage for instance: what the last batch was, the next one is.
  first_look_ = 2 * result->keys_found > batch.size() ? FirstLook::read : FirstLook::claim;
  as_expected_ = result->as_expected;
  if (kind_ == LaneKind::aside) shared_.aside.forget(batch.front()->map_key);
  shared_.in_flight.finish(batch, std::move(result->resolutions));
  return true;
}

// What does not end as expected costs a round trip for nothing, so the last batch must have. And it
// does not tell the time.
bool Lane::may_run_alone(const std::vector<PendingPtr>& batch, const Attempt& attempt) const {
  return batch.size() == 1 && kind_ == LaneKind::batches && as_expected_ &&
         first_look_ == FirstLook::claim && attempt.count == 0 && !attempt.history.in_doubt &&
         clock_.age() < clock_age_max && alone_works_;
}

std::optional<BatchResult> Lane::try_alone(const PendingPtr& pending, const BatchSettings& settings,
                                           Attempt& attempt) {
  as_expected_ = false;
  try {
    return run_alone(*connection_, pending, settings, attempt.history);
  } catch (const db::StatementError& error) {
    if (!is_other_layout(error)) {
      shared_.log.error("statement of an operation that is alone refused",
                        {{"sqlstate", error.sqlstate()}, {"constraint", error.constraint()}});
      alone_works_ = false;
    }
    return std::nullopt;
  }
}

Lane::Next Lane::after_in_doubt(const std::vector<PendingPtr>& batch, Attempt& attempt) {
  shared_.metrics.in_doubt.add();
  shared_.log.warning("commit in doubt", {{"operations", batch.size()}});
  disconnect();
  const auto now = std::chrono::steady_clock::now();
  if (!attempt.history.in_doubt) {
    attempt.resolve_until = now + shared_.settings.commit_resolve_deadline;
  }
  attempt.history.in_doubt = true;
  if (now < attempt.resolve_until) return Next::again;
  give_up(batch, attempt);
  return Next::leave;
}

// A database error that running again does not mend, or a bug: only the guilty one shall fail.
void Lane::after_fault(const std::vector<PendingPtr>& batch, const std::exception& error,
                       const Attempt& attempt, std::stop_token stop) {
  if (const auto* refused = dynamic_cast<const db::StatementError*>(&error)) {
    shared_.log.error("statement refused", {{"sqlstate", refused->sqlstate()},
                                            {"constraint", refused->constraint()},
                                            {"operations", batch.size()}});
  } else {
    shared_.log.error("fault in a batch", {{"what", error.what()}, {"operations", batch.size()}});
  }
  if (attempt.history.in_doubt) {
    give_up(batch, attempt);
  } else if (batch.size() > 1) {
    one_by_one(batch, std::move(stop));
  } else {
    shared_.metrics.failed.add();
    shared_.in_flight.finish(batch.front(), Failed{});
  }
}

Lane::Next Lane::after_transient(const std::vector<PendingPtr>& batch,
                                 const db::TransientError& error, Attempt& attempt) {
  const auto now = std::chrono::steady_clock::now();
  if (attempt.history.in_doubt && now < attempt.resolve_until) {
    if (!connection_->usable()) disconnect();
    return Next::again;
  }
  switch (error.reason()) {
    case db::TransientReason::serialization:
      if (attempt.count + 1 >= attempts_max) break;
      shared_.metrics.retried.add();
      return Next::again;
    case db::TransientReason::lock_timeout:
      return after_lock_timeout(batch, attempt);
    case db::TransientReason::connection_lost:
    case db::TransientReason::read_only:
      disconnect();
      if (attempt.lost_since == SteadyTime{}) attempt.lost_since = now;
      if (now < attempt.lost_since + reconnect_patience) return Next::again;
      break;
    case db::TransientReason::cancelled:
    case db::TransientReason::out_of_capacity:
      if (!connection_->usable()) disconnect();
      break;
  }
  shared_.log.warning("batch given up",
                      {{"reason", name_of(error.reason())}, {"operations", batch.size()}});
  give_up(batch, attempt);
  return Next::leave;
}

Lane::Next Lane::after_lock_timeout(const std::vector<PendingPtr>& batch, Attempt& attempt) {
  if (attempt.history.in_doubt) {  // the old backend still holds our claims, and the time is over
    give_up(batch, attempt);
    return Next::leave;
  }
  // The claims were ours and the executor waited: now it knows for what, and does without.
  if (attempt.history.claimed && attempt.count + 1 < attempts_max) {
    shared_.metrics.retried.add();
    return Next::again;
  }
  if (kind_ == LaneKind::batches) {
    shared_.metrics.aside.add();
    shared_.log.warning("batch waited too long for a lock", {{"operations", batch.size()}});
    shared_.aside.push_suspects(batch);
    return Next::leave;
  }
  const auto& pending = batch.front();
  // The claim was ours and an account was not to be had: nothing is in progress, the key is free.
  if (attempt.history.claimed) {
    give_up(batch, attempt);
    return Next::leave;
  }
  const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
  // Somebody asked to wait for the answer and still has time: it goes to the end of the line.
  if (now < pending->wait_until && shared_.aside.push_stuck(pending)) return Next::leave;
  shared_.aside.remember(pending->map_key);
  shared_.in_flight.finish(pending, InProgress{});
  return Next::leave;
}

void Lane::one_by_one(const std::vector<PendingPtr>& batch, std::stop_token stop) {
  shared_.metrics.one_by_one.add();
  for (const auto& pending : batch) process({pending}, stop);
}

// Nothing was committed, unless a COMMIT is in doubt.
void Lane::give_up(const std::vector<PendingPtr>& batch, const Attempt& attempt) {
  const Resolution resolution =
      attempt.history.in_doubt ? Resolution(OutcomeUnknown{}) : Resolution(Unavailable{});
  shared_.in_flight.finish(batch, std::vector<Resolution>(batch.size(), resolution));
}

}  // namespace oncepay::once

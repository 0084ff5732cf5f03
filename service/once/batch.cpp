#include "once/batch.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <utility>

#include "once/stored_key.hpp"
#include "sql/statements.hpp"

namespace oncepay::once {

namespace {

// How often keys are claimed in one transaction: more than twice takes other instances that claim
// and expire the same key between our statements.
constexpr int claim_rounds_max = 5;

using Indices = std::vector<std::size_t>;

class Batch {
 public:
  Batch(db::Transaction& transaction, std::span<const PendingPtr> operations,
        BatchSettings settings)
      : transaction_(transaction),
        operations_(operations),
        settings_(settings),
        now_us_(settings.clock.now_us()),
        expected_(operations.size()),
        decisions_(operations.size()),
        resolutions_(operations.size()) {}

  void claim();
  void decide();
  void complete();
  [[nodiscard]] std::vector<PendingPtr> won_operations() const;
  [[nodiscard]] std::int64_t now_us() const { return now_us_; }
  // By the database's clock; 0 if no claim is ours.
  [[nodiscard]] std::int64_t began_at_us() const { return began_at_us_; }
  [[nodiscard]] std::size_t keys_found() const { return keys_found_; }
  [[nodiscard]] bool as_expected() const;
  std::vector<Resolution> take_resolutions();

 private:
  [[nodiscard]] const Operation& operation(std::size_t index) const {
    return operations_[index]->operation;
  }
  void expect(Indices wanted_keys);
  Indices insert(const Indices& wanted);
  Indices judge_stored(const Indices& lost);
  void remove_ended(const Indices& ended);
  void check_rows(std::size_t written, std::size_t expected, const char* what) const;

  db::Transaction& transaction_;
  std::span<const PendingPtr> operations_;
  BatchSettings settings_;
  std::int64_t now_us_;  // the time that answers name
  std::vector<std::optional<Answer>> expected_;
  std::vector<std::optional<Decision>> decisions_;
  std::vector<std::optional<Resolution>> resolutions_;
  Indices won_;  // operations whose claim is ours, in the order of arrival
  std::size_t keys_found_ = 0;
  std::int64_t began_at_us_ = 0;
};

// The arrays that hold answers in sql/once/claim_keys.sql and complete_keys.sql.
struct AnswerArrays {
  db::Array statuses, types, locations, bodies, resources;

  void add(const Answer& answer) {
    statuses.add(std::int64_t{answer.status});
    types.add(answer.content_type);
    answer.location ? locations.add(*answer.location) : locations.add_null();
    bodies.add_bytes(answer.body);
    answer.resource_id.empty() ? resources.add_null() : resources.add(answer.resource_id);
  }
  void add_none() {
    for (auto* array : {&statuses, &types, &locations, &bodies, &resources}) array->add_null();
  }
  void bind(db::Params& params) const {
    params.add(statuses).add(types).add(locations).add(bodies).add(resources);
  }
};

// What each operation's answer will be if all goes well. In the order of arrival, so that the ids
// of what they make rise in it.
void Batch::expect(Indices wanted_keys) {
  std::sort(wanted_keys.begin(), wanted_keys.end());
  for (const std::size_t index : wanted_keys) {
    if (expected_[index]) continue;
    const Operation& wanted = operation(index);
    expected_[index] = wanted.executor->expect(*wanted.payload, now_us_);
  }
}

void Batch::claim() {
  Indices wanted(operations_.size());
  std::iota(wanted.begin(), wanted.end(), 0);
  std::sort(wanted.begin(), wanted.end(), [this](std::size_t a, std::size_t b) {
    const auto order = operation(a).tenant_id.compare(operation(b).tenant_id);
    return order != 0 ? order < 0 : operation(a).key < operation(b).key;
  });
  if (settings_.first_look == FirstLook::read) wanted = judge_stored(wanted);
  for (int round = 0; round < claim_rounds_max && !wanted.empty(); ++round) {
    expect(wanted);
    const Indices lost = insert(wanted);
    wanted = lost.empty() ? Indices{} : judge_stored(lost);
  }
  // Others keep taking and leaving these keys: for the client that is a request in progress.
  for (const std::size_t index : wanted) resolutions_[index] = InProgress{};
  std::sort(won_.begin(), won_.end());
}

// Claims the wanted keys, which are sorted; returns those that have a row already.
Indices Batch::insert(const Indices& wanted) {
  db::Array tenants, keys, fingerprints;
  AnswerArrays answers;
  for (const std::size_t index : wanted) {
    tenants.add(operation(index).tenant_id);
    keys.add(operation(index).key);
    fingerprints.add_bytes(operation(index).fingerprint);
    expected_[index] ? answers.add(*expected_[index]) : answers.add_none();
  }
  db::Params params;
  params.add(tenants).add(keys).add(fingerprints).add(fingerprint_version_current);
  params.add(static_cast<std::int64_t>(settings_.retention.count()));
  answers.bind(params);
  params.add(now_us_);
  const db::Rows rows =
      transaction_.run(settings_.layout == KeyLayout::periods ? sql::once::claim_keys_in_period
                                                              : sql::once::claim_keys,
                       params);
  // Rows come back in the order in which they were inserted: a subsequence of the wanted keys.
  Indices lost;
  std::size_t row = 0;
  for (const std::size_t index : wanted) {
    if (row < rows.size() && rows.text(row, 0) == operation(index).tenant_id &&
        rows.text(row, 1) == operation(index).key) {
      won_.push_back(index);
      began_at_us_ = rows.number(row, 2);
      ++row;
    } else {
      lost.push_back(index);
    }
  }
  check_rows(rows.size(), row, "claims returned out of order");
  return lost;
}

// Resolves what the rows of lost keys decide; returns the keys that may be claimed again.
Indices Batch::judge_stored(const Indices& lost) {
  db::Array tenants, keys;
  for (const std::size_t index : lost) {
    tenants.add(operation(index).tenant_id);
    keys.add(operation(index).key);
  }
  const db::Rows rows = transaction_.run(sql::once::read_keys, db::Params().add(tenants).add(keys));
  keys_found_ = std::max(keys_found_, rows.size());
  Indices ended;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    StoredKey stored = read_stored_key(rows, row);
    const std::size_t index = lost.at(stored.index);
    auto resolution = judge(stored, operation(index));
    if (!resolution) {
      ended.push_back(index);
      continue;
    }
    // A commit of ours that was in doubt is not a replay to the one who waits for it.
    auto* answered = std::get_if<Answered>(&*resolution);
    const std::string& ours = operations_[index]->attempted_resource_id;
    if (answered != nullptr && !ours.empty() && answered->answer.resource_id == ours) {
      answered->replayed = false;
    }
    resolutions_[index] = std::move(resolution);
  }
  if (!ended.empty()) remove_ended(ended);
  Indices again;
  std::copy_if(lost.begin(), lost.end(), std::back_inserter(again),
               [this](std::size_t index) { return !resolutions_[index].has_value(); });
  return again;
}

void Batch::remove_ended(const Indices& ended) {
  db::Array tenants, keys;
  for (const std::size_t index : ended) {
    tenants.add(operation(index).tenant_id);
    keys.add(operation(index).key);
  }
  transaction_.run(sql::once::remove_ended_keys, db::Params().add(tenants).add(keys));
}

void Batch::decide() {
  std::map<int, std::pair<Executor*, Indices>> by_rank;
  for (const std::size_t index : won_) {
    Executor* const executor = operation(index).executor;
    auto& [known, indices] = by_rank[executor->rank()];
    if (known != nullptr && known != executor) throw std::logic_error("two executors of one rank");
    known = executor;
    indices.push_back(index);
  }
  for (auto& [rank, group] : by_rank) {
    auto& [executor, indices] = group;
    std::vector<Claim> claims;
    claims.reserve(indices.size());
    for (const std::size_t index : indices) {
      const Operation& claimed = operation(index);
      const Answer* const expected = expected_[index] ? &*expected_[index] : nullptr;
      claims.push_back({claimed.tenant_id, claimed.key, *claimed.payload, expected});
    }
    auto decisions = executor->execute(transaction_, claims, now_us_);
    check_rows(decisions.size(), claims.size(), "decisions");
    for (std::size_t i = 0; i < indices.size(); ++i) {
      decisions_[indices[i]] = std::move(decisions[i]);
    }
  }
}

void Batch::complete() {
  db::Array tenants, keys, free_tenants, free_keys;
  AnswerArrays answers;
  for (const std::size_t index : won_) {
    const Operation& claimed = operation(index);
    Decision& decision = *decisions_[index];
    auto* refused = std::get_if<Refused>(&decision);
    if (refused != nullptr || std::holds_alternative<Busy>(decision)) {
      free_tenants.add(claimed.tenant_id);
      free_keys.add(claimed.key);
      resolutions_[index] =
          refused != nullptr ? Resolution(NotDone{std::move(refused->answer)}) : Unavailable{};
      continue;
    }
    auto* decided = std::get_if<Decided>(&decision);
    if (decided != nullptr) {
      tenants.add(claimed.tenant_id);
      keys.add(claimed.key);
      answers.add(decided->answer);
    }
    Answer& answer = decided != nullptr ? decided->answer : expected_[index].value();
    operations_[index]->attempted_resource_id = answer.resource_id;
    resolutions_[index] = Answered{std::move(answer), false};
  }
  if (keys.size() > 0) {
    db::Params params;
    params.add(tenants).add(keys);
    answers.bind(params);
    const db::Rows rows = transaction_.run(sql::once::complete_keys, params);
    check_rows(rows.affected(), keys.size(), "keys completed");
  }
  if (free_keys.size() > 0) {
    const db::Rows rows =
        transaction_.run(sql::once::release_keys, db::Params().add(free_tenants).add(free_keys));
    check_rows(rows.affected(), free_keys.size(), "keys released");
  }
}

bool Batch::as_expected() const {
  return won_.size() == operations_.size() &&
         std::all_of(decisions_.begin(), decisions_.end(), [](const auto& decision) {
           return decision && std::holds_alternative<AsExpected>(*decision);
         });
}

void Batch::check_rows(std::size_t written, std::size_t expected, const char* what) const {
  if (written != expected) throw std::logic_error(std::string(what) + ": not as many as claimed");
}

std::vector<PendingPtr> Batch::won_operations() const {
  std::vector<PendingPtr> operations;
  operations.reserve(won_.size());
  for (const std::size_t index : won_) operations.push_back(operations_[index]);
  return operations;
}

std::vector<Resolution> Batch::take_resolutions() {
  std::vector<Resolution> taken;
  taken.reserve(resolutions_.size());
  for (auto& resolution : resolutions_) taken.push_back(std::move(resolution.value()));
  return taken;
}

// The lane's idea of the database's clock goes into answers, so it must not be far off: after a
// machine was suspended, or a database's clock was set.
void check_clock(std::int64_t believed_us, std::int64_t now_us) {
  if (std::abs(believed_us - now_us) > DatabaseClock::off_us_max) {
    throw db::TransientError(db::TransientReason::serialization, "the database's clock has jumped");
  }
}

// While in doubt: the keys of the first attempt must not have come to the end of their life.
void check_history(BatchHistory& history, std::int64_t now_us, std::chrono::seconds retention) {
  if (history.first_us == 0) history.first_us = now_us;
  const std::chrono::microseconds since(now_us - history.first_us);
  if (history.in_doubt && since >= retention) {
    throw db::InDoubtError("the keys of a commit in doubt have expired");
  }
}

}  // namespace

db::Opening opening_of(KeyLayout layout) {
  return layout == KeyLayout::periods ? &sql::once::enter_key_period : nullptr;
}

BatchResult run_batch(db::Connection& connection, std::span<const PendingPtr> operations,
                      BatchSettings settings, BatchHistory& history, const OnClaimed& on_claimed) {
  using Clock = std::chrono::steady_clock;
  BatchResult result;
  const auto began = Clock::now();
  db::Transaction transaction(connection, db::Access::read_write, db::Begin::with_first_statement,
                              opening_of(settings.layout));
  Batch batch(transaction, operations, settings);
  history.claimed = false;
  batch.claim();
  if (batch.began_at_us() != 0) {
    settings.clock.saw(batch.began_at_us(), began);
    check_history(history, batch.began_at_us(), settings.retention);
    check_clock(batch.now_us(), batch.began_at_us());
  }
  // What is found may be committed here and not yet on the synchronous standby: with a record of
  // its own this COMMIT waits for everything before it.
  if (history.in_doubt) transaction.run(sql::once::write_commit_record);
  history.claimed = true;
  on_claimed(batch.won_operations());
  const auto claimed = Clock::now();
  batch.decide();
  const auto decided = Clock::now();
  batch.complete();
  const auto completed = Clock::now();
  transaction.commit();
  result.times = {claimed - began, decided - claimed, completed - decided,
                  Clock::now() - completed};
  result.statements = transaction.times();
  result.resolutions = batch.take_resolutions();
  result.keys_found = batch.keys_found();
  result.as_expected = batch.as_expected();
  return result;
}

}  // namespace oncepay::once

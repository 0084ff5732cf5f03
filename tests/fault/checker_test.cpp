// The checker itself: histories made by hand, a sound one, and one for each thing that can be wrong
// with it. A checker that sees nothing would make every fault test pass.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>

#include "fault/checker.hpp"

namespace {

using namespace fault;
using support::Payment;

const Payment fund{100, "EUR", "world", "alice"};
const Payment pay{60, "EUR", "alice", "bob"};
const Payment too_much{50, "EUR", "alice", "bob"};

Seen created(const std::string& id) {
  return {201, "application/json", "/v1/payments/" + id, R"({"id":")" + id + R"("})", false, 0};
}

Seen problem(int status, const std::string& type, const std::string& id = "") {
  std::string body = R"({"type":"/problems/)" + type + R"(","retryable":true,"same_key":true)";
  if (!id.empty()) body += R"(,"payment_id":")" + id + "\"";
  return {status, "application/problem+json", "", body + "}", false, status == 402 ? 0 : 1};
}

Seen replayed(Seen seen) {
  seen.replayed = true;
  return seen;
}

Call call(const std::string& key, const Payment& payment, Micros sent, Micros received,
          std::optional<Seen> seen) {
  return {"a client", key, payment, "north", sent, received, std::move(seen), "closed"};
}

// Alice is funded with 100, pays 60, and is declined 50: each first one answered, once replayed.
History sound() {
  History history;
  const Seen declined = problem(402, "insufficient-funds", "id-3");
  history.calls = {
      call("k1", fund, 100, 200, created("id-1")),
      call("k2", pay, 300, 310, std::nullopt),
      call("k2", pay, 320, 330, problem(409, "request-in-progress")),
      call("k2", pay, 340, 400, replayed(created("id-2"))),
      call("k3", too_much, 500, 600, declined),
      call("k3", too_much, 700, 800, replayed(declined)),
      call("k4", {1, "EUR", "alice", "nobody"}, 900, 950, problem(422, "account-not-found"))};
  Books& books = history.books;
  books.payments = {{"id-1", "k1", "succeeded", "", fund, 150},
                    {"id-2", "k2", "succeeded", "", pay, 305},
                    {"id-3", "k3", "declined", "insufficient-funds", too_much, 550}};
  books.answers = {
      {"k1", "id-1", created("id-1")}, {"k2", "id-2", created("id-2")}, {"k3", "id-3", declined}};
  books.accounts = {
      {"world", "EUR", -100, std::nullopt}, {"alice", "EUR", 40, 0}, {"bob", "EUR", 60, 0}};
  return history;
}

void expect_rule(const History& history, const std::string& rule) {
  const auto found = check(history);
  INFO("violations: ", text_of(found));
  CHECK(std::any_of(found.begin(), found.end(),
                    [&](const Violation& one) { return one.rule == rule; }));
}

}  // namespace

TEST_CASE("a sound history has no violation, and is the same after it was kept in a file") {
  const History history = sound();
  CHECK(text_of(check(history)) == "");
  const auto file = support::scratch_file("history");
  save(history, file);
  const History kept = load(file);
  CHECK(text_of(check(kept)) == "");
  CHECK(kept.calls.size() == history.calls.size());
  CHECK(kept.calls.at(3).seen == history.calls.at(3).seen);
  CHECK(kept.books.payments.size() == 3);
  CHECK(kept.books.accounts.at(1).overdraft_limit == 0);
}

TEST_CASE("a second payment under a key is seen, also when nobody was told of it") {
  History history = sound();
  history.books.payments.push_back({"id-9", "k1", "succeeded", "", fund, 560});
  expect_rule(history, "two-payments");
  expect_rule(history, "no-serial-order");
}

TEST_CASE("two answers for one key are seen, down to a byte") {
  History history = sound();
  history.calls[5].seen->body += " ";
  expect_rule(history, "two-answers");
  expect_rule(history, "other-than-stored");
  history = sound();
  history.calls.push_back(call("k2", pay, 1000, 1100, replayed(created("id-7"))));
  expect_rule(history, "two-answers");
  history = sound();
  history.calls[3].seen->location = "/v1/payments/id-1";
  expect_rule(history, "other-than-stored");
}

TEST_CASE("two answers that both say to be the first are seen") {
  History history = sound();
  history.calls[5].seen->replayed = false;
  expect_rule(history, "two-firsts");
}

TEST_CASE("an acknowledged payment that is not in the books is seen, so is another outcome") {
  History history = sound();
  history.books.payments.pop_back();
  expect_rule(history, "not-in-books");
  history = sound();
  history.books.answers.pop_back();
  expect_rule(history, "other-than-stored");
  history = sound();
  history.books.payments.back().decline_reason = "balance-limit";
  expect_rule(history, "not-in-books");
}

TEST_CASE("a payment that nobody asked for is seen") {
  History history = sound();
  history.books.payments[1].payment.amount = 59;
  expect_rule(history, "other-request");
  history = sound();
  history.books.payments.push_back(
      {"id-9", "k9", "succeeded", "", {1, "EUR", "bob", "alice"}, 990});
  expect_rule(history, "unasked");
  history = sound();
  history.books.payments.push_back(
      {"id-9", "k4", "succeeded", "", {1, "EUR", "alice", "nobody"}, 990});
  expect_rule(history, "refused-but-paid");
}

TEST_CASE("an answer to another request under the same key is seen") {
  History history = sound();
  history.calls.push_back(
      call("k2", {7, "EUR", "alice", "bob"}, 1000, 1100, replayed(created("id-2"))));
  expect_rule(history, "other-request");
  history = sound();
  history.calls.push_back(call("k2", pay, 1000, 1100, problem(422, "idempotency-key-reused")));
  expect_rule(history, "unexpected");
}

TEST_CASE("an answer that was there before its commit is seen") {
  History history = sound();
  history.books.payments[0].committed_us = 201;
  expect_rule(history, "before-commit");
}

TEST_CASE("outcomes and balances that no order of commits explains are seen") {
  History history = sound();
  std::swap(history.books.payments[0], history.books.payments[1]);  // paid before it was funded
  expect_rule(history, "no-serial-order");
  history = sound();
  history.books.accounts[1].balance = 41;
  expect_rule(history, "no-serial-order");
  history = sound();
  history.books.payments[2].status = "succeeded";
  history.books.payments[2].decline_reason = "";
  expect_rule(history, "no-serial-order");
}

TEST_CASE("a decline is right when it was right at any moment of its batch, and only then") {
  History history = sound();
  for (BookedPayment& booked : history.books.payments) booked.committed_us = 150;
  CHECK(text_of(check(history)) == "");  // declined before alice was funded, or after she paid
  history.calls[4].payment.amount = history.calls[5].payment.amount = 0;
  history.books.payments[2].payment.amount = 0;  // of nothing: never insufficient
  expect_rule(history, "no-serial-order");
}

TEST_CASE("a payment that was sent after a later one was answered is seen") {
  History history = sound();
  history.calls[0].sent_us = 450;  // k2 was answered at 400 and stands after k1 in the books
  expect_rule(history, "out-of-order");
}

TEST_CASE("answers that the contract does not know are seen") {
  History history = sound();
  history.calls.push_back(call("k1", fund, 1000, 1100, problem(500, "internal")));
  expect_rule(history, "unexpected");
  history = sound();
  Seen silent = problem(503, "unavailable");
  silent.retry_after_s = 0;
  history.calls.push_back(call("k1", fund, 1000, 1100, silent));
  expect_rule(history, "unexpected");
}

TEST_CASE("a key that never came to an end is seen, and what verify objects to") {
  History history = sound();
  history.calls.push_back(call("k5", pay, 1000, 1100, problem(503, "unavailable")));
  expect_rule(history, "unsettled");
  history = sound();
  history.books.verify = "balance is 1, entries add up to 2";
  expect_rule(history, "verify");
}

// scripts/faults check FILE
TEST_CASE("a kept history is judged again" * doctest::skip()) {
  const History history = load(support::required_environment("FAULT_HISTORY"));
  const auto found = check(history);
  MESSAGE(history.calls.size(), " calls, seed ", history.seed, ", ", found.size(), " violations\n",
          text_of(found, found.size()));
  CHECK(found.empty());
}

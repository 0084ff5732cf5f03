// Every nemesis, in an order chosen by seed, against three instances and a durable PostgreSQL under
// load of honest customers; then the checker judges what they saw and what the books hold.
// FAULT_SEED repeats a run's order, FAULT_SECONDS makes it go on with nemeses picked at random,
// FAULT_ONLY picks those whose names contain a word: see scripts/faults.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>

#include "fault/nemesis.hpp"
#include "fault/verdict.hpp"

namespace {

using namespace fault;

constexpr std::uint32_t seed_of_every_day = 20'261'129;

const support::Instance::Flags impatient{"--lanes=2",
                                         "--lock-timeout=300",
                                         "--answer-deadline=3000",
                                         "--commit-resolve-deadline=2000",
                                         "--read-connections=2",
                                         "--cleanup-interval=1",
                                         "--shutdown-grace=10"};

std::vector<Nemesis> chosen_nemeses(Random& random) {
  std::vector<Nemesis> all = all_nemeses();
  if (const char* word = std::getenv("FAULT_ONLY"); word != nullptr) {
    std::erase_if(all,
                  [&](const Nemesis& one) { return one.name.find(word) == std::string::npos; });
  }
  std::shuffle(all.begin(), all.end(), random);
  return all;
}

// What went wrong, or nothing.
std::string visit_all(Field& field, Customers& customers, Random& random) {
  const auto nemeses = chosen_nemeses(random);
  const auto seconds = number_from_environment("FAULT_SECONDS", 0);
  const support::Deadline end{std::chrono::seconds(seconds)};
  try {
    for (const Nemesis& nemesis : nemeses) visit(field, nemesis, random);
    while (!end.passed()) {
      visit(field, nemeses[random() % nemeses.size()], random);
      last(random, 0ms, 1000ms);
    }
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  customers.finish();
  field.expect_recovered();
  sweep(field, field.database, 3'000);
  return "";
}

}  // namespace

TEST_CASE("G1 to G6 hold while everything fails once: the history of the customers has no flaw") {
  const auto seed = number_from_environment("FAULT_SEED", seed_of_every_day);
  CAPTURE(seed);
  Random random(seed);
  Field field({.posts = 3, .flags = impatient, .server = {"max_connections=60"}}, seed);
  if (!field.disk) MESSAGE("the full disk is left out: mounting one is not allowed here");
  std::string went_wrong;
  {
    Customers customers(field, {}, seed);
    went_wrong = visit_all(field, customers, random);
  }
  const Verdict verdict = judge(field);
  MESSAGE(verdict.text());
  CHECK(went_wrong == "");
  CHECK(verdict.violations.empty());
  CHECK(verdict.history.books.payments.size() > 100);
  if (!went_wrong.empty() || !verdict.violations.empty()) MESSAGE(keep(verdict.history));
}

// scripts/faults list
TEST_CASE("the nemeses by name" * doctest::skip()) {
  std::string names;
  for (const Nemesis& nemesis : all_nemeses()) names += nemesis.name + "\n";
  MESSAGE(names);
}

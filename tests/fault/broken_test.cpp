// The checker against engines that are broken on purpose: tests/fault/naive/engine.cpp in the place
// of the product's. Each of its three flaws must be seen under the fault that brings it to light,
// and without a flaw the same faults must leave nothing to object to.
#include <doctest/doctest.h>

#include <cstdlib>

#include "fault/nemesis.hpp"
#include "fault/verdict.hpp"

namespace {

using namespace fault;

constexpr std::uint32_t seed = 4711;

// For as long as it lives, instances run another binary, with a flaw.
class Naive {
 public:
  explicit Naive(const char* flaw)
      : product_(support::required_environment("TEST_ONCEPAY_BINARY")) {
    ::setenv("TEST_ONCEPAY_BINARY",
             support::required_environment("TEST_ONCEPAY_NAIVE_BINARY").c_str(), 1);
    ::setenv("NAIVE_FLAW", flaw, 1);
  }
  Naive(const Naive&) = delete;
  Naive& operator=(const Naive&) = delete;
  ~Naive() {
    ::setenv("TEST_ONCEPAY_BINARY", product_.c_str(), 1);
    ::unsetenv("NAIVE_FLAW");
  }

 private:
  std::string product_;
};

struct Trial {
  const char* flaw;
  std::vector<std::string> nemeses;  // each of them a few times
  int twins;                         // in a hundred payments
};

Verdict judge(const Trial& trial) {
  const Naive naive(trial.flaw);
  Random random(seed);
  Field field({.posts = 2, .flags = {"--lock-timeout=2000"}, .server = {"max_connections=60"}},
              seed);
  {
    Customers customers(field, {.count = 6, .twins = trial.twins}, seed);
    for (int round = 0; round < 4; ++round) {
      for (const Nemesis& nemesis : all_nemeses()) {
        const bool wanted = std::find(trial.nemeses.begin(), trial.nemeses.end(), nemesis.name) !=
                            trial.nemeses.end();
        if (wanted) nemesis.strike(field, random);
      }
      last(random, 200ms, 400ms);
    }
    customers.finish();
  }
  return fault::judge(field);
}

const std::vector<std::string> commits_are_lost{"COMMIT is lost", "the answer of COMMIT is lost"};

}  // namespace

TEST_CASE("a payment run again blindly when COMMIT is in doubt is seen: it is paid twice") {
  const Verdict verdict = judge({"blind", commits_are_lost, 0});
  INFO(verdict.text());
  CHECK(verdict.has("two-payments"));
}

TEST_CASE("an answer that goes out before COMMIT is seen: its payment is not in the books") {
  const Verdict verdict = judge({"early", commits_are_lost, 0});
  INFO(verdict.text());
  CHECK(verdict.has("not-in-books"));
}

TEST_CASE("a key that is looked up instead of claimed is seen: two at once are both paid") {
  const Verdict verdict = judge({"select", {}, 50});
  INFO(verdict.text());
  CHECK(verdict.has("two-payments"));
}

TEST_CASE("an engine of the same make without a flaw is not objected to") {
  const Verdict verdict = judge({"none", commits_are_lost, 50});
  INFO(verdict.text());
  CHECK(verdict.violations.empty());
}

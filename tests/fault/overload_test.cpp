// Three times as much as can be done: whoever is taken is answered within a bound, the rest are
// told so fast, memory stays, and afterwards all is as before. How much can be done is set by the
// gate: each statement takes so much longer there that a batch has a known time, whatever the
// machine. FAULT_SECONDS makes the flood longer than a few seconds.
#include <doctest/doctest.h>

#include <fstream>

#include "fault/flood.hpp"
#include "fault/verdict.hpp"

namespace {

using namespace fault;
using support::Payment;

constexpr int batch = 16;
constexpr int queue = 64;  // one tenant holds half of it

const support::Instance::Flags small{"--lanes=1", "--batch-operations-max=" + std::to_string(batch),
                                     "--queue-operations-max=" + std::to_string(queue),
                                     "--cleanup=off"};

std::int64_t memory_kb(pid_t pid) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:")) return std::stoll(line.substr(6));
  }
  return 0;
}

struct Flooding {
  milliseconds statement;  // how much longer each statement takes
};

// A payment takes its batch, and before it what fits into its tenant's half of the queue and the
// batch that runs when it comes.
milliseconds longest_wait(milliseconds batch_time) {
  return batch_time * (1 + (queue / 2 + batch - 1) / batch + 1);
}

void flood_and_expect(Field& field, const Flooding& flooding) {
  Post& post = field.post(0);
  const Payment payment{1, "EUR", field.accounts()[0], field.accounts()[1]};
  support::Client one(post.to_service.port(), 10s);
  const auto pay = [&](const std::string& key) {
    const support::Stopwatch watch;
    const auto answer = one.send(payment_request(field.tenant, key, payment));
    return std::pair(answer.status, watch.elapsed());
  };
  // After a decline a payment that is alone takes the steps of a batch.
  const Payment declined{9'000'000, "EUR", field.accounts()[1], field.accounts()[0]};
  CHECK(one.send(payment_request(field.tenant, support::fresh_key(), declined)).status == 402);
  CHECK(pay(support::fresh_key()).first == 201);
  const auto trips = post.to_database.last_batch().size();
  const milliseconds batch_time = flooding.statement * static_cast<int>(trips) + 20ms;
  const int possible = static_cast<int>(batch * 1000 / batch_time.count());
  post.to_database.turn({Weather::slow, flooding.statement});

  FloodSettings settings;
  settings.port = post.to_service.port();
  settings.per_second = 3 * possible;
  settings.duration = std::chrono::seconds(number_from_environment("FAULT_SECONDS", 6));
  const std::string prefix = support::fresh_name("flood-");
  const auto before = memory_kb(post.pid());
  const Flooded flooded = flood(settings, [&](std::size_t number) {
    return payment_request(field.tenant, prefix + std::to_string(number), payment).bytes();
  });
  const auto after = memory_kb(post.pid());
  MESSAGE("statements + ", flooding.statement.count(), " ms, a batch of ", batch, " takes about ",
          batch_time.count(), " ms: offered ", flooded.offered, " (", settings.per_second,
          "/s), 201: ", flooded.count(201), " p50 ", flooded.percentile(201, 50).count(), " p99 ",
          flooded.percentile(201, 99).count(), " ms, 503: ", flooded.count(503), " p50 ",
          flooded.percentile(503, 50).count(), " p99 ", flooded.percentile(503, 99).count(),
          " ms, memory ", before, " -> ", after, " kB");
  CHECK(flooded.unanswered == 0);
  CHECK(flooded.count(201) + flooded.count(503) == flooded.offered);
  CHECK(flooded.count(201) * 5 > flooded.offered);  // what is possible is done
  CHECK(flooded.count(503) > 0);
  CHECK(flooded.percentile(201, 99) < longest_wait(batch_time) * 3 / 2);
  CHECK(flooded.percentile(503, 99) < 500ms);
  CHECK(after - before < 32 * 1024);

  const auto [status, time] = pay(support::fresh_key());
  CHECK(status == 201);
  CHECK(time < 1s);
  post.to_database.clear();
  field.expect_recovered();
  CHECK(support::broken_books(field.database) == "");
}

Field& field() {
  static Field instance({.posts = 1, .flags = small, .server = {}}, 1);
  return instance;
}

}  // namespace

TEST_CASE("row 10: three times too much is offered: bounded time, a fast 503, then as before") {
  flood_and_expect(field(), {10ms});
}

TEST_CASE("row 10: the same with a database where every statement takes 50 ms longer") {
  flood_and_expect(field(), {50ms});
}

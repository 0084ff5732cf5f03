#include "fault/nemesis.hpp"

#include <stdexcept>
#include <thread>

namespace fault {

std::vector<Nemesis> all_nemeses() {
  std::vector<Nemesis> all;
  for (auto part : {process_nemeses(), network_nemeses(), session_nemeses(), server_nemeses()}) {
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

void visit(Field& field, const Nemesis& nemesis, Random& random) {
  Disturbance disturbance{nemesis.name, now_us(), 0};
  try {
    nemesis.strike(field, random);
    disturbance.to_us = now_us();
    field.recorder.add(disturbance);
    field.expect_recovered();
  } catch (const std::runtime_error& error) {
    throw std::runtime_error(nemesis.name + ": " + error.what());
  }
}

void last(Random& random, milliseconds at_least, milliseconds at_most) {
  const auto more = static_cast<unsigned>((at_most - at_least).count()) + 1U;
  std::this_thread::sleep_for(at_least + milliseconds(random() % more));
}

void settle(Field& field, const std::string& key, const support::Payment& payment,
            const std::string& client) {
  std::size_t turn = 0;
  const bool settled = support::eventually(
      [&] {
        Post& post = field.post(turn++ % field.posts());
        support::Client connection(post.to_service.port(), 5s);
        Call call{client, key, payment, post.name, 0, 0, std::nullopt, ""};
        const auto seen = pay_once(connection, payment_request(field.tenant, key, payment),
                                   std::move(call), field.recorder);
        return seen && seen->decided();
      },
      30s, 50ms);
  if (!settled) throw std::runtime_error("a key was not settled: " + key);
}

}  // namespace fault

// What can go wrong, by name: each nemesis does its harm to a field under load, lasts a moment, and
// mends what it did. It throws std::runtime_error when the harm did not come about, so that no run
// passes because nothing happened.
//
// From the test's main thread. What a nemesis picks by chance comes from the run's seed.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "fault/field.hpp"

namespace fault {

struct Nemesis {
  std::string name;
  std::function<void(Field&, Random&)> strike;
};

std::vector<Nemesis> process_nemeses();  // kill, stop, restart, wrong clocks
std::vector<Nemesis> network_nemeses();  // on both roads
std::vector<Nemesis> session_nemeses();  // sessions end, locks are held, snapshots stay open
std::vector<Nemesis> server_nemeses();   // PostgreSQL crashes, is full, read-only, out of room
std::vector<Nemesis> all_nemeses();

// One nemesis, written down, and the proof that it is over: every instance takes a fresh payment.
void visit(Field& field, const Nemesis& nemesis, Random& random);

// For the implementation of nemeses: how long harm lasts.
void last(Random& random, milliseconds at_least, milliseconds at_most);
void settle(Field& field, const std::string& key, const support::Payment& payment,
            const std::string& client);

}  // namespace fault

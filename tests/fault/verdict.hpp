// How a fault run ends: customers come to rest, answers are asked for once more everywhere, the
// books are read, and the checker judges. A history with a violation is kept below .data/faults/.
// From the test's main thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fault/checker.hpp"
#include "fault/customers.hpp"

namespace fault {

struct Verdict {
  History history;
  std::vector<Violation> violations;

  bool has(const std::string& rule) const;
  std::string text() const;  // counts, then violations
};

// Sends up to `keys_max` of the keys that were decided once more, each to the next instance.
void sweep(Field& field, support::Database& database, std::size_t keys_max);

Verdict judge(Field& field);
Verdict judge(Field& field, support::Database& database);  // the books are elsewhere by now
// Writes the history down and says where it is and how to judge it again.
std::string keep(const History& history);

// FAULT_SEED and the like: how scripts/faults talks to the tests.
std::uint32_t number_from_environment(const char* name, std::uint32_t otherwise);

}  // namespace fault

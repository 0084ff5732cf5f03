// What this process takes from the machine: memory, processor time, threads, descriptors.
//
// Read from the kernel when it is asked for, so it costs nothing in between. Deliberately not here:
// names of metrics, limits.
//
// Threads: any. Errors: what cannot be read is 0.
// Source: proc(5), getrlimit(2), getrusage(2).
#pragma once

#include <cstdint>
#include <string>

namespace oncepay::runtime {

struct ProcessUse {
  std::uint64_t resident_bytes = 0;
  std::uint64_t virtual_bytes = 0;
  std::uint64_t threads = 0;
  std::uint64_t open_descriptors = 0;
  std::uint64_t descriptors_max = 0;
  double processor_seconds = 0;   // of all threads, in user and kernel mode
  double started_at_seconds = 0;  // since 1970
};

ProcessUse read_process_use();

// "host/process": tells this process from all others that share a database. At most 40 characters.
std::string process_name();

}  // namespace oncepay::runtime

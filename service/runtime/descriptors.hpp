// How many file descriptors the process may open.
//
// Threads: any. Source: getrlimit(2).
#pragma once

#include <cstddef>

namespace oncepay::runtime {

// Raises the soft limit to `wanted`, as far as the hard limit allows. Returns what is allowed now.
std::size_t allow_descriptors(std::size_t wanted);

}  // namespace oncepay::runtime

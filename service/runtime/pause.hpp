// A sleep that a stop request ends at once.
//
// Threads: any.
#pragma once

#include <chrono>
#include <stop_token>

namespace oncepay::runtime {

void pause(std::chrono::milliseconds time, const std::stop_token& stop);

}  // namespace oncepay::runtime

// What the engine counts. Names follow Prometheus conventions: base units, `_total` for counters.
#pragma once

#include <string>

#include "runtime/metrics.hpp"

namespace oncepay::once {

// One step of a batch, by its name: those of the engine, and those that an executor tells apart
// within its own.
runtime::Histogram batch_step(runtime::Metrics& metrics, const std::string& step);

struct EngineMetrics {
  explicit EngineMetrics(runtime::Metrics& metrics);

  runtime::Counter batches;
  runtime::Counter operations;
  runtime::Counter retried;       // batches run again after a serialization failure or a deadlock
  runtime::Counter in_doubt;      // COMMITs whose outcome had to be learnt from the keys
  runtime::Counter one_by_one;    // batches that were taken apart
  runtime::Counter aside;         // batches that waited too long for a lock
  runtime::Counter failed;        // operations that ended with a fault of ours
  runtime::Histogram batch_size;  // operations
  runtime::Histogram queue_wait_seconds;
  runtime::Histogram claim_seconds;
  runtime::Histogram execute_seconds;
  runtime::Histogram complete_seconds;
  runtime::Histogram commit_seconds;
  runtime::Gauge lanes;
  runtime::Gauge lanes_connected;
  runtime::Counter connects_failed;
  runtime::Gauge queue_operations;
  runtime::Gauge queue_operations_max;
  runtime::Gauge in_flight;
};

}  // namespace oncepay::once

#include "once/engine_metrics.hpp"

namespace oncepay::once {

namespace {

const std::vector<double> seconds_bounds{0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03,
                                         0.1,    0.3,    1.0,   3.0,   10.0};
const std::vector<double> size_bounds{1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024};

}  // namespace

runtime::Histogram batch_step(runtime::Metrics& metrics, const std::string& step) {
  return metrics.histogram("oncepay_batch_step_seconds", "Time of one step of a batch",
                           seconds_bounds, {{"step", step}});
}

EngineMetrics::EngineMetrics(runtime::Metrics& metrics)
    : batches(metrics.counter("oncepay_batches_total", "Batches committed")),
      operations(metrics.counter("oncepay_operations_total", "Operations in committed batches")),
      retried(metrics.counter("oncepay_batches_retried_total",
                              "Batches run again after a serialization failure or deadlock")),
      in_doubt(metrics.counter("oncepay_commits_in_doubt_total",
                               "COMMITs whose outcome was learnt from the keys")),
      one_by_one(metrics.counter("oncepay_batches_one_by_one_total",
                                 "Batches whose operations were run alone after an error")),
      aside(metrics.counter("oncepay_batches_aside_total",
                            "Batches that waited too long for a lock and left their lane")),
      failed(metrics.counter("oncepay_operations_failed_total",
                             "Operations rolled back because of a fault of ours")),
      batch_size(
          metrics.histogram("oncepay_batch_operations", "Operations in a batch", size_bounds)),
      queue_wait_seconds(metrics.histogram("oncepay_queue_wait_seconds",
                                           "Time that an operation waited for its lane",
                                           seconds_bounds)),
      claim_seconds(batch_step(metrics, "claim")),
      execute_seconds(batch_step(metrics, "execute")),
      complete_seconds(batch_step(metrics, "complete")),
      commit_seconds(batch_step(metrics, "commit")),
      lanes(metrics.gauge("oncepay_lanes", "Lanes that run batches")),
      lanes_connected(metrics.gauge("oncepay_lanes_connected", "Lanes with a live connection")),
      connects_failed(metrics.counter("oncepay_lane_connects_failed_total",
                                      "Attempts of a lane to connect that failed")),
      queue_operations(metrics.gauge("oncepay_queue_operations", "Operations waiting for a lane")),
      queue_operations_max(metrics.gauge("oncepay_queue_operations_max",
                                         "Operations that may wait for a lane at most")),
      in_flight(metrics.gauge("oncepay_operations_in_flight", "Operations not yet answered")) {}

}  // namespace oncepay::once

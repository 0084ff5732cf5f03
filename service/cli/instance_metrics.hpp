// What an instance tells of itself beside its work: build, process, connections for reads.
//
// Deliberately not here: what modules count by themselves. Everything is read when metrics are
// rendered. Names of the process's metrics are those of Prometheus client libraries.
//
// Threads: called once each; a pool outlives the last rendering of `metrics`.
// Source: Prometheus "Writing client libraries", section "Standard and runtime collectors".
#pragma once

#include <string>

#include "db/pool.hpp"
#include "runtime/metrics.hpp"

namespace oncepay::cli {

void export_process(runtime::Metrics& metrics);
void export_pool(const std::string& name, const db::Pool& pool, runtime::Metrics& metrics);

}  // namespace oncepay::cli

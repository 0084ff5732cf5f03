// The edge's counters as metrics.
//
// Deliberately not here: counting (edge/counters.hpp). The counters are read when metrics are
// rendered; label values are fixed sets.
//
// Threads: constructed once; `counters` outlives the last rendering of `metrics`.
#pragma once

#include "http/edge/counters.hpp"
#include "runtime/metrics.hpp"

namespace oncepay::http {

void export_edge_counters(const edge::EdgeCounters& counters, runtime::Metrics& metrics);

}  // namespace oncepay::http

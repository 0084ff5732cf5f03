// What the edge counts. Somebody else exports it.
//
// Deliberately not here: names and formats of metrics, histograms of the time a request takes.
//
// Threads: every member may be read from any thread at any time; each is true by itself, together
// they are no snapshot. All only grow, but for the two called *_now.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace oncepay::http::edge {

using Counter = std::atomic<std::uint64_t>;

inline void add(Counter& counter, std::uint64_t amount = 1) {
  counter.fetch_add(amount, std::memory_order_relaxed);
}

struct EdgeCounters {
  // Connections.
  Counter connections_now = 0;
  Counter connections_accepted = 0;
  Counter connections_refused_limit = 0;        // connections_max, and none was idle
  Counter connections_refused_address = 0;      // connections_per_address_max
  Counter connections_refused_descriptors = 0;  // the process has no file descriptor left
  Counter connections_evicted_idle = 0;         // made room for a new one at connections_max
  Counter tls_handshakes_failed = 0;

  // Deadlines that passed; for requests see also refusals_by_status[408].
  Counter deadlines_handshake = 0;
  Counter deadlines_idle = 0;
  Counter deadlines_request = 0;
  Counter deadlines_write = 0;

  // Requests. A request counts when it is whole and goes to the handler.
  Counter requests = 0;
  Counter requests_waiting_now = 0;    // for a worker thread
  Counter requests_overloaded = 0;     // refused: waiting_requests_max or buffered_bytes_max
  Counter answers_unsendable = 0;      // a header or size that cannot be sent: 500 instead
  Counter answers_missing = 0;         // the handler dropped its Reply or threw: 500 instead
  Counter answers_without_client = 0;  // the connection was gone

  Counter bytes_in = 0;
  Counter bytes_out = 0;
  Counter bytes_refused = 0;  // of bytes_in: of requests that were refused before they were whole

  // Answers that the edge gave by itself, by status.
  std::array<Counter, 600> refusals_by_status{};
};

}  // namespace oncepay::http::edge

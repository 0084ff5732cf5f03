#include "http/edge_metrics.hpp"

#include <string>
#include <utility>
#include <vector>

namespace oncepay::http {
namespace {

// A counter of the edge and the metric that follows it.
struct Followed {
  const edge::Counter* source;
  runtime::Counter metric;
};

struct FollowedNow {
  const edge::Counter* source;
  runtime::Gauge metric;
};

std::vector<Followed> followed_counters(const edge::EdgeCounters& counters,
                                        runtime::Metrics& metrics) {
  std::vector<Followed> followed;
  const auto follow = [&](const edge::Counter& source, const std::string& name,
                          const std::string& help, const runtime::Labels& labels = {}) {
    followed.push_back({&source, metrics.counter("oncepay_edge_" + name, help, labels)});
  };
  follow(counters.connections_accepted, "connections_accepted_total", "Connections accepted");
  const std::string refused = "connections_refused_total";
  const std::string refused_help = "Connections refused, by the limit that was reached";
  follow(counters.connections_refused_limit, refused, refused_help, {{"limit", "connections"}});
  follow(counters.connections_refused_address, refused, refused_help, {{"limit", "address"}});
  follow(counters.connections_refused_descriptors, refused, refused_help,
         {{"limit", "descriptors"}});
  follow(counters.connections_evicted_idle, "connections_evicted_total",
         "Idle connections that made room for new ones");
  follow(counters.tls_handshakes_failed, "tls_handshakes_failed_total",
         "TLS handshakes that failed");
  const std::string deadlines = "deadlines_passed_total";
  const std::string deadlines_help = "Connections whose client was too slow, by deadline";
  follow(counters.deadlines_handshake, deadlines, deadlines_help, {{"deadline", "handshake"}});
  follow(counters.deadlines_idle, deadlines, deadlines_help, {{"deadline", "idle"}});
  follow(counters.deadlines_request, deadlines, deadlines_help, {{"deadline", "request"}});
  follow(counters.deadlines_write, deadlines, deadlines_help, {{"deadline", "write"}});
  follow(counters.requests, "requests_total", "Whole requests handed to the routes");
  follow(counters.requests_overloaded, "requests_overloaded_total",
         "Requests refused because too many wait or memory is short");
  follow(counters.answers_without_client, "answers_without_client_total",
         "Answers whose connection was gone");
  const std::string replaced = "answers_replaced_total";
  const std::string replaced_help = "Answers of the routes that the edge replaced by 500";
  follow(counters.answers_unsendable, replaced, replaced_help, {{"why", "unsendable"}});
  follow(counters.answers_missing, replaced, replaced_help, {{"why", "missing"}});
  follow(counters.bytes_in, "received_bytes_total", "Bytes received");
  follow(counters.bytes_out, "sent_bytes_total", "Bytes sent");
  follow(counters.bytes_refused, "refused_bytes_total",
         "Bytes of requests that were refused before they were whole");
  for (const int status : {400, 408, 413, 417, 429, 431, 500, 501, 503, 505}) {
    follow(counters.refusals_by_status[static_cast<std::size_t>(status)], "refusals_total",
           "Answers that the edge gave by itself, by status", {{"status", std::to_string(status)}});
  }
  return followed;
}

}  // namespace

void export_edge_counters(const edge::EdgeCounters& counters, runtime::Metrics& metrics) {
  auto followed = followed_counters(counters, metrics);
  std::vector<FollowedNow> now{
      {&counters.connections_now,
       metrics.gauge("oncepay_edge_connections", "Connections that are open")},
      {&counters.requests_waiting_now,
       metrics.gauge("oncepay_edge_requests_waiting", "Requests that wait for a thread")}};
  metrics.before_rendering([followed = std::move(followed), now = std::move(now)]() mutable {
    for (auto& [source, metric] : followed) {
      metric.add(static_cast<double>(source->load(std::memory_order_relaxed)) - metric.value());
    }
    for (auto& [source, metric] : now) {
      metric.set(static_cast<double>(source->load(std::memory_order_relaxed)));
    }
  });
}

}  // namespace oncepay::http

#include "http/edge/config.hpp"

#include <fmt/format.h>

namespace oncepay::http::edge {

Response refuse_in_plain_text(int status, std::string_view reason, std::string_view detail) {
  Response response;
  response.status = status;
  response.set("Content-Type", "text/plain; charset=utf-8");
  response.body = fmt::format("{}: {}\n", reason, detail);
  return response;
}

std::optional<std::string> fault_of(const EdgeConfig& config) {
  const auto positive = [](std::string_view name, auto value) -> std::optional<std::string> {
    if (value > decltype(value){}) return std::nullopt;
    return fmt::format("{} must be more than zero", name);
  };
  for (const auto& fault : {
           positive("head_bytes_max", config.head_bytes_max),
           positive("fields_max", config.fields_max),
           positive("connections_max", config.connections_max),
           positive("connections_per_address_max", config.connections_per_address_max),
           positive("waiting_requests_max", config.waiting_requests_max),
           positive("worker_threads", config.worker_threads),
           positive("request_deadline", config.request_deadline),
           positive("idle_deadline", config.idle_deadline),
           positive("write_deadline", config.write_deadline),
           positive("handshake_deadline", config.handshake_deadline),
           positive("linger_deadline", config.linger_deadline),
       }) {
    if (fault) return fault;
  }
  // A refusal has to fit, or nothing could be said at all.
  if (config.output_bytes_max < 4096) return "output_bytes_max must be 4096 bytes or more";
  if (config.buffered_bytes_max < config.head_bytes_max + config.body_bytes_max) {
    return "buffered_bytes_max must hold at least one request";
  }
  if (!config.refuse) return "refuse must be a function";
  return std::nullopt;
}

FramingLimits framing_limits(const EdgeConfig& config) {
  FramingLimits limits;
  limits.head_bytes_max = config.head_bytes_max;
  limits.fields_max = config.fields_max;
  limits.body_bytes_max = config.body_bytes_max;
  return limits;
}

}  // namespace oncepay::http::edge

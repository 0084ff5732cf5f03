// Every limit of the edge, with its unit and its default; and what memory they allow together.
//
// Deliberately not here: flags and environment (cli), the look of error documents
// (EdgeConfig::refuse).
//
// Threads: a plain value; the Server keeps its own copy.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "http/edge/framing.hpp"
#include "http/edge/listen.hpp"
#include "http/message.hpp"

namespace oncepay::http::edge {

// PEM files: the certificate with its chain, and its private key.
struct TlsFiles {
  std::string certificate;
  std::string key;
};

// Turns a refusal of the edge into a document. Called from the edge's threads, often: quick, no
// I/O, no throwing. The edge adds Retry-After, Content-Length, Date and Connection.
using Refuse =
    std::function<Response(int status, std::string_view reason, std::string_view detail)>;

// text/plain, for tests and for who has nothing better.
[[nodiscard]] Response refuse_in_plain_text(int status, std::string_view reason,
                                            std::string_view detail);

struct EdgeConfig {
  ListenAddress listen;
  std::optional<TlsFiles> tls;

  // One request. Over them: 431, 431, 413.
  std::size_t head_bytes_max = 16 * 1024;
  std::size_t fields_max = 100;
  std::size_t body_bytes_max = 64 * 1024;

  // All clients. At connections_max the connection that has been idle longest makes room; when none
  // is idle, the new one gets 503. An address is an IPv4 address or an IPv6 /64; Unix sockets have
  // none.
  std::size_t connections_max = 10'000;
  // A connection this young may still send its first request: it does not make room.
  std::chrono::milliseconds idle_protection{1'000};
  std::size_t connections_per_address_max = 8'000;

  // Requests that wait for a worker thread. Beyond it: 503 with Retry-After, at once. A request
  // that a handler has taken waits in the handler, which has bounds of its own, and at most one a
  // connection.
  std::size_t waiting_requests_max = 4'096;
  std::size_t worker_threads = 4;

  // From the first byte of a request to its last one; nothing a client sends extends it. Over it:
  // 408.
  std::chrono::milliseconds request_deadline{10'000};
  // Between requests, and from the connection to its first byte.
  std::chrono::milliseconds idle_deadline{60'000};
  // From the moment an answer could not be sent in full to its last byte; nothing extends it.
  std::chrono::milliseconds write_deadline{30'000};
  std::chrono::milliseconds handshake_deadline{10'000};  // of TLS
  // A connection that the edge closes is read on for a while and what comes is dropped: closing
  // with unread bytes would destroy the answer on its way (RFC 9112 section 9.6).
  std::chrono::milliseconds linger_deadline{2'000};
  std::size_t linger_bytes_max = 4 * 1024 * 1024;

  // One answer, head and body: what can be queued for a slow reader, since the next request of a
  // connection is taken up only when the answer before it has left. A larger answer becomes 500.
  std::size_t output_bytes_max = 1024 * 1024;

  // All connections together: requests in the making, requests not yet answered, answers not yet
  // sent. Beyond it whoever asks for more is refused (503) or closed. With it, memory stays under
  // buffered_bytes_max + connections_max * 2 KiB (+ about 40 KiB each with TLS).
  std::size_t buffered_bytes_max = 256 * 1024 * 1024;

  std::chrono::seconds retry_after{1};  // what refusals that may be retried say

  Refuse refuse = refuse_in_plain_text;
};

// The first setting that cannot work, as a sentence; nothing if all can.
[[nodiscard]] std::optional<std::string> fault_of(const EdgeConfig& config);

[[nodiscard]] FramingLimits framing_limits(const EdgeConfig& config);

}  // namespace oncepay::http::edge

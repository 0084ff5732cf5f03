// What a complete request head says about the bytes behind it: how long the body is, whether the
// sender waits for a word, whether the connection goes on. Every doubt is a refusal, never a guess.
//
// Deliberately not here: bytes and lines (framing.hpp), what routes make of the fields.
//
// Threads: pure functions. Source: RFC 9112 sections 3.2 (Host), 6 (body length), 9.3
// (persistence); RFC 9110 section 10.1.1 (Expect).
#pragma once

#include <cstddef>
#include <variant>
#include <vector>

#include "http/edge/grammar.hpp"
#include "http/edge/refusal.hpp"
#include "http/message.hpp"

namespace oncepay::http::edge {

enum class BodyKind { none, sized, chunked };

struct HeadMeaning {
  BodyKind body = BodyKind::none;
  std::size_t body_bytes = 0;  // of a sized body, > 0
  bool continue_expected = false;
  bool keep_alive = true;
};

// The order of the checks is the order of the refusals: Host, the transfer coding, the length, the
// size, the expectation. A body over `body_bytes_max` is refused here, before any of it is read.
[[nodiscard]] std::variant<HeadMeaning, Refusal> read_head(Version version,
                                                           const std::vector<Header>& headers,
                                                           std::size_t body_bytes_max);

}  // namespace oncepay::http::edge

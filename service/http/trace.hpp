// Which trace a request belongs to, taken over from its caller and written to the log.
//
// A caller that traces sends `traceparent`; its ids stand in every line that is logged for the
// request, so that the line is found from the trace and the trace from the line. A field that is
// malformed, or was sent twice, counts as absent and refuses nothing. Deliberately not here: spans
// of our own and `tracestate`, since no call goes on from here.
//
// Threads: pure functions.
// Source: W3C Trace Context (Recommendation, 2021-11-23), section 3.2 "Traceparent Header".
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "http/message.hpp"

namespace oncepay::http {

struct TraceParent {
  std::string trace_id;   // 32 lower-case hexadecimal digits, not all 0
  std::string parent_id;  // 16 of them: the caller's span
};

std::optional<TraceParent> parse_trace_parent(std::string_view field);

// Nothing unless the field was sent exactly once and is well-formed.
std::optional<TraceParent> trace_parent_of(const Request& request);

}  // namespace oncepay::http

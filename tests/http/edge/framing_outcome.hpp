// What the framing makes of a byte stream, as one line of text: easy to write in a table, easy to
// compare between two ways of cutting the same bytes.
//
// Deliberately not here: checks. Threads: pure functions.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "http/edge/framing.hpp"

namespace oncepay::http::edge::testing {

inline std::string describe(const Request& request, bool keep_alive) {
  std::string text = request.method + " " + request.target + " [" + request.body + "]";
  return text + (keep_alive ? " keep" : " close");
}

inline std::string describe_fields(const Request& request) {
  std::string text;
  for (const Header& field : request.headers) text += field.name + "=" + field.value + "|";
  return text;
}

// Feeds the bytes in cuts of next_cut() bytes (0 = all that is left). One entry a request,
// separated by " + ", and then how it ended: "400 reason", "idle", "head ..." or "body ..." for a
// begun request.
inline std::string outcome_of(std::string_view bytes, const std::function<std::size_t()>& next_cut,
                              bool with_fields = false, const FramingLimits& limits = {}) {
  Framing framing(limits);
  std::string text;
  std::string_view offered;  // this cut's bytes, as far as they are not taken
  std::string_view rest = bytes;
  while (true) {
    if (offered.empty()) {
      if (rest.empty()) break;
      const std::size_t cut = next_cut();
      offered = rest.substr(0, cut == 0 ? rest.size() : cut);
      rest.remove_prefix(offered.size());
    }
    offered.remove_prefix(framing.feed(offered));
    if (framing.state() == Framing::State::refused) {
      return text + std::to_string(framing.refusal().status) + " " +
             std::string(framing.refusal().reason);
    }
    if (framing.state() == Framing::State::complete) {
      const bool keep_alive = framing.keep_alive();
      const Request request = framing.take();
      text += describe(request, keep_alive);
      if (with_fields) text += " {" + describe_fields(request) + "}";
      text += " + ";
    }
  }
  switch (framing.state()) {
    case Framing::State::idle:
      return text + "idle";
    case Framing::State::head:
      return text + "head ...";
    default:
      return text + (framing.continue_due() ? "body due" : "body ...");
  }
}

}  // namespace oncepay::http::edge::testing

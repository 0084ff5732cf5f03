#include "http/trace.hpp"

#include <doctest/doctest.h>

using namespace oncepay::http;

namespace {

const std::string trace_id = "4bf92f3577b34da6a3ce929d0e0e4736";
const std::string parent_id = "00f067aa0ba902b7";
const std::string well_formed = "00-" + trace_id + "-" + parent_id + "-01";

}  // namespace

TEST_CASE("a traceparent gives the ids of trace and parent, whatever its flags") {
  for (const std::string flags : {"00", "01", "ff"}) {
    const auto read = parse_trace_parent("00-" + trace_id + "-" + parent_id + "-" + flags);
    REQUIRE(read.has_value());
    CHECK(read->trace_id == trace_id);
    CHECK(read->parent_id == parent_id);
  }
}

TEST_CASE("a traceparent of a later version is read as far as this one goes") {
  const std::string later = "cc" + well_formed.substr(2);
  CHECK(parse_trace_parent(later).has_value());
  CHECK(parse_trace_parent(later + "-what-comes-then").has_value());
  CHECK(parse_trace_parent(later + "-").has_value());
  CHECK_FALSE(parse_trace_parent(later + ".what").has_value());
  CHECK_FALSE(parse_trace_parent(later + "1").has_value());
}

TEST_CASE("a traceparent that is malformed counts as absent") {
  const std::string zeros(32, '0');
  const std::string malformed[] = {
      "",
      "00",
      well_formed.substr(0, well_formed.size() - 1),
      well_formed + "-more",
      well_formed + " ",
      " " + well_formed,
      "ff" + well_formed.substr(2),
      "0g" + well_formed.substr(2),
      "00_" + well_formed.substr(3),
      "00-" + zeros + "-" + parent_id + "-01",
      "00-" + trace_id + "-" + zeros.substr(0, 16) + "-01",
      "00-" + trace_id + "-" + parent_id + "-0G",
      "00-4BF92F3577B34DA6A3CE929D0E0E4736-" + parent_id + "-01",
      "00-" + trace_id.substr(1) + "-0" + parent_id + "-01",
      "00-" + trace_id + "." + parent_id + "-01",
      std::string(10'000, '0'),
  };
  for (const std::string& field : malformed) {
    CAPTURE(field);
    CHECK_FALSE(parse_trace_parent(field).has_value());
  }
}

TEST_CASE("a traceparent that was sent twice counts as absent, and its name has any case") {
  Request request;
  CHECK_FALSE(trace_parent_of(request).has_value());
  request.headers = {{"TraceParent", well_formed}};
  CHECK(trace_parent_of(request).has_value());
  request.headers.push_back({"traceparent", well_formed});
  CHECK_FALSE(trace_parent_of(request).has_value());
}

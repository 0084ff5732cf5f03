// libFuzzer target: whatever the bytes, the framing neither crashes nor depends on how they are
// cut.
//
// Build: clang++ -std=c++20 -fsanitize=fuzzer,address,undefined, with the sources of
// service/http/edge that framing.hpp needs; seeds are in corpus/framing. The first byte seeds the
// cuts, the rest is the stream.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "http/edge/framing_outcome.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using oncepay::http::edge::testing::outcome_of;
  if (size == 0) return 0;
  // Small limits, so that a fuzzer's short inputs reach them.
  oncepay::http::edge::FramingLimits limits;
  limits.head_bytes_max = 512;
  limits.fields_max = 8;
  limits.body_bytes_max = 256;
  limits.chunk_line_bytes_max = 32;
  limits.chunk_extension_bytes_max = 48;

  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  std::uint32_t random = data[0] + 1U;
  const auto next_cut = [&random]() -> std::size_t {
    random = random * 1664525U + 1013904223U;
    return 1 + (random >> 24) % 13;
  };
  const std::string whole = outcome_of(
      bytes, [] { return 0; }, true, limits);
  const std::string cut = outcome_of(bytes, next_cut, true, limits);
  const std::string dribbled = outcome_of(
      bytes, [] { return 1; }, true, limits);
  if (whole != cut || whole != dribbled) {
    std::fprintf(stderr, "whole: %s\ncut: %s\ndribbled: %s\n", whole.c_str(), cut.c_str(),
                 dribbled.c_str());
    std::abort();
  }
  return 0;
}

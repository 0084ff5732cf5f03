// The fingerprint: tells whether two requests under one key are the same request.
//
// Version 1 is SHA-256 over method, path and the canonical JSON of the body, each with its length
// in front. The version is stored with the digest: a later release computes the version it finds.
// Making the canonical body is the caller's part (http/canonical_json.hpp).
//
// Threads: pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace oncepay::once {

inline constexpr int fingerprint_version_current = 1;

// What a fingerprint is made of.
struct RequestIdentity {
  std::string method;
  std::string path;
  std::string canonical_body;
};

// 32 bytes; nothing for a version that this release does not know.
std::optional<std::string> fingerprint_of(const RequestIdentity& identity, int version);

}  // namespace oncepay::once

#include "once/fingerprint.hpp"

#include "runtime/digest.hpp"

namespace oncepay::once {

namespace {

// The length in front keeps ("ab", "c") and ("a", "bc") apart.
void append_part(std::string& text, std::string_view part) {
  text += std::to_string(part.size());
  text += ':';
  text += part;
}

std::string version_1(const RequestIdentity& identity) {
  std::string text;
  text.reserve(identity.method.size() + identity.path.size() + identity.canonical_body.size() + 32);
  append_part(text, identity.method);
  append_part(text, identity.path);
  append_part(text, identity.canonical_body);
  return runtime::sha256(text);
}

}  // namespace

std::optional<std::string> fingerprint_of(const RequestIdentity& identity, int version) {
  if (version == 1) return version_1(identity);
  return std::nullopt;
}

}  // namespace oncepay::once

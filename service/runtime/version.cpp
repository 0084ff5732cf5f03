#include "runtime/version.hpp"

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <spdlog/version.h>

#include "version_info.hpp"

namespace oncepay::runtime {

std::string_view release_version() { return version_info::version; }
std::string_view release_commit() { return version_info::commit; }
std::string_view build_type() { return version_info::build_type; }

std::vector<LibraryVersion> runtime_libraries() {
  return {
      {"openssl", OpenSSL_version(OPENSSL_VERSION_STRING)},
      {"fmt",
       fmt::format("{}.{}.{}", FMT_VERSION / 10000, FMT_VERSION / 100 % 100, FMT_VERSION % 100)},
      {"spdlog", fmt::format("{}.{}.{}", SPDLOG_VER_MAJOR, SPDLOG_VER_MINOR, SPDLOG_VER_PATCH)},
  };
}

}  // namespace oncepay::runtime

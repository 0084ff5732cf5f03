// Which build this is, and which libraries it runs with.
//
// Deliberately not here: the libraries of other modules (each tells its own, see db/versions.hpp)
// and the schema's version (db/migrations.hpp).
//
// Threads: any; the values never change within a process.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace oncepay::runtime {

struct LibraryVersion {
  std::string name;
  std::string version;  // of the library in use, or of its header where it cannot be asked
};

std::string_view release_version();  // "0.1.0"
std::string_view release_commit();   // abbreviated hash, or "unknown" outside of a checkout
std::string_view build_type();       // "Release", "Debug", or the sanitizers of the build

std::vector<LibraryVersion> runtime_libraries();

}  // namespace oncepay::runtime

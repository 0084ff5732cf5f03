// A disk that can be full: a file system of its own in memory, in a mount namespace that ends with
// the test, so that nothing is left mounted. PostgreSQL's tables move there; its log does not.
// Needs root. From the test's main thread, before the server starts: children inherit the
// namespace.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "support/database.hpp"

namespace fault {

class SmallDisk {
 public:
  // Null where mounting is not allowed.
  static std::unique_ptr<SmallDisk> mounted();
  ~SmallDisk();
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  // The database's tables; nobody may be connected to it.
  void carry(support::Database& database, const std::string& cluster_url);
  void fill();   // no page is left
  void empty();  // there is room again

 private:
  explicit SmallDisk(std::filesystem::path folder) : folder_(std::move(folder)) {}
  void resize(const std::string& size) const;

  std::filesystem::path folder_;
};

}  // namespace fault

// The real pgbouncer between the service and a database, with few sessions of the server, so that
// transactions of many clients share them. Started from .deps/pgbouncer, where scripts/setup has
// unpacked it. Ended by pid. From the test's main thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "support/child.hpp"
#include "support/database.hpp"

namespace support {

class Pooler {
 public:
  // `mode` is session, transaction or statement; `settings` are lines of pgbouncer.ini; `role` is
  // who the server sees.
  Pooler(const Database& database, const std::string& mode, std::vector<std::string> settings = {},
         const std::string& role = runtime_role);
  Pooler(const Pooler&) = delete;
  Pooler& operator=(const Pooler&) = delete;

  const std::string& url() const { return url_; }
  std::string log() const { return child_->err() + child_->out(); }
  void kill_hard();
  void start();  // again, on the same port

 private:
  std::string ini_;
  std::string url_;
  std::uint16_t port_ = 0;
  std::unique_ptr<Child> child_;
};

}  // namespace support

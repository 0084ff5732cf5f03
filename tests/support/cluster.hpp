// A PostgreSQL server of a test's own, for tests that stop it, crash it or fill it up. Durable, as
// production is: fsync is on. Removed with its data at the end. From the test's main thread.
#pragma once

#include <string>
#include <vector>

namespace support {

class Cluster {
 public:
  // `settings` such as "max_connections=20".
  explicit Cluster(std::vector<std::string> settings = {});
  // A streaming replica of `primary`; asynchronous until the primary is told otherwise.
  Cluster(const Cluster& primary, std::vector<std::string> settings);
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;
  ~Cluster();

  const std::string& url() const { return url_; }
  void start();         // again, on the same port
  void stop();          // sessions are ended, everything is written
  void stop_at_once();  // as a crash would: recovery from the log at the next start
  void promote();       // a replica becomes a primary

 private:
  std::string script(std::vector<std::string> arguments) const;
  void make_folder();

  std::vector<std::string> settings_;
  std::string primary_url_;  // of a replica
  std::string parent_;
  std::string folder_;
  std::string url_;
};

}  // namespace support

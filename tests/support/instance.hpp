// A running `oncepay serve`, the real binary on a real socket, with its log in a file. The port is
// learnt from the log's line `{"msg":"listening","address":"127.0.0.1:PORT",…}`, so that instances
// never fight over one. Ended by pid when the object ends, also when the test throws.
// Start and end from the test's main thread; ports and pids may be read from any.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "support/child.hpp"
#include "support/client.hpp"
#include "support/database.hpp"

namespace support {

class Instance {
 public:
  using Flags = std::vector<std::string>;

  // As the runtime role. Returns when /readyz answers 200. Throws with the log when that does not
  // happen.
  explicit Instance(const Database& database, Flags flags = {}, Environment environment = {});
  // Reaches its database some other way, say through a `Wire`.
  Instance(std::string database_url, Flags flags, Environment environment = {});

  std::uint16_t port() const { return port_; }
  pid_t pid() const { return child_->pid(); }
  bool alive() { return child_->alive(); }
  bool ready() const;       // asks /readyz
  std::string log() const;  // everything since the first start

  void kill_hard();    // SIGKILL, and the process is gone on return
  void ask_to_stop();  // SIGTERM
  std::optional<int> wait_for_exit(std::chrono::milliseconds budget = 25s);
  std::optional<int> terminate();  // both; the exit code, or nothing when it did not end
  void pause();                    // SIGSTOP
  void resume();                   // SIGCONT
  void restart();                  // after its end: the same flags, a new port, ready on return
  void start();                    // the same without waiting until it is ready

 private:
  void wait_for_port();
  void wait_until_ready();

  std::string database_url_;
  Flags flags_;
  Environment environment_;
  std::string earlier_log_;
  std::uint16_t port_ = 0;
  std::unique_ptr<Child> child_;
};

}  // namespace support

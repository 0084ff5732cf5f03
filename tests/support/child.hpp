// Child processes of a test: started with their output in files, ended by pid, never left behind.
// The environment is the test's own without any ONCEPAY_ variable, plus what the test adds, so that
// a developer's settings change no test. To be called from the test's main thread: the kernel ties
// a child's death signal to the thread that made it.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support/waiting.hpp"

namespace support {

using Environment = std::vector<std::pair<std::string, std::string>>;

struct Command {
  std::vector<std::string> arguments;  // the program first
  Environment environment;
};

struct Finished {
  int exit_code = -1;  // 128 + signal when a signal ended it
  std::string out;
  std::string err;

  std::string all() const { return out + err; }
};

// A folder that lives as long as the test process, for logs and outputs.
std::filesystem::path scratch_file(const std::string& stem);
std::string contents_of(const std::filesystem::path& file);

class Child {
 public:
  Child(const Command& command, std::filesystem::path out, std::filesystem::path err);
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  Child(Child&& other) noexcept;
  Child& operator=(Child&&) = delete;
  ~Child();  // SIGKILL if it still runs

  pid_t pid() const { return pid_; }
  bool alive();
  void signal(int number) const;
  // The exit code, or nothing when the budget was spent first.
  std::optional<int> wait_for(std::chrono::milliseconds budget);
  void kill_hard();

  std::string out() const { return contents_of(out_); }
  std::string err() const { return contents_of(err_); }

 private:
  std::filesystem::path out_;
  std::filesystem::path err_;
  pid_t pid_ = -1;
  std::optional<int> exit_code_;
};

// Starts a command with its output in fresh scratch files.
Child start(const Command& command);

// Runs a command to its end. Throws when it takes longer than the budget.
Finished run(const Command& command, std::chrono::milliseconds budget = 60s);

// The value of an environment variable that the test runner must set. Throws with its name.
std::string required_environment(const char* name);

// `oncepay <arguments>`, the real binary.
Command oncepay(std::vector<std::string> arguments, Environment environment = {});

}  // namespace support

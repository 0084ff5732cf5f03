#include "support/child.hpp"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string_view>
#include <system_error>

extern "C" char** environ;

namespace support {
namespace {

class ScratchFolder {
 public:
  ScratchFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "oncepay-tests-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) {
      throw std::system_error(errno, std::generic_category(), "mkdtemp");
    }
    path_ = name;
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder() {
    std::error_code ignored;  // a leftover folder in /tmp harms nobody
    std::filesystem::remove_all(path_, ignored);
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

std::vector<std::string> environment_for(const Environment& added) {
  std::vector<std::string> out;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const std::string_view name = text.substr(0, text.find('='));
    bool replaced = name.starts_with("ONCEPAY_");
    for (const auto& [key, value] : added) {
      replaced = replaced || name == key;
    }
    if (!replaced) {
      out.emplace_back(text);
    }
  }
  for (const auto& [key, value] : added) {
    out.push_back(key + "=" + value);
  }
  return out;
}

std::vector<char*> pointers_to(std::vector<std::string>& strings) {
  std::vector<char*> out;
  out.reserve(strings.size() + 1);
  for (std::string& text : strings) {
    out.push_back(text.data());
  }
  out.push_back(nullptr);
  return out;
}

int exit_code_of(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// Only async-signal-safe calls: other threads of the test may hold locks at the time of the fork.
[[noreturn]] void become(char** arguments, char** environment, const char* out, const char* err) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  // A parent that ignores SIGPIPE hands that down and would hide a service that does not.
  struct sigaction by_default {};
  by_default.sa_handler = SIG_DFL;
  ::sigaction(SIGPIPE, &by_default, nullptr);
  const int in_fd = ::open("/dev/null", O_RDONLY);
  const int out_fd = ::open(out, O_WRONLY | O_CREAT | O_APPEND, 0600);
  const int err_fd = ::open(err, O_WRONLY | O_CREAT | O_APPEND, 0600);
  if (in_fd < 0 || out_fd < 0 || err_fd < 0 || ::dup2(in_fd, STDIN_FILENO) < 0 ||
      ::dup2(out_fd, STDOUT_FILENO) < 0 || ::dup2(err_fd, STDERR_FILENO) < 0) {
    ::_exit(126);
  }
  ::close_range(3, ~0U, 0);
  ::execve(arguments[0], arguments, environment);
  ::_exit(127);
}

}  // namespace

std::filesystem::path scratch_file(const std::string& stem) {
  static const ScratchFolder folder;
  static std::atomic<unsigned> counter{0};
  return folder.path() / (stem + "-" + std::to_string(++counter));
}

std::string contents_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

Child::Child(const Command& command, std::filesystem::path out, std::filesystem::path err)
    : out_(std::move(out)), err_(std::move(err)) {
  std::vector<std::string> arguments = command.arguments;
  std::vector<std::string> environment = environment_for(command.environment);
  const std::vector<char*> argv = pointers_to(arguments);
  const std::vector<char*> envp = pointers_to(environment);
  const pid_t pid = ::fork();
  if (pid < 0) {
    throw std::system_error(errno, std::generic_category(), "fork");
  }
  if (pid == 0) {
    become(const_cast<char**>(argv.data()), const_cast<char**>(envp.data()), out_.c_str(),
           err_.c_str());
  }
  pid_ = pid;
}

Child::Child(Child&& other) noexcept
    : out_(std::move(other.out_)),
      err_(std::move(other.err_)),
      pid_(std::exchange(other.pid_, -1)),
      exit_code_(other.exit_code_) {}

Child::~Child() { kill_hard(); }

bool Child::alive() { return !wait_for(0ms).has_value(); }

void Child::signal(int number) const {
  if (pid_ > 0 && !exit_code_) {
    ::kill(pid_, number);
  }
}

std::optional<int> Child::wait_for(std::chrono::milliseconds budget) {
  if (exit_code_ || pid_ <= 0) {
    return exit_code_.value_or(-1);
  }
  eventually(
      [this] {
        int status = 0;
        if (::waitpid(pid_, &status, WNOHANG) == pid_) {
          exit_code_ = exit_code_of(status);
        }
        return exit_code_.has_value();
      },
      budget, 1ms);
  return exit_code_;
}

void Child::kill_hard() {
  if (pid_ <= 0 || exit_code_) {
    return;
  }
  ::kill(pid_, SIGKILL);
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  exit_code_ = exit_code_of(status);
}

Child start(const Command& command) {
  return Child(command, scratch_file("out"), scratch_file("err"));
}

Finished run(const Command& command, std::chrono::milliseconds budget) {
  Child child = start(command);
  const std::optional<int> exit_code = child.wait_for(budget);
  if (!exit_code) {
    child.kill_hard();
    throw std::runtime_error("did not end in time: " + command.arguments.at(0) + "\n" +
                             child.out() + child.err());
  }
  return {*exit_code, child.out(), child.err()};
}

std::string required_environment(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') {
    throw std::runtime_error(std::string(name) + " must be set for this test");
  }
  return value;
}

Command oncepay(std::vector<std::string> arguments, Environment environment) {
  arguments.insert(arguments.begin(), required_environment("TEST_ONCEPAY_BINARY"));
  return {std::move(arguments), std::move(environment)};
}

}  // namespace support

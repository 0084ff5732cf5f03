#include "runtime/process.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

namespace oncepay::runtime {
namespace {

std::string contents_of(const char* path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

// "btime 1732900000": when the machine was started.
double machine_started_at() {
  std::istringstream lines(contents_of("/proc/stat"));
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("btime ")) return std::stod(line.substr(6));
  }
  return 0;
}

// The numbers of /proc/self/stat from the third field on: the second one, the program's name in
// brackets, may hold anything.
std::istringstream fields_after_name() {
  const std::string stat = contents_of("/proc/self/stat");
  const auto bracket = stat.rfind(')');
  return std::istringstream(bracket == std::string::npos ? "" : stat.substr(bracket + 1));
}

std::uint64_t count_descriptors() {
  std::error_code failed;
  const std::filesystem::directory_iterator open("/proc/self/fd", failed);
  if (failed) return 0;
  // Less the one that reads the folder.
  return static_cast<std::uint64_t>(std::distance(begin(open), end(open))) - 1;
}

}  // namespace

ProcessUse read_process_use() {
  ProcessUse use;
  constexpr int threads_field = 20, start_field = 22, virtual_field = 23, resident_field = 24;
  std::istringstream fields = fields_after_name();
  std::string field;
  for (int number = 3; number <= resident_field && fields >> field; ++number) {
    if (number == threads_field) use.threads = std::stoull(field);
    if (number == start_field) {
      static const double booted = machine_started_at();
      use.started_at_seconds =
          booted + std::stod(field) / static_cast<double>(sysconf(_SC_CLK_TCK));
    }
    if (number == virtual_field) use.virtual_bytes = std::stoull(field);
    if (number == resident_field) {
      use.resident_bytes = std::stoull(field) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    }
  }
  rusage usage{};
  if (getrusage(RUSAGE_SELF, &usage) == 0) {
    use.processor_seconds = seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
  }
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) use.descriptors_max = limit.rlim_cur;
  use.open_descriptors = count_descriptors();
  return use;
}

std::string process_name() {
  constexpr std::size_t host_length_max = 29;
  std::string host(256, '\0');
  if (gethostname(host.data(), host.size() - 1) != 0) host = "unknown";
  host.resize(std::min(host.find('\0'), host_length_max));
  return host + "/" + std::to_string(getpid());
}

}  // namespace oncepay::runtime

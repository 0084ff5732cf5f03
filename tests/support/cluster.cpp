#include "support/cluster.hpp"

#include <stdlib.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <regex>
#include <stdexcept>
#include <system_error>

#include "support/child.hpp"
#include "support/names.hpp"

namespace support {

Cluster::Cluster(std::vector<std::string> settings) : settings_(std::move(settings)) {
  make_folder();
  start();
}

Cluster::Cluster(const Cluster& primary, std::vector<std::string> settings)
    : settings_(std::move(settings)), primary_url_(primary.url()) {
  make_folder();
  start();
}

void Cluster::make_folder() {
  std::string parent = (std::filesystem::temp_directory_path() / "oncepay-cluster-XXXXXX").string();
  // The server runs as another user when the tests run as root: it must be able to reach its
  // folder.
  if (::mkdtemp(parent.data()) == nullptr || ::chmod(parent.c_str(), 0755) != 0) {
    throw std::system_error(errno, std::generic_category(), "mkdtemp");
  }
  parent_ = parent;
  folder_ = parent + "/postgres";
}

Cluster::~Cluster() {
  try {
    script({"remove", folder_});
  } catch (const std::runtime_error&) {
    // Nothing else to do at the end: the folder is in /tmp.
  }
  std::error_code ignored;
  std::filesystem::remove_all(parent_, ignored);
}

std::string Cluster::script(std::vector<std::string> arguments) const {
  arguments.insert(arguments.begin(),
                   required_environment(environment::scripts) + std::string("/private-postgres"));
  const Finished done = run({arguments, {}}, 120s);
  if (done.exit_code != 0) {
    throw std::runtime_error("private-postgres failed:\n" + done.all());
  }
  return done.out;
}

void Cluster::start() {
  std::vector<std::string> arguments{"start", folder_};
  if (!primary_url_.empty()) {
    arguments.insert(arguments.end(), {"--standby-of", primary_url_});
  }
  for (const std::string& setting : settings_) {
    arguments.insert(arguments.end(), {"-c", setting});
  }
  const std::string out = script(arguments);
  std::smatch url;
  if (!std::regex_search(out, url, std::regex("postgres(ql)?://[^ \n]+"))) {
    throw std::runtime_error("private-postgres printed no URL:\n" + out);
  }
  url_ = url.str();
}

void Cluster::stop() { script({"stop", folder_}); }

void Cluster::promote() { script({"promote", folder_}); }

void Cluster::stop_at_once() { script({"stop", folder_, "--mode", "immediate"}); }

}  // namespace support

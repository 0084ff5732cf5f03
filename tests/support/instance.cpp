#include "support/instance.hpp"

#include <signal.h>

#include <sstream>
#include <stdexcept>

namespace support {
namespace {

// Generous: a build with sanitizers on a busy machine starts slowly, and a broken one fails at once
// because its process has ended.
constexpr auto start_budget = 30s;

std::uint16_t port_in(const std::string& log) {
  std::istringstream lines(log);
  for (std::string line; std::getline(lines, line);) {
    const nlohmann::json entry = nlohmann::json::parse(line, nullptr, false);
    if (entry.is_object() && entry.value("msg", "") == "listening") {
      const std::string address = entry.at("address").get<std::string>();
      return static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1)));
    }
  }
  return 0;
}

}  // namespace

Instance::Instance(const Database& database, Flags flags, Environment environment)
    : Instance(database.service_url(), std::move(flags), std::move(environment)) {}

Instance::Instance(std::string database_url, Flags flags, Environment environment)
    : database_url_(std::move(database_url)),
      flags_(std::move(flags)),
      environment_(std::move(environment)) {
  restart();
}

void Instance::start() {
  if (child_) {
    earlier_log_ = log();
    child_.reset();
  }
  std::vector<std::string> arguments{"serve", "--listen", "127.0.0.1:0", "--database-url",
                                     database_url_};
  arguments.insert(arguments.end(), flags_.begin(), flags_.end());
  child_ = std::make_unique<Child>(support::start(oncepay(std::move(arguments), environment_)));
}

void Instance::restart() {
  start();
  wait_for_port();
  wait_until_ready();
}

void Instance::wait_for_port() {
  port_ = 0;
  eventually(
      [this] {
        port_ = port_in(child_->err());
        return port_ != 0 || !child_->alive();
      },
      start_budget);
  if (port_ == 0) {
    throw std::runtime_error("the instance does not listen:\n" + log());
  }
}

void Instance::wait_until_ready() {
  eventually([this] { return ready() || !child_->alive(); }, start_budget);
  if (!child_->alive() || !ready()) {
    throw std::runtime_error("the instance does not become ready:\n" + log());
  }
}

bool Instance::ready() const {
  try {
    return Client(port_).send({"GET", "/readyz", {}, ""}).status == 200;
  } catch (const std::runtime_error&) {
    return false;  // refused or cut off: not ready, whatever the reason
  }
}

std::string Instance::log() const {
  return earlier_log_ + (child_ ? child_->err() + child_->out() : "");
}

void Instance::kill_hard() { child_->kill_hard(); }

void Instance::ask_to_stop() { child_->signal(SIGTERM); }

std::optional<int> Instance::wait_for_exit(std::chrono::milliseconds budget) {
  return child_->wait_for(budget);
}

std::optional<int> Instance::terminate() {
  ask_to_stop();
  return wait_for_exit();
}

void Instance::pause() { child_->signal(SIGSTOP); }

void Instance::resume() { child_->signal(SIGCONT); }

}  // namespace support

#include "support/pooler.hpp"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <system_error>

#include "support/client.hpp"
#include "support/names.hpp"

namespace support {
namespace {

// One that nobody listens on now. Somebody may take it before pgbouncer does, and then it says so.
std::uint16_t free_port() {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const any_address = reinterpret_cast<sockaddr*>(&address);
  if (socket < 0 || ::bind(socket, any_address, size) != 0 ||
      ::getsockname(socket, any_address, &size) != 0) {
    throw std::system_error(errno, std::generic_category(), "a free port");
  }
  ::close(socket);
  return ntohs(address.sin_port);
}

std::filesystem::path program() {
  const auto scripts = std::filesystem::path(required_environment(environment::scripts));
  const auto unpacked = scripts.parent_path() / ".deps/pgbouncer/pgbouncer";
  if (!std::filesystem::exists(unpacked)) {
    throw std::runtime_error("there is no " + unpacked.string() + ": run scripts/setup");
  }
  return unpacked;
}

}  // namespace

Pooler::Pooler(const Database& database, const std::string& mode, std::vector<std::string> settings,
               const std::string& role)
    : port_(free_port()) {
  const Sql direct = database.connect();
  const auto file = scratch_file("pgbouncer.ini");
  ini_ = file.string();
  std::ofstream ini(file);
  ini << "[databases]\n* = host=" << direct.host() << " port=" << direct.port() << " user=" << role
      << "\n"
      << "[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = " << port_
      << "\nauth_type = any\nunix_socket_dir =\npool_mode = " << mode
      << "\ndefault_pool_size = 4\nmax_client_conn = 500\n";
  for (const std::string& line : settings) ini << line << "\n";
  ini.close();
  url_ = with_database("postgresql://anybody@127.0.0.1:" + std::to_string(port_) + "/",
                       database.name());
  start();
}

void Pooler::start() {
  std::vector<std::string> arguments{program(), ini_};
  // pgbouncer refuses to run as root and changes to the user that it is told.
  if (::geteuid() == 0) arguments.insert(arguments.begin() + 1, {"-u", "postgres"});
  child_ = std::make_unique<Child>(support::start({arguments, {}}));
  const bool listens = eventually([this] {
    try {
      Client(port_).connect();
      return true;
    } catch (const std::exception&) {
      return !child_->alive();
    }
  });
  if (!listens || !child_->alive()) {
    throw std::runtime_error("pgbouncer does not start:\n" + log());
  }
}

void Pooler::kill_hard() { child_->kill_hard(); }

}  // namespace support

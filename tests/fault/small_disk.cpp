#include "fault/small_disk.hpp"

#include <sched.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <stdexcept>
#include <system_error>

namespace fault {
namespace {

constexpr const char* roomy = "size=1g";

[[noreturn]] void fail(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

}  // namespace

std::unique_ptr<SmallDisk> SmallDisk::mounted() {
  std::string folder = (std::filesystem::temp_directory_path() / "oncepay-disk-XXXXXX").string();
  if (::geteuid() != 0 || ::mkdtemp(folder.data()) == nullptr) return nullptr;
  std::unique_ptr<SmallDisk> disk(new SmallDisk(folder));
  if (::unshare(CLONE_NEWNS) != 0 ||
      ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
      ::mount("tmpfs", folder.c_str(), "tmpfs", 0, roomy) != 0) {
    return nullptr;
  }
  std::filesystem::create_directory(disk->folder_ / "tables");
  const auto owned =
      support::run({{"/bin/chown", "postgres", folder, (disk->folder_ / "tables").string()}, {}});
  if (owned.exit_code != 0) throw std::runtime_error("chown: " + owned.all());
  return disk;
}

SmallDisk::~SmallDisk() {
  ::umount2(folder_.c_str(), MNT_DETACH);
  std::error_code ignored;
  std::filesystem::remove(folder_, ignored);
}

void SmallDisk::carry(support::Database& database, const std::string& cluster_url) {
  database.reconnect();
  support::Sql server(cluster_url);
  server.run("CREATE TABLESPACE small_disk LOCATION '" + (folder_ / "tables").string() + "'");
  server.run("ALTER DATABASE " + database.name() + " SET TABLESPACE small_disk");
}

void SmallDisk::resize(const std::string& size) const {
  if (::mount("tmpfs", folder_.c_str(), "tmpfs", MS_REMOUNT, size.c_str()) != 0) fail("remount");
}

void SmallDisk::fill() {
  struct statvfs room {};
  if (::statvfs(folder_.c_str(), &room) != 0) fail("statvfs");
  // Tables may grow while we look: then there is one page too few, and we look again.
  for (int attempt = 0;; ++attempt) {
    ::statvfs(folder_.c_str(), &room);
    const auto used = (room.f_blocks - room.f_bfree) * room.f_frsize;
    try {
      return resize("size=" + std::to_string(used));
    } catch (const std::system_error&) {
      if (attempt == 20) throw;
    }
  }
}

void SmallDisk::empty() { resize(roomy); }

}  // namespace fault

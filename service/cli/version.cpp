#include <cstdio>
#include <string>

#include "cli/commands.hpp"
#include "db/versions.hpp"
#include "migrations/embedded.hpp"
#include "runtime/version.hpp"

namespace oncepay::cli {

int run_version(const Config&) {
  std::string text = "oncepay " + std::string(runtime::release_version()) + "\ncommit " +
                     std::string(runtime::release_commit()) + "\nbuild " +
                     std::string(runtime::build_type()) + "\nschema " +
                     std::to_string(db::embedded_migrations.back().version) + "\n";
  for (const auto& libraries : {runtime::runtime_libraries(), db::db_libraries()}) {
    for (const auto& library : libraries) text += library.name + " " + library.version + "\n";
  }
  std::fputs(text.c_str(), stdout);
  return 0;
}

}  // namespace oncepay::cli

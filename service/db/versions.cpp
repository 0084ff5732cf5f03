#include "db/versions.hpp"

#include <libpq-fe.h>

#include <pqxx/version>

namespace oncepay::db {

std::vector<runtime::LibraryVersion> db_libraries() {
  const int libpq = PQlibVersion();
  return {{"libpqxx", PQXX_VERSION},
          {"libpq", std::to_string(libpq / 10000) + "." + std::to_string(libpq % 10000)}};
}

}  // namespace oncepay::db

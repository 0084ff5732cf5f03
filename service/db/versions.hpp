// Which libraries this module runs with; part of `oncepay version`.
#pragma once

#include <vector>

#include "runtime/version.hpp"

namespace oncepay::db {

std::vector<runtime::LibraryVersion> db_libraries();

}  // namespace oncepay::db

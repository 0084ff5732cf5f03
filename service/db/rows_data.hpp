// What stands behind Rows: libpq's result itself, so that texts are views into it and nothing is
// copied. Private to db.
#pragma once

#include <pqxx/result>

#include "db/values.hpp"

namespace oncepay::db {

struct Rows::Data {
  pqxx::result result;
};

}  // namespace oncepay::db

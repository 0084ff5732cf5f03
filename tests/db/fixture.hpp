// An empty database of a test's own, and how db connects to it.
#pragma once

#include <string>

#include "db/connection.hpp"
#include "support/database.hpp"

namespace oncepay::test {

class EmptyDatabase {
 public:
  db::ConnectionSettings settings() const {
    db::ConnectionSettings settings;
    settings.url = database_.url();
    return settings;
  }
  // The same database as another user.
  std::string url_as(const std::string& user) const {
    const std::string& url = database_.url();
    const auto begin = url.find("://") + 3;
    const auto at = url.find('@', begin);
    return url.substr(0, begin) + user + url.substr(at);
  }

  const std::string& url() const { return database_.url(); }
  const std::string& name() const { return database_.name(); }
  support::Sql& sql() { return database_.sql(); }
  support::Sql connect() const { return database_.connect(); }

  void kill_backend(const db::Connection& connection) {
    sql().run("SELECT pg_terminate_backend($1::integer)",
              {std::to_string(connection.backend_pid())});
  }

 private:
  support::Database database_ = support::Database::empty();
};

}  // namespace oncepay::test

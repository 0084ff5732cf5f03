// The state of a database that oncepay serves, as `oncepay status` shows it: to people with the
// next step for whatever is not as it should be, to programs as one JSON object.
//
// Private to cli. What is shown costs no more than a look of the observer (once/observation.hpp),
// and a read of the accounts that is given up after the same time.
//
// Threads: plain values; read_status() uses the connection it is given. Errors: db errors pass.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "db/connection.hpp"
#include "once/observation.hpp"

namespace oncepay::cli {

struct Warning {
  std::string what;
  std::string next;  // what to do about it
};

struct Status {
  int schema = 0;  // 0 = never migrated: nothing below is known then
  int schema_known = 0;
  int server_version = 0;  // 150014
  std::int64_t payments_last_minute = 0;
  once::Observation observation;
  bool keys_counted = false;  // false = it would have taken too long
  std::vector<once::InstanceSeen> instances;
  bool cleaner_at_work = false;
  std::optional<std::size_t> violations;  // of the accounts; nothing = it would have taken too long
};

Status read_status(db::Connection& connection);

std::vector<Warning> warnings_of(const Status& status);

std::string status_text(const Status& status);
std::string status_json(const Status& status);  // one line

}  // namespace oncepay::cli

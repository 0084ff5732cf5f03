// A named SQL statement: what the build makes of each file below sql/.
//
// Deliberately not here: parameters and execution. The name is `module.verb_noun`, and it is also
// the name under which a connection prepares the statement; the text opens with the same name as a
// comment, so that the server's log and pg_stat_statements show where a statement comes from.
//
// Threads: plain constants.
#pragma once

#include <string_view>

namespace oncepay::db {

struct Statement {
  std::string_view name;
  std::string_view text;
};

}  // namespace oncepay::db

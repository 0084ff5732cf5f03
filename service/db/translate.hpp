// From libpqxx's exceptions and libpq's words to the errors of errors.hpp; implemented in
// errors.cpp, the one place that knows SQLSTATEs.
//
// Private to db. The functions are called inside a catch block and, unless they say otherwise,
// always throw; an exception that is not the database's (std::bad_alloc, std::logic_error) passes
// unchanged, except out of COMMIT.
#pragma once

#include <string_view>

namespace oncepay::db {

// `context` names what ran, without values: "payments.lock_accounts", "BEGIN".
// `connected`: whether the connection still stands after the failure.
[[noreturn]] void throw_statement_failure(std::string_view context, bool connected);

// `words` is the last that was heard on the session. Throws StatementError if pgbouncer has ended
// it for a BEGIN, in a mode in which no transaction is possible; returns otherwise.
void refuse_statement_pooler(std::string_view words);

// For the text of a migration, which is ours and holds no values of anybody: what() quotes the
// first line of the server's message.
[[noreturn]] void throw_migration_failure(bool connected);

// For a COMMIT that was sent. Only an error that the server reported over a standing connection
// proves that the transaction was rolled back; whatever else happened leaves it in doubt.
[[noreturn]] void throw_commit_failure(bool connected);

// `words` is what libpq says of a connection that could not be opened; it may name hosts.
[[noreturn]] void throw_connect_failure(std::string_view words);

}  // namespace oncepay::db

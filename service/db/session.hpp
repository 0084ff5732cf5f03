// What stands behind Connection: the libpq session, and what is known about it.
//
// Private to db. libpq opens the session, because only there several hosts, each with its own time
// limit, and settings that a URL cannot override come together; libpqxx runs everything after that.
// `raw` stays valid for as long as `connection`, which owns it.
#pragma once

#include <libpq-fe.h>

#include <pqxx/connection>
#include <set>
#include <string>

#include "db/connection.hpp"

namespace oncepay::db {

struct Connection::Session {
  explicit Session(const ConnectionSettings& settings);

  [[nodiscard]] bool connected() const { return PQstatus(raw) == CONNECTION_OK; }
  // Whether the server has ended an idle session since it was last used, as far as it has told us.
  [[nodiscard]] bool has_died() const;
  [[nodiscard]] PGTransactionStatusType transaction_status() const {
    return PQtransactionStatus(raw);
  }

  [[nodiscard]] const std::string& begin(Access access) const;

  void prepare(const Statement& statement);
  // EXECUTE with its parameters as text, to go along with another command in one message.
  [[nodiscard]] std::string call(const Statement& statement, const Params& params) const;

  PGconn* raw;
  pqxx::connection connection;
  std::set<std::string, std::less<>> prepared;
  std::string begin_read_write;
  std::string begin_read_only;
  std::string begin_snapshot;
  // A pooler gives each transaction another session of the server: nothing is prepared then, and
  // settings are those of the transaction.
  bool pooled = false;
  bool unusable = false;
  // The server gave up waiting for its synchronous standby: committed here, not known to be safe.
  bool replication_wait_cancelled = false;

 private:
  void refuse_unfit_server() const;
  void learn_session(const ConnectionSettings& settings);
};

}  // namespace oncepay::db

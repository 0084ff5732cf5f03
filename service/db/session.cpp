#include "db/session.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <pqxx/nontransaction>
#include <vector>

#include "db/translate.hpp"
#include "sql/statements.hpp"

namespace oncepay::db {
namespace {

constexpr int server_version_min = 150000;

struct FreeOptions {
  void operator()(PQconninfoOption* options) const { PQconninfoFree(options); }
};
using ParsedUrl = std::unique_ptr<PQconninfoOption, FreeOptions>;

// What libpq says of a URL it cannot read may quote a part of it, a password for instance: it is
// dropped.
ParsedUrl parse_url(const std::string& url) {
  char* complaint = nullptr;
  ParsedUrl parsed(PQconninfoParse(url.c_str(), &complaint));
  if (complaint != nullptr) PQfreemem(complaint);
  return parsed;
}

using Setting = std::pair<std::string_view, std::string>;

// What every session relies on: given with the connection, or where that is not possible with each
// transaction.
std::vector<Setting> session_settings(const ConnectionSettings& settings) {
  std::vector<Setting> all{
      {"statement_timeout", std::to_string(settings.statement_timeout.count())},
      {"lock_timeout", std::to_string(settings.lock_timeout.count())},
      {"idle_in_transaction_session_timeout",
       std::to_string(settings.idle_in_transaction_timeout.count())},
      {"TimeZone", "UTC"},
      {"DateStyle", "ISO"},
      {"bytea_output", "hex"},
      {"standard_conforming_strings", "on"},
      // Compiling a plan takes longer than any statement here runs.
      {"jit", "off"},
  };
  if (settings.plans == Plans::by_index) {
    all.emplace_back("plan_cache_mode", "force_generic_plan");
    for (const char* way : {"enable_seqscan", "enable_hashjoin", "enable_mergejoin"}) {
      all.emplace_back(way, "off");
    }
  }
  return all;
}

// A mark of ours: a session that has it was given all of the options.
constexpr std::string_view session_mark = "oncepay.session=direct";

std::string session_options(const ConnectionSettings& settings) {
  const auto parsed = parse_url(settings.url);
  if (!parsed) throw StatementError("08001", {}, "the database URL cannot be read");
  std::string options;
  for (const PQconninfoOption* option = parsed.get(); option->keyword != nullptr; ++option) {
    if (std::string_view(option->keyword) == "options" && option->val != nullptr) {
      options = option->val;
    }
  }
  for (const auto& [name, value] : session_settings(settings)) {
    options.append(" -c ").append(name).append("=").append(value);
  }
  return options.append(" -c ").append(session_mark);
}

std::string transaction_settings(const ConnectionSettings& settings) {
  std::string commands;
  for (const auto& [name, value] : session_settings(settings)) {
    commands.append("; SET LOCAL ").append(name).append(" TO '").append(value).append("'");
  }
  return commands;
}

// What pgbouncer says to options, unless it was told to drop them.
constexpr std::string_view options_refused = "unsupported startup parameter";

PGconn* open_session(const ConnectionSettings& settings, const std::string& options) {
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(settings.connect_timeout);
  const std::string connect_timeout = std::to_string(seconds.count());
  const std::string tcp_user_timeout = std::to_string(settings.tcp_user_timeout.count());
  // Whatever stands before `dbname` can be overridden by the URL, whatever stands after it cannot.
  const std::vector<std::pair<const char*, const char*>> keywords{
      {"application_name", settings.application_name.c_str()},
      {"connect_timeout", connect_timeout.c_str()},
      {"keepalives", "1"},
      {"keepalives_idle", "10"},
      {"keepalives_interval", "5"},
      {"keepalives_count", "3"},
      {"tcp_user_timeout", tcp_user_timeout.c_str()},
      {"dbname", settings.url.c_str()},
      {"client_encoding", "UTF8"},
      {"target_session_attrs", settings.read_only_will_do ? "primary" : "read-write"},
      {"options", options.c_str()},
  };
  std::vector<const char*> names;
  std::vector<const char*> values;
  for (const auto& [name, value] : keywords) {
    names.push_back(name);
    values.push_back(value);
  }
  names.push_back(nullptr);
  values.push_back(nullptr);
  const int expand_dbname = 1;
  PGconn* raw = PQconnectdbParams(names.data(), values.data(), expand_dbname);
  if (raw == nullptr) throw std::bad_alloc();
  if (PQstatus(raw) != CONNECTION_OK) {
    const std::string words = PQerrorMessage(raw);
    PQfinish(raw);
    if (!options.empty() && words.find(options_refused) != std::string::npos) {
      return open_session(settings, {});
    }
    throw_connect_failure(words);
  }
  return raw;
}

}  // namespace

bool is_connection_url(const std::string& url) {
  return !url.empty() && url.find('\0') == std::string::npos && parse_url(url) != nullptr &&
         (url.find("://") != std::string::npos || url.find('=') != std::string::npos);
}

Connection::Session::Session(const ConnectionSettings& settings)
    : raw(open_session(settings, session_options(settings))),
      connection(pqxx::connection::seize_raw_connection(raw)) {
  connection.set_verbosity(
      pqxx::error_verbosity::verbose);  // names the constraint: errors.cpp reads it
  connection.set_notice_handler([this](pqxx::zview notice) {
    if (notice.find("SyncRepWaitForLSN") != std::string_view::npos) {
      replication_wait_cancelled = true;
    }
  });
  refuse_unfit_server();
  learn_session(settings);
}

// The first look reads the server's last words, the second one the end of the stream.
bool Connection::Session::has_died() const {
  return PQconsumeInput(raw) == 0 || PQconsumeInput(raw) == 0 || !connected();
}

const std::string& Connection::Session::begin(Access access) const {
  switch (access) {
    case Access::read_write:
      return begin_read_write;
    case Access::read_only:
      return begin_read_only;
    case Access::snapshot:
      return begin_snapshot;
  }
  throw std::logic_error("an access without a BEGIN");
}

void Connection::Session::prepare(const Statement& statement) {
  const std::string name(statement.name);
  if (prepared.contains(name)) return;
  connection.prepare(name, std::string(statement.text));
  prepared.insert(name);
}

// Prepared statements of the protocol and of EXECUTE share their names. The parameters' types are
// known from there, so each is a literal without a type. Source: PostgreSQL, "EXECUTE".
std::string Connection::Session::call(const Statement& statement, const Params& params) const {
  std::string text = "EXECUTE \"";
  text.append(statement.name).append("\"");
  char separator = '(';
  for (const auto& parameter : params.texts()) {
    text += separator;
    separator = ',';
    if (parameter) {
      text.append("'").append(connection.esc(*parameter)).append("'");
    } else {
      text.append("NULL");
    }
  }
  if (separator == ',') text += ')';
  return text;
}

void Connection::Session::refuse_unfit_server() const {
  if (PQserverVersion(raw) < server_version_min) {
    throw StatementError("0A000", {}, "the database server is older than PostgreSQL 15");
  }
  const char* encoding = PQparameterStatus(raw, "server_encoding");
  if (encoding == nullptr || std::string_view(encoding) != "UTF8") {
    throw StatementError("0A000", {}, "the database's encoding is not UTF8");
  }
}

// A payment is answered when its COMMIT is acknowledged, so an acknowledgement has to mean that it
// is on disk. Any level but `off` says so and is the operator's choice. It is set with each BEGIN,
// in the same round trip, because a reload of the server's settings or a pooler may change it under
// a session. Where the mark is missing, so are all other settings: they come with each BEGIN too.
void Connection::Session::learn_session(const ConnectionSettings& settings) {
  std::string level;
  try {
    pqxx::nontransaction work(connection);
    const pqxx::result row = work.exec(std::string(sql::db::describe_session.text));
    level = row[0][0].c_str();
    pooled = row[0][1].is_null() || !session_mark.ends_with(row[0][1].view());
  } catch (const std::exception&) {
    throw_statement_failure(sql::db::describe_session.name, connected());
  }
  if (level == "off") level = "on";
  const std::string local = pooled ? transaction_settings(settings) : "";
  begin_read_write =
      "BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL synchronous_commit TO " + level + local;
  begin_read_only = "BEGIN ISOLATION LEVEL READ COMMITTED READ ONLY" + local;
  begin_snapshot = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY" + local;
}

}  // namespace oncepay::db

#include "support/sql.hpp"

#include <libpq-fe.h>

#include <cstdlib>
#include <stdexcept>

namespace support {

void Sql::Close::operator()(pg_conn* connection) const { PQfinish(connection); }
void Sql::Close::operator()(pg_result* result) const { PQclear(result); }

Sql::Sql(const std::string& url) : connection_(PQconnectdb(url.c_str())) {
  if (PQstatus(connection_.get()) != CONNECTION_OK) {
    throw std::runtime_error(std::string("test session: ") + PQerrorMessage(connection_.get()));
  }
  // Notices of DROP … IF EXISTS and the like would only bury a failing check.
  PQsetNoticeProcessor(
      connection_.get(), [](void*, const char*) {}, nullptr);
  // So that tests can tell the service's sessions from their own.
  run(std::string("SET application_name = '") + test_session + "'");
}

Sql::Result Sql::execute(const std::string& statement, const Parameters& parameters) {
  if (parameters.empty()) {
    return Result(PQexec(connection_.get(), statement.c_str()));
  }
  std::vector<const char*> values;
  values.reserve(parameters.size());
  for (const std::string& parameter : parameters) {
    values.push_back(parameter.c_str());
  }
  return Result(PQexecParams(connection_.get(), statement.c_str(), static_cast<int>(values.size()),
                             nullptr, values.data(), nullptr, nullptr, 0));
}

Sql::Result Sql::checked(const std::string& statement, const Parameters& parameters) {
  Result result = execute(statement, parameters);
  const ExecStatusType status = PQresultStatus(result.get());
  if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) {
    throw std::runtime_error(statement + "\n" + PQerrorMessage(connection_.get()));
  }
  return result;
}

std::vector<Row> Sql::rows(const std::string& statement, const Parameters& parameters) {
  const Result result = checked(statement, parameters);
  std::vector<Row> out(static_cast<std::size_t>(PQntuples(result.get())));
  for (int i = 0; i < PQntuples(result.get()); ++i) {
    for (int j = 0; j < PQnfields(result.get()); ++j) {
      std::optional<std::string> value;
      if (PQgetisnull(result.get(), i, j) == 0) {
        value.emplace(PQgetvalue(result.get(), i, j));
      }
      out[static_cast<std::size_t>(i)].push_back(std::move(value));
    }
  }
  return out;
}

std::vector<std::string> Sql::column(const std::string& statement, const Parameters& parameters) {
  std::vector<std::string> out;
  for (const Row& row : rows(statement, parameters)) {
    out.push_back(row.at(0).value_or(""));
  }
  return out;
}

std::string Sql::text(const std::string& statement, const Parameters& parameters) {
  const std::vector<Row> found = rows(statement, parameters);
  if (found.size() != 1) {
    throw std::runtime_error(statement + "\nexpected one row, got " + std::to_string(found.size()));
  }
  return found[0].at(0).value_or("");
}

std::int64_t Sql::number(const std::string& statement, const Parameters& parameters) {
  return std::stoll(text(statement, parameters));
}

bool Sql::holds(const std::string& statement, const Parameters& parameters) {
  return text(statement, parameters) == "t";
}

std::int64_t Sql::run(const std::string& statement, const Parameters& parameters) {
  const Result result = checked(statement, parameters);
  return std::atoll(PQcmdTuples(result.get()));
}

std::string Sql::sqlstate_of(const std::string& statement, const Parameters& parameters) {
  const Result result = execute(statement, parameters);
  const char* state = PQresultErrorField(result.get(), PG_DIAG_SQLSTATE);
  if (state != nullptr) {
    return state;
  }
  return PQstatus(connection_.get()) == CONNECTION_OK ? "00000" : "08006";
}

std::string Sql::host() const { return PQhost(connection_.get()); }
std::string Sql::port() const { return PQport(connection_.get()); }

}  // namespace support

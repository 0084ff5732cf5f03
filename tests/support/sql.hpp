// A direct session to the test's database, for looking behind the service's back, for ageing rows
// and for holding locks. Everything goes and comes as text. One thread at a time.
// Any failure throws std::runtime_error with the server's message, except in `sqlstate_of`.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

struct pg_conn;
struct pg_result;

namespace support {

inline constexpr const char* test_session = "a test";  // application_name

using Row = std::vector<std::optional<std::string>>;

class Sql {
 public:
  using Parameters = std::vector<std::string>;

  explicit Sql(const std::string& url);

  std::vector<Row> rows(const std::string& statement, const Parameters& parameters = {});
  // The first column of every row; a null comes as an empty text.
  std::vector<std::string> column(const std::string& statement, const Parameters& parameters = {});
  // The one value of the one row. Throws when there is none, or more.
  std::string text(const std::string& statement, const Parameters& parameters = {});
  std::int64_t number(const std::string& statement, const Parameters& parameters = {});
  bool holds(const std::string& statement, const Parameters& parameters = {});
  // Rows affected. Without parameters several statements may come in one text.
  std::int64_t run(const std::string& statement, const Parameters& parameters = {});
  // For a statement that should be refused: its SQLSTATE, or "00000" when it was not.
  std::string sqlstate_of(const std::string& statement, const Parameters& parameters = {});

  // What the wire needs to know to stand in for the server.
  std::string host() const;
  std::string port() const;

 private:
  struct Close {
    void operator()(pg_conn* connection) const;
    void operator()(pg_result* result) const;
  };
  using Result = std::unique_ptr<pg_result, Close>;

  Result execute(const std::string& statement, const Parameters& parameters);
  Result checked(const std::string& statement, const Parameters& parameters);

  std::unique_ptr<pg_conn, Close> connection_;
};

}  // namespace support

#include "db/values.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "db/connection.hpp"
#include "support/database.hpp"

using namespace oncepay::db;

namespace {

constexpr Statement echo_texts{
    "test.echo_texts", "SELECT t FROM unnest($1::text[]) WITH ORDINALITY AS u (t, n) ORDER BY n"};
constexpr Statement echo_bytes{
    "test.echo_bytes", "SELECT b FROM unnest($1::bytea[]) WITH ORDINALITY AS u (b, n) ORDER BY n"};
constexpr Statement echo_numbers{
    "test.echo_numbers",
    "SELECT i FROM unnest($1::bigint[]) WITH ORDINALITY AS u (i, n) ORDER BY n"};
constexpr Statement echo_one{"test.echo_one",
                             "SELECT $1::text, $2::bigint, $3::bytea, $4::text, $5::boolean"};

const std::vector<std::string> hostile_texts{
    "",
    " ",
    "NULL",
    "null",
    "{}",
    "{a,b}",
    "a,b",
    "\"",
    "\\",
    "\\\"",
    "\\\\\"\"\\",
    "'; DROP TABLE payments; --",
    "$1",
    "line\nfeed\r\ttab",
    "\x01\x7f",
    "Grüße 決済 \xf0\x9f\x92\xb6",
    "\xe2\x80\xae"
    "rtl",
    "trailing\\",
    std::string(100'000, '"'),
};

ConnectionSettings settings_of(const support::Database& database) {
  ConnectionSettings settings;
  settings.url = database.url();
  return settings;
}

}  // namespace

TEST_CASE("texts come back from an array as they went, whatever they hold") {
  const auto database = support::Database::empty();
  Connection connection(settings_of(database));
  Array array;
  for (const auto& text : hostile_texts) array.add(text);
  array.add_null();
  REQUIRE(array.size() == hostile_texts.size() + 1);

  Transaction transaction(connection);
  const Rows rows = transaction.run(echo_texts, Params().add(array));

  REQUIRE(rows.size() == array.size());
  for (std::size_t row = 0; row < hostile_texts.size(); ++row) {
    CHECK(rows.text(row, 0) == hostile_texts[row]);
  }
  CHECK(rows.is_null(hostile_texts.size(), 0));
}

TEST_CASE("random bytes come back from an array as they went") {
  const auto database = support::Database::empty();
  Connection connection(settings_of(database));
  std::mt19937 random(20261129);
  std::vector<std::string> all{"", std::string(1, '\0'), std::string("a\0b", 3)};
  for (std::size_t length = 1; length < 300; length += 7) {
    std::string bytes;
    while (bytes.size() < length) bytes += static_cast<char>(random());
    all.push_back(bytes);
  }
  Array array;
  for (const auto& bytes : all) array.add_bytes(bytes);

  Transaction transaction(connection);
  const Rows rows = transaction.run(echo_bytes, Params().add(array));

  REQUIRE(rows.size() == all.size());
  for (std::size_t row = 0; row < all.size(); ++row) CHECK(rows.bytes(row, 0) == all[row]);
}

TEST_CASE("numbers come back from an array as they went") {
  const auto database = support::Database::empty();
  Connection connection(settings_of(database));
  const std::vector<std::int64_t> numbers{0,
                                          1,
                                          -1,
                                          9007199254740991,
                                          std::numeric_limits<std::int64_t>::min(),
                                          std::numeric_limits<std::int64_t>::max()};
  Array array;
  for (const auto number : numbers) array.add(number);

  Transaction transaction(connection);
  const Rows rows = transaction.run(echo_numbers, Params().add(array));

  REQUIRE(rows.size() == numbers.size());
  for (std::size_t row = 0; row < numbers.size(); ++row) CHECK(rows.number(row, 0) == numbers[row]);
  CHECK(transaction.run(echo_numbers, Params().add(Array())).empty());
}

TEST_CASE("single parameters come back as they went, NULL as NULL") {
  const auto database = support::Database::empty();
  Connection connection(settings_of(database));
  for (const auto& text : hostile_texts) {
    Transaction transaction(connection);
    const Rows rows = transaction.run(echo_one, Params()
                                                    .add(text)
                                                    .add(std::optional<std::int64_t>())
                                                    .add_bytes(std::string("\0\xff\\", 3))
                                                    .add_null()
                                                    .add("true"));
    CHECK(rows.text(0, 0) == text);
    CHECK(rows.maybe_number(0, 1) == std::nullopt);
    CHECK(rows.bytes(0, 2) == std::string("\0\xff\\", 3));
    CHECK(rows.maybe_text(0, 3) == std::nullopt);
    CHECK(rows.flag(0, 4));
  }
}

TEST_CASE("text with NUL is refused before libpq could cut it there") {
  const std::string cut("order-1\0-evil", 13);
  CHECK_THROWS_AS(Params().add(cut), std::logic_error);
  Array array;
  CHECK_THROWS_AS(array.add(cut), std::logic_error);
}

TEST_CASE("a reader that disagrees with its statement is a bug, not an empty value") {
  const auto database = support::Database::empty();
  Connection connection(settings_of(database));
  Transaction transaction(connection);
  const Rows rows =
      transaction.run(echo_one, Params().add("text").add(7).add_null().add_null().add("false"));

  CHECK_THROWS_AS((void)rows.text(1, 0), std::logic_error);
  CHECK_THROWS_AS((void)rows.text(0, 5), std::logic_error);
  CHECK_THROWS_AS((void)rows.text(0, 3), std::logic_error);
  CHECK_THROWS_AS((void)rows.number(0, 0), std::logic_error);
  CHECK_THROWS_AS((void)rows.bytes(0, 0), std::logic_error);
  CHECK_THROWS_AS((void)rows.flag(0, 0), std::logic_error);
  CHECK(rows.number(0, 1) == 7);
  CHECK_FALSE(rows.flag(0, 4));
}

TEST_CASE("rows outlive the transaction and the connection they came from") {
  const auto database = support::Database::empty();
  std::optional<Rows> kept;
  {
    Connection connection(settings_of(database));
    Transaction transaction(connection);
    Array array;
    array.add("kept");
    kept = transaction.run(echo_texts, Params().add(array));
  }
  CHECK(kept->text(0, 0) == "kept");
}

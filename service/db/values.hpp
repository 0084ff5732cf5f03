// Parameters in and rows out of a named statement, without libpqxx in the caller's sight.
//
// Text is bound as given and must hold no NUL (libpq would cut it there): append() throws
// std::logic_error, because such text has to be refused as a request long before. Arrays are bound
// as array literals for `unnest($1::text[])` and friends.
//
// Threads: plain values, one thread at a time.
// Source: PostgreSQL, "Array Input and Output Syntax", "Binary Data Types" (hex format).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace oncepay::db {

// One array parameter: `{…}` with every element quoted, or NULL.
class Array {
 public:
  void add(std::string_view text);
  void add(std::int64_t number);
  void add_bytes(std::string_view bytes);
  void add_null();
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::string literal() const;

 private:
  void separate();
  std::string items_;
  std::size_t size_ = 0;
};

class Params {
 public:
  Params& add(std::string_view text);
  Params& add(const char* text) { return add(std::string_view(text)); }
  Params& add(const std::string& text) { return add(std::string_view(text)); }
  Params& add(std::int64_t number);
  Params& add(int number) { return add(static_cast<std::int64_t>(number)); }
  Params& add_bytes(std::string_view bytes);
  Params& add(const Array& array);
  Params& add_null();
  template <class T>
  Params& add(const std::optional<T>& value) {
    return value ? add(*value) : add_null();
  }

  [[nodiscard]] const std::vector<std::optional<std::string>>& texts() const { return texts_; }

 private:
  std::vector<std::optional<std::string>> texts_;
};

// The rows a statement returned; cheap to copy. Asking for a NULL or a column that is not there, or
// a text that is no number, throws std::logic_error: the statement and its reader disagree.
class Rows {
 public:
  struct Data;
  explicit Rows(std::shared_ptr<const Data> data);

  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] bool empty() const { return size() == 0; }
  [[nodiscard]] std::size_t affected() const;  // rows written by INSERT, UPDATE, DELETE
  [[nodiscard]] bool is_null(std::size_t row, std::size_t column) const;
  [[nodiscard]] std::string_view text(std::size_t row, std::size_t column) const;
  [[nodiscard]] std::int64_t number(std::size_t row, std::size_t column) const;
  [[nodiscard]] bool flag(std::size_t row, std::size_t column) const;
  [[nodiscard]] std::string bytes(std::size_t row, std::size_t column) const;  // bytea
  [[nodiscard]] std::optional<std::string> maybe_text(std::size_t row, std::size_t column) const;
  [[nodiscard]] std::optional<std::int64_t> maybe_number(std::size_t row, std::size_t column) const;

 private:
  std::shared_ptr<const Data> data_;
};

}  // namespace oncepay::db

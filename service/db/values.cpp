#include "db/values.hpp"

#include <array>
#include <charconv>
#include <pqxx/result>
#include <stdexcept>

#include "db/rows_data.hpp"

namespace oncepay::db {
namespace {

void refuse_nul(std::string_view text) {
  if (text.find('\0') != std::string_view::npos) {
    throw std::logic_error("a text parameter contains NUL");
  }
}

void append_number(std::string& out, std::int64_t number) {
  std::array<char, 24> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  out.append(digits.data(), end);
}

// Like runtime::to_hex, but into what is already there and through a bare pointer, which the
// compiler can keep in a register: a batch binds hundreds of bodies.
void append_hex(std::string& out, std::string_view bytes) {
  static constexpr std::string_view digits = "0123456789abcdef";
  const std::size_t begin = out.size();
  out.resize(begin + 2 * bytes.size());
  char* to = out.data() + begin;
  for (const char raw : bytes) {
    const auto byte = static_cast<unsigned char>(raw);
    *to++ = digits[byte >> 4U];
    *to++ = digits[byte & 0xfU];
  }
}

unsigned hex_value(char digit) {
  if (digit >= '0' && digit <= '9') return static_cast<unsigned>(digit - '0');
  if (digit >= 'a' && digit <= 'f') return static_cast<unsigned>(digit - 'a' + 10);
  throw std::logic_error("a column is not bytea in hexadecimal form");
}

}  // namespace

void Array::separate() {
  if (size_++ != 0) items_ += ',';
}

void Array::add(std::string_view text) {
  refuse_nul(text);
  separate();
  items_ += '"';
  // Whole runs at a time: a key or a description rarely holds anything to escape.
  std::size_t run = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '"' && text[at] != '\\') continue;
    items_.append(text, run, at - run);
    items_ += '\\';
    run = at;
  }
  items_.append(text, run);
  items_ += '"';
}

void Array::add(std::int64_t number) {
  separate();
  append_number(items_, number);
}

void Array::add_bytes(std::string_view bytes) {
  separate();
  items_ += "\"\\\\x";
  append_hex(items_, bytes);
  items_ += '"';
}

void Array::add_null() {
  separate();
  items_ += "NULL";
}

std::string Array::literal() const {
  std::string text;
  text.reserve(items_.size() + 2);
  text += '{';
  text += items_;
  text += '}';
  return text;
}

Params& Params::add(std::string_view text) {
  refuse_nul(text);
  texts_.emplace_back(text);
  return *this;
}

Params& Params::add(std::int64_t number) {
  append_number(texts_.emplace_back(std::string()).value(), number);
  return *this;
}

Params& Params::add_bytes(std::string_view bytes) {
  append_hex(texts_.emplace_back("\\x").value(), bytes);
  return *this;
}

Params& Params::add(const Array& array) {
  texts_.emplace_back(array.literal());
  return *this;
}

Params& Params::add_null() {
  texts_.emplace_back(std::nullopt);
  return *this;
}

namespace {

// The index as libpqxx counts, after a check that there is such a field.
pqxx::field field_at(const pqxx::result& result, std::size_t row, std::size_t column) {
  if (row >= static_cast<std::size_t>(result.size()) ||
      column >= static_cast<std::size_t>(result.columns())) {
    throw std::logic_error("a statement returned fewer rows or columns than its reader expects");
  }
  return result[static_cast<pqxx::result_size_type>(row)][static_cast<pqxx::row_size_type>(column)];
}

}  // namespace

Rows::Rows(std::shared_ptr<const Data> data) : data_(std::move(data)) {}

std::size_t Rows::size() const { return static_cast<std::size_t>(data_->result.size()); }

std::size_t Rows::affected() const {
  return static_cast<std::size_t>(data_->result.affected_rows());
}

bool Rows::is_null(std::size_t row, std::size_t column) const {
  return field_at(data_->result, row, column).is_null();
}

std::string_view Rows::text(std::size_t row, std::size_t column) const {
  const pqxx::field field = field_at(data_->result, row, column);
  if (field.is_null()) throw std::logic_error("a column is NULL where its reader expects a value");
  return field.view();
}

std::int64_t Rows::number(std::size_t row, std::size_t column) const {
  const std::string_view digits = text(row, column);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc{} || end != digits.data() + digits.size()) {
    throw std::logic_error("a column is not an integer");
  }
  return number;
}

bool Rows::flag(std::size_t row, std::size_t column) const {
  const std::string_view word = text(row, column);
  if (word != "t" && word != "f") throw std::logic_error("a column is not a boolean");
  return word == "t";
}

std::string Rows::bytes(std::size_t row, std::size_t column) const {
  const std::string_view hex = text(row, column);
  if (!hex.starts_with("\\x") || hex.size() % 2 != 0) {
    throw std::logic_error("a column is not bytea in hexadecimal form");
  }
  std::string bytes;
  bytes.reserve(hex.size() / 2 - 1);
  for (std::size_t at = 2; at < hex.size(); at += 2) {
    bytes += static_cast<char>(hex_value(hex[at]) << 4U | hex_value(hex[at + 1]));
  }
  return bytes;
}

std::optional<std::string> Rows::maybe_text(std::size_t row, std::size_t column) const {
  if (is_null(row, column)) return std::nullopt;
  return std::string(text(row, column));
}

std::optional<std::int64_t> Rows::maybe_number(std::size_t row, std::size_t column) const {
  if (is_null(row, column)) return std::nullopt;
  return number(row, column);
}

}  // namespace oncepay::db

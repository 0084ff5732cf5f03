#include "http/message.hpp"

#include <algorithm>

namespace oncepay::http {
namespace {

// Field names are ASCII; the locale must not have a say in which names are equal.
char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

bool equals_ignoring_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lower(x) == lower(y); });
}

std::optional<std::string_view> Request::header(std::string_view name) const {
  std::optional<std::string_view> found;
  for (const Header& field : headers) {
    if (!equals_ignoring_case(field.name, name)) continue;
    if (found) return std::nullopt;
    found = field.value;
  }
  return found;
}

std::size_t Request::count(std::string_view name) const {
  const auto same_name = [name](const Header& field) {
    return equals_ignoring_case(field.name, name);
  };
  return static_cast<std::size_t>(std::count_if(headers.begin(), headers.end(), same_name));
}

void Response::set(std::string_view name, std::string_view value) {
  const auto same_name = [name](const Header& field) {
    return equals_ignoring_case(field.name, name);
  };
  std::erase_if(headers, same_name);
  headers.push_back({std::string(name), std::string(value)});
}

}  // namespace oncepay::http

#include "payments/requests.hpp"

#include <algorithm>

namespace oncepay::payments {

bool is_account_id(std::string_view text) {
  const auto admitted = [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == ':' ||
           c == '.' || c == '_' || c == '-';
  };
  return !text.empty() && text.size() <= 64 && std::all_of(text.begin(), text.end(), admitted);
}

}  // namespace oncepay::payments

// The answer to an operation: what is stored under its key and replayed byte for byte.
//
// Only what describes the operation is here. What describes one exchange (Date, X-Request-Id, the
// replay mark) is added by the edge each time and never stored.
#pragma once

#include <optional>
#include <string>

namespace oncepay::once {

struct Answer {
  int status = 0;
  std::string content_type;
  std::optional<std::string> location;
  std::string body;
  std::string resource_id;  // what the operation made, e.g. the payment id; may be empty
};

}  // namespace oncepay::once

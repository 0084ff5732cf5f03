// Who gets past the door: rows 2 to 6 of the contract's answer table, in its order, without a
// database.
//
// check_scope is the second half of row 2 (whose key it is was found out before), check_method is
// row 3, read_operation is rows 4, 5 and 6 for the calls that need an idempotency key. Within row 6
// a body that is no strict JSON comes first; then everything that is wrong with members and query
// comes at once.
//
// Threads: pure functions. Errors: a Problem; nothing was claimed then.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "access/tenants.hpp"
#include "http/message.hpp"
#include "http/paths.hpp"
#include "http/problem.hpp"
#include "once/executor.hpp"
#include "once/fingerprint.hpp"
#include "once/key.hpp"

namespace oncepay::http {

// POST needs `write`, GET and HEAD need `read`; what is not served anyway needs any valid key.
std::optional<Problem> check_scope(access::Scopes scopes, std::string_view method);

std::optional<Problem> check_method(const std::optional<RouteMatch>& match,
                                    std::string_view method);

// A request that may be submitted under its key.
struct AdmittedOperation {
  std::string key;
  once::RequestIdentity identity;
  std::string fingerprint;  // of the current version
  std::unique_ptr<const once::Payload> payload;
  std::chrono::milliseconds wait;  // how long the client would wait for another call's answer
};

// `route` is payments or accounts; the request's method is POST.
std::variant<AdmittedOperation, Problem> read_operation(const Request& request, Route route,
                                                        once::KeyFormat key_format,
                                                        std::string_view request_id);

}  // namespace oncepay::http

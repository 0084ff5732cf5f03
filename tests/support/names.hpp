// The names that clients, operators and the schema agree on, in one place, so that a renamed thing
// is one edit here and a failing test everywhere it mattered. Only names: no behaviour.
// Source: the contract's sections 1 and 3, the design's table of tables.
#pragma once

#include <string_view>

namespace support {

namespace problems {
inline constexpr std::string_view any = "";  // the contract names the status alone
inline constexpr std::string_view key_missing = "/problems/idempotency-key-missing";
inline constexpr std::string_view key_invalid = "/problems/idempotency-key-invalid";
inline constexpr std::string_view key_reused = "/problems/idempotency-key-reused";
inline constexpr std::string_view invalid_json = "/problems/invalid-json";
inline constexpr std::string_view invalid_request = "/problems/invalid-request";
inline constexpr std::string_view in_progress = "/problems/request-in-progress";
inline constexpr std::string_view overloaded = "/problems/overloaded";
inline constexpr std::string_view unavailable = "/problems/unavailable";
inline constexpr std::string_view account_not_found = "/problems/account-not-found";
inline constexpr std::string_view account_exists = "/problems/account-exists";
inline constexpr std::string_view currency_mismatch = "/problems/currency-mismatch";
inline constexpr std::string_view insufficient_funds = "/problems/insufficient-funds";
inline constexpr std::string_view balance_limit = "/problems/balance-limit";
inline constexpr std::string_view internal = "/problems/internal";
inline constexpr std::string_view outcome_unknown = "/problems/outcome-unknown";
}  // namespace problems

namespace paths {
inline constexpr std::string_view payments = "/v1/payments";
inline constexpr std::string_view accounts = "/v1/accounts";
inline constexpr std::string_view keys = "/v1/idempotency-keys";
}  // namespace paths

namespace headers {
inline constexpr std::string_view authorization = "Authorization";
inline constexpr std::string_view content_type = "Content-Type";
inline constexpr std::string_view idempotency_key = "Idempotency-Key";
inline constexpr std::string_view replayed = "Idempotent-Replayed";
inline constexpr std::string_view location = "Location";
inline constexpr std::string_view request_id = "X-Request-Id";
inline constexpr std::string_view retry_after = "Retry-After";
}  // namespace headers

// Environment of a test run, set by the test runner.
namespace environment {
inline constexpr const char* binary = "TEST_ONCEPAY_BINARY";
inline constexpr const char* database_url = "TEST_DATABASE_URL";
inline constexpr const char* scripts = "TEST_SCRIPTS";
}  // namespace environment

}  // namespace support

// What every error of the contract looks like: RFC 9457 with the members that the contract adds.
// Checks go to the running doctest case; call from its thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "support/client.hpp"

namespace support {

// Status, media type, all members, that nothing of the inside leaks, and, for the types whose
// meaning the contract fixes, `retryable` and `same_key`. An empty type means any problem type.
void expect_problem(const Answer& answer, int status, std::string_view type);

// The JSON pointers that a problem names, in `errors` or as its own `pointer`.
std::vector<std::string> pointers_in(const Answer& answer);
bool names_pointer(const Answer& answer, std::string_view pointer);

// 201 with a payment in it.
void expect_succeeded(const Answer& answer);
std::string payment_id_of(const Answer& answer);  // of a payment, or a problem's payment_id

// Same status, body bytes, Content-Type and Location, marked as a replay.
void expect_replay_of(const Answer& first, const Answer& replay);

// A positive whole number of seconds.
void expect_retry_after(const Answer& answer);

}  // namespace support

// UUIDs as text in their canonical lower-case form.
//
// Version 7 ids sort by the time they were made: within this process strictly, between processes by
// their clocks. Nothing but order for reading relies on that.
//
// Threads: any.
// Source: RFC 9562 sections 4, 5.7 and 6.2 (method 1, monotonic counter within a millisecond).
#pragma once

#include <string>
#include <string_view>

namespace oncepay::runtime {

std::string make_uuid_v7();

// 8-4-4-4-12 hexadecimal digits of either case, any version.
bool is_uuid(std::string_view text);

}  // namespace oncepay::runtime

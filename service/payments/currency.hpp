// Which currencies there are, and how many digits stand behind the point when an amount is shown.
//
// The codes are those of ISO 4217 "List One: Current Currency & Funds" as published on 2026-01-01,
// with amendments up to 180: XCG took the place of ANG, SLE of SLL, ZWG of ZWL, XAD is new, CUC and
// HRK are gone, and BGN left when Bulgaria adopted the euro. Left out are the codes to which the
// list gives no minor unit (metals, bond market units, XDR, XSU, XUA, XTS for tests, XXX for no
// currency): amounts here are in minor units, so there is nothing such an amount could mean.
//
// Deliberately not here: arithmetic. Amounts are integers of minor units everywhere; digits are for
// display.
//
// Threads: pure functions. Source: ISO 4217, list one, maintained by SIX.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace oncepay::payments {

// Three capitals, exact match.
bool is_currency(std::string_view code);

// 0 for JPY, 2 for EUR, 3 for KWD, 4 for CLF; nothing when the code is none of ours.
std::optional<int> minor_unit_digits(std::string_view code);

// "500" JPY, "1.500" KWD, "0.001" BHD, "-0.05" EUR, without the code. An unknown code has no digits
// behind the point.
std::string format_minor(std::int64_t amount, std::string_view code);

}  // namespace oncepay::payments

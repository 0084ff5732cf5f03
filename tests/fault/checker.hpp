// The judge of a history: a pure function from what clients saw and the books hold to what is wrong
// with it. It knows nothing of how the service works and shares no code with it.
//
// The rules, by name; G1 to G6 are the promises in README.md.
//   two-payments      G1 a key has one payment at most
//   two-answers       G4 whoever was answered about a key was answered the same bytes
//   two-firsts        at most one of a key's answers says that it is no replay
//   not-in-books      G3 what was answered 201 or 402 is in the books as it was answered
//   other-than-stored G4 what was answered is what is stored under the key
//   other-request     a key's payment is the one that was asked for, and no other request got it
//   unasked           nobody is paid under a key that nobody sent
//   refused-but-paid  a refused request has no payment
//   before-commit     G3 no answer came before the time of its commit
//   no-serial-order   G5 one after the other, in the order of their commits, the payments come to
//                     the same outcomes and balances on paper
//   out-of-order      what was answered before another call was sent comes before it
//   unexpected        no other answers than the contract's, and retryable ones say so
//   unsettled         every key came to an end: decided, or refused
//   verify            `oncepay verify` is content
#pragma once

#include <string>
#include <vector>

#include "fault/history.hpp"

namespace fault {

struct Violation {
  std::string rule;
  std::string key;  // or an account, or empty
  std::string what;
};

std::vector<Violation> check(const History& history);

// One line for each violation, the first `lines_max` of them.
std::string text_of(const std::vector<Violation>& violations, std::size_t lines_max = 30);

}  // namespace fault

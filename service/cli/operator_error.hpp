// What an operator has done wrong or has to know: a lower-case message and what to do about it.
//
// Printed as `oncepay: message` and a `HINT:` line on stderr. Neither ever holds a secret. The exit
// code is 1 (failed), or 2 for a command line or a setting that is wrong.
#pragma once

#include <exception>
#include <stdexcept>
#include <string>

namespace oncepay::cli {

inline constexpr int exit_failed = 1;
inline constexpr int exit_usage = 2;

class OperatorError : public std::runtime_error {
 public:
  OperatorError(const std::string& message, std::string hint, int exit_code = exit_failed)
      : std::runtime_error(message), hint_(std::move(hint)), exit_code_(exit_code) {}

  [[nodiscard]] const std::string& hint() const { return hint_; }
  [[nodiscard]] int exit_code() const { return exit_code_; }

 private:
  std::string hint_;
  int exit_code_;
};

// Prints what went wrong in words for an operator and returns the exit code.
int report(const std::exception& error);

}  // namespace oncepay::cli

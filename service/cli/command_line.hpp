// From argv and the environment to a Config, or to a text and an exit code. The only home of CLI11.
//
// A setting that is unknown or invalid is refused by name, before anything else happens; its value
// is not repeated, since it may be a secret. Environment variables that begin with ONCEPAY_ and
// name no setting are refused too: a misspelt one would silently leave the default in force. An
// empty variable counts as absent.
//
// Threads: a function of its arguments alone.
#pragma once

#include <map>
#include <string>
#include <variant>
#include <vector>

#include "cli/config.hpp"

namespace oncepay::cli {

// The variables whose names begin with ONCEPAY_.
using Environment = std::map<std::string, std::string>;

Environment read_environment();

// What there is to print instead of a command to run: help (exit code 0, stdout).
struct Help {
  std::string text;
};

// Throws OperatorError with exit code 2, naming the flag or variable.
std::variant<Config, Help> parse_command_line(const std::vector<std::string>& arguments,
                                              const Environment& environment);

// All of it: parses, runs the command, prints errors, returns the exit code.
int run(int argc, char** argv);

}  // namespace oncepay::cli

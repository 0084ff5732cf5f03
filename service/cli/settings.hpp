// The table of settings: one line of code per setting gives its flag, environment variable, unit,
// default, range and meaning, and how its text becomes a value of Config.
//
// Private to cli. Texts are parsed strictly here and not by CLI11, whose conversions also take
// hexadecimal, signs and white space.
#pragma once

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>

#include "cli/config.hpp"

namespace oncepay::cli {

struct Range {
  std::int64_t min;
  std::int64_t max;
};

// What --help says of one setting; kept for each option of each command.
struct SettingHelp {
  std::string unit;  // "ms", "rows", or the words that may be given: "on|off"
  std::string default_text;
  std::string meaning;
};

// Adds settings to a command. The Config lives as long as the command.
class Settings {
 public:
  explicit Settings(CLI::App& command) : command_(command) {}

  void text(const std::string& flag, std::string& target, SettingHelp help);
  void word(const std::string& flag, SettingHelp help,
            std::function<bool(std::string_view)> accept);
  void flag(const std::string& flag, bool& target, const std::string& meaning);

  // The default is what `target` holds.
  template <class Integer>
  void number(const std::string& flag, Integer& target, Range range, const std::string& unit,
              const std::string& meaning) {
    whole_number(flag, static_cast<std::int64_t>(target), range, unit, meaning,
                 [&target](std::int64_t value) { target = static_cast<Integer>(value); });
  }
  template <class Period>
  void duration(const std::string& flag, std::chrono::duration<std::int64_t, Period>& target,
                Range range, const std::string& meaning) {
    using Duration = std::chrono::duration<std::int64_t, Period>;
    const std::string unit = std::is_same_v<Duration, std::chrono::seconds> ? "seconds" : "ms";
    whole_number(flag, target.count(), range, unit, meaning,
                 [&target](std::int64_t value) { target = Duration(value); });
  }

 private:
  void whole_number(const std::string& flag, std::int64_t default_value, Range range,
                    const std::string& unit, const std::string& meaning,
                    std::function<void(std::int64_t)> accept);
  CLI::Option* add(const std::string& flag, const SettingHelp& help,
                   const std::function<void(const std::string&)>& accept);

  CLI::App& command_;
};

// "--lock-timeout" -> "ONCEPAY_LOCK_TIMEOUT"
std::string variable_of(std::string_view flag);

void add_database_settings(CLI::App& command, Config& config, std::string& url_file);
void add_serve_settings(CLI::App& command, Config& config);
void add_cleanup_settings(CLI::App& command, Config& config);

}  // namespace oncepay::cli

// Logs: one JSON object a line on stderr, in whole lines, from any thread. The only home of spdlog.
//
// Every line has "time" (UTC, microseconds), "level", "msg" and then the given fields. Text is
// escaped as JSON, invalid UTF-8 replaced by U+FFFD and long text cut, so that no input can forge a
// line, steer a terminal or fill a disk. What must not be logged (idempotency keys, API keys,
// request text, URLs with passwords) is the caller's duty: log `short_hash(key)` instead.
//
// Threads: any; a line is one write(2). A line that cannot be written is lost: nobody waits for it.
// Source: RFC 8259 section 7; Unicode 15, 3.9 "U+FFFD Substitution of Maximal Subparts".
#pragma once

#include <unistd.h>

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <variant>

namespace oncepay::runtime {

enum class LogLevel { debug, info, warning, error };

std::string_view name_of(LogLevel level);

struct LogField {
  std::string_view name;
  std::variant<std::string_view, std::int64_t, double, bool> value;

  LogField(std::string_view field, std::string_view text) : name(field), value(text) {}
  LogField(std::string_view field, const char* text) : name(field), value(std::string_view(text)) {}
  LogField(std::string_view field, const std::string& text)
      : name(field), value(std::string_view(text)) {}
  LogField(std::string_view field, bool yes) : name(field), value(yes) {}
  LogField(std::string_view field, double number) : name(field), value(number) {}
  template <std::integral T>
  requires(!std::same_as<T, bool>) LogField(std::string_view field, T number)
      : name(field), value(static_cast<std::int64_t>(number)) {}
};

class Log {
 public:
  static constexpr std::size_t text_bytes_max = 4096;  // of one field; the rest is cut

  explicit Log(LogLevel level, int descriptor = STDERR_FILENO);
  ~Log();
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  void write(LogLevel level, std::string_view msg, std::initializer_list<LogField> fields = {});
  void debug(std::string_view msg, std::initializer_list<LogField> fields = {});
  void info(std::string_view msg, std::initializer_list<LogField> fields = {});
  void warning(std::string_view msg, std::initializer_list<LogField> fields = {});
  void error(std::string_view msg, std::initializer_list<LogField> fields = {});

  [[nodiscard]] bool enabled(LogLevel level) const;
  void set_level(LogLevel level);

 private:
  struct Sink;
  std::unique_ptr<Sink> sink_;
};

}  // namespace oncepay::runtime

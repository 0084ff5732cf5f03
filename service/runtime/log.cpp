#include "runtime/log.hpp"

#include <spdlog/logger.h>
#include <spdlog/sinks/base_sink.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cmath>
#include <ctime>
#include <mutex>

#include "runtime/utf8.hpp"

namespace oncepay::runtime {
namespace {

// Characters that end a line or steer a terminal somewhere, and those that turn text around.
bool must_be_escaped(char32_t code_point) {
  return code_point < 0x20 || (code_point >= 0x7f && code_point < 0xa0) || code_point == '"' ||
         code_point == '\\' || (code_point >= 0x2028 && code_point <= 0x202e) ||
         (code_point >= 0x2066 && code_point <= 0x2069);
}

void append_escape(std::string& line, char32_t code_point) {
  switch (code_point) {
    case '"':
      line += "\\\"";
      return;
    case '\\':
      line += "\\\\";
      return;
    case '\n':
      line += "\\n";
      return;
    default:
      break;
  }
  static constexpr std::string_view digits = "0123456789abcdef";
  line += "\\u";
  for (const unsigned shift : {12U, 8U, 4U, 0U}) line += digits[(code_point >> shift) & 0xfU];
}

void append_text(std::string& line, std::string_view text) {
  line += '"';
  const bool cut = text.size() > Log::text_bytes_max;
  if (cut) text = text.substr(0, Log::text_bytes_max);
  while (!text.empty()) {
    const Utf8Piece piece = first_utf8_piece(text);
    if (!piece.valid) {
      line += "\xef\xbf\xbd";
    } else if (must_be_escaped(piece.code_point)) {
      append_escape(line, piece.code_point);
    } else {
      line += text.substr(0, piece.bytes);
    }
    text.remove_prefix(piece.bytes);
  }
  if (cut) line += "...";
  line += '"';
}

template <class Number>
void append_number(std::string& line, Number number) {
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  line.append(digits.data(), end);
}

struct AppendValue {
  std::string& line;
  void operator()(std::string_view text) const { append_text(line, text); }
  void operator()(std::int64_t number) const { append_number(line, number); }
  void operator()(bool yes) const { line += yes ? "true" : "false"; }
  void operator()(double number) const {
    if (std::isfinite(number)) {
      append_number(line, number);
    } else {
      line += "null";  // JSON has no other number
    }
  }
};

void append_time(std::string& line) {
  const auto now = std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now());
  const auto second = std::chrono::floor<std::chrono::seconds>(now);
  const std::time_t seconds = std::chrono::system_clock::to_time_t(second);
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  std::array<char, 32> text{};
  line.append(text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S.", &utc));
  const std::string micros = std::to_string((now - second).count());
  line.append(6 - micros.size(), '0').append(micros).append("Z");
}

spdlog::level::level_enum spdlog_level(LogLevel level) {
  switch (level) {
    case LogLevel::debug:
      return spdlog::level::debug;
    case LogLevel::info:
      return spdlog::level::info;
    case LogLevel::warning:
      return spdlog::level::warn;
    case LogLevel::error:
      return spdlog::level::err;
  }
  return spdlog::level::err;
}

// spdlog's own stderr sinks go through stdio; this one hands a line over in a single call.
class DescriptorSink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  explicit DescriptorSink(int descriptor) : descriptor_(descriptor) {}

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    std::string_view rest(message.payload.data(), message.payload.size());
    while (!rest.empty()) {
      const ssize_t written = ::write(descriptor_, rest.data(), rest.size());
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) return;
      rest.remove_prefix(static_cast<std::size_t>(written));
    }
  }
  void flush_() override {}

 private:
  int descriptor_;
};

}  // namespace

std::string_view name_of(LogLevel level) {
  switch (level) {
    case LogLevel::debug:
      return "debug";
    case LogLevel::info:
      return "info";
    case LogLevel::warning:
      return "warning";
    case LogLevel::error:
      return "error";
  }
  return "error";
}

struct Log::Sink {
  explicit Sink(int descriptor) : logger("oncepay", std::make_shared<DescriptorSink>(descriptor)) {}
  spdlog::logger logger;
};

Log::Log(LogLevel level, int descriptor) : sink_(std::make_unique<Sink>(descriptor)) {
  set_level(level);
}

Log::~Log() = default;

void Log::write(LogLevel level, std::string_view msg, std::initializer_list<LogField> fields) {
  if (!enabled(level)) return;
  std::string line;
  line.reserve(256);
  line += "{\"time\":\"";
  append_time(line);
  line += "\",\"level\":\"";
  line += name_of(level);
  line += "\",\"msg\":";
  append_text(line, msg);
  for (const LogField& field : fields) {
    line += ',';
    append_text(line, field.name);
    line += ':';
    std::visit(AppendValue{line}, field.value);
  }
  line += "}\n";
  sink_->logger.log(spdlog_level(level), spdlog::string_view_t(line.data(), line.size()));
}

void Log::debug(std::string_view msg, std::initializer_list<LogField> fields) {
  write(LogLevel::debug, msg, fields);
}

void Log::info(std::string_view msg, std::initializer_list<LogField> fields) {
  write(LogLevel::info, msg, fields);
}

void Log::warning(std::string_view msg, std::initializer_list<LogField> fields) {
  write(LogLevel::warning, msg, fields);
}

void Log::error(std::string_view msg, std::initializer_list<LogField> fields) {
  write(LogLevel::error, msg, fields);
}

bool Log::enabled(LogLevel level) const { return sink_->logger.should_log(spdlog_level(level)); }

void Log::set_level(LogLevel level) { sink_->logger.set_level(spdlog_level(level)); }

}  // namespace oncepay::runtime

#include "runtime/log.hpp"

#include <doctest/doctest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

using namespace oncepay::runtime;

namespace {

// The reading end shows what each write(2) held: the socket keeps them apart.
class Captured {
 public:
  Captured() { REQUIRE(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends_.data()) == 0); }
  ~Captured() {
    for (const int end : ends_) close(end);
  }
  Captured(const Captured&) = delete;
  Captured& operator=(const Captured&) = delete;

  int descriptor() const { return ends_[1]; }

  std::string next_write() {
    std::string bytes(100'000, '\0');
    const auto size = recv(ends_[0], bytes.data(), bytes.size(), MSG_DONTWAIT);
    bytes.resize(size < 0 ? 0 : static_cast<std::size_t>(size));
    return bytes;
  }

 private:
  std::array<int, 2> ends_{-1, -1};
};

bool holds_control_character(const std::string& text) {
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("a log line is one JSON object with time, level, message and fields, in one write") {
  Captured captured;
  Log log(LogLevel::info, captured.descriptor());

  log.warning("batch slow",
              {{"size", 256}, {"took_ms", 12.5}, {"retried", true}, {"step", "lock"}});

  const std::string line = captured.next_write();
  REQUIRE(line.ends_with("}\n"));
  const auto json = nlohmann::json::parse(line);
  CHECK(json.at("level") == "warning");
  CHECK(json.at("msg") == "batch slow");
  CHECK(json.at("size") == 256);
  CHECK(json.at("took_ms") == 12.5);
  CHECK(json.at("retried") == true);
  CHECK(json.at("step") == "lock");
  const std::string time = json.at("time");
  CHECK(time.size() == std::string("2026-11-29T14:00:00.123456Z").size());
  CHECK(time.ends_with("Z"));
  CHECK(captured.next_write().empty());
}

TEST_CASE("no text can forge a log line or steer a terminal") {
  struct Attempt {
    std::string text;
    std::string expected;  // after the line was read as JSON
  };
  const std::string replacement = "\xef\xbf\xbd";
  const std::vector<Attempt> attempts{
      {"a\n{\"level\":\"error\",\"msg\":\"forged\"}",
       "a\n{\"level\":\"error\",\"msg\":\"forged\"}"},
      {"a\r\nb", "a\r\nb"},
      {"\"},{\"x\":\"", "\"},{\"x\":\""},
      {"back\\slash\\", "back\\slash\\"},
      {"\x1b[31mred\x1b[0m", "\x1b[31mred\x1b[0m"},
      {std::string("nul\0inside", 10), std::string("nul\0inside", 10)},
      {"\xc2\x9b"
       "31m",
       "\xc2\x9b"
       "31m"},                                       // CSI as one C1 character
      {"\xe2\x80\xa8next", "\xe2\x80\xa8next"},      // LINE SEPARATOR
      {"\xe2\x80\xaegnirts", "\xe2\x80\xaegnirts"},  // RIGHT-TO-LEFT OVERRIDE
      {"latin1 \xe9 end", "latin1 " + replacement + " end"},
      {"cut \xe2\x82", "cut " + replacement},
      {"surrogate \xed\xa0\x80", "surrogate " + replacement + replacement + replacement},
      {"overlong \xc0\xaf", "overlong " + replacement + replacement},
      {"Grüße, 決済, \xf0\x9f\x92\xb6", "Grüße, 決済, \xf0\x9f\x92\xb6"},
  };
  for (const auto& [text, expected] : attempts) {
    Captured captured;
    Log log(LogLevel::info, captured.descriptor());
    log.info(text, {{"field", text}, {text, 1}});

    std::string line = captured.next_write();
    REQUIRE(line.ends_with("\n"));
    line.pop_back();
    CAPTURE(line);
    CHECK_FALSE(holds_control_character(line));
    CHECK(line.find("\xe2\x80\xa8") == std::string::npos);
    CHECK(line.find("\xe2\x80\xae") == std::string::npos);
    CHECK(line.find("\xc2\x9b") == std::string::npos);
    const auto json = nlohmann::json::parse(line);
    CHECK(json.at("msg") == expected);
    CHECK(json.at("field") == expected);
    CHECK(json.at(expected) == 1);
  }
}

TEST_CASE("numbers are logged exactly, and what JSON has no number for as null") {
  Captured captured;
  Log log(LogLevel::info, captured.descriptor());

  log.info("numbers", {{"min", std::numeric_limits<std::int64_t>::min()},
                       {"max", std::numeric_limits<std::int64_t>::max()},
                       {"nan", std::numeric_limits<double>::quiet_NaN()},
                       {"inf", std::numeric_limits<double>::infinity()}});

  const auto json = nlohmann::json::parse(captured.next_write());
  CHECK(json.at("min") == std::numeric_limits<std::int64_t>::min());
  CHECK(json.at("max") == std::numeric_limits<std::int64_t>::max());
  CHECK(json.at("nan").is_null());
  CHECK(json.at("inf").is_null());
}

TEST_CASE("what is below the level is not logged") {
  Captured captured;
  Log log(LogLevel::warning, captured.descriptor());

  log.debug("no");
  log.info("no");
  CHECK_FALSE(log.enabled(LogLevel::info));
  CHECK(captured.next_write().empty());

  log.set_level(LogLevel::debug);
  log.debug("yes");
  CHECK(nlohmann::json::parse(captured.next_write()).at("level") == "debug");
}

TEST_CASE("a long text is cut, and a character is not cut in half") {
  Captured captured;
  Log log(LogLevel::info, captured.descriptor());
  std::string text = "x";
  while (text.size() < 3 * Log::text_bytes_max) text += "\xc3\xa9";

  log.info("long", {{"text", text}});

  const std::string logged = nlohmann::json::parse(captured.next_write()).at("text");
  CHECK(logged.size() < Log::text_bytes_max + 16);
  CHECK(logged.ends_with("..."));
}

TEST_CASE("lines of many threads do not mix") {
  Captured captured;
  Log log(LogLevel::info, captured.descriptor());
  constexpr int threads = 4;
  constexpr int lines = 100;
  std::vector<std::jthread> writers;
  for (int thread = 0; thread < threads; ++thread) {
    writers.emplace_back([&log, thread] {
      for (int line = 0; line < lines; ++line) {
        log.info("line", {{"thread", thread}, {"padding", std::string(300, 'x')}});
      }
    });
  }
  std::vector<int> seen(threads);
  for (int line = 0; line < threads * lines;) {
    const std::string written = captured.next_write();
    if (written.empty()) {
      std::this_thread::yield();
      continue;
    }
    const auto json = nlohmann::json::parse(written);
    ++seen.at(json.at("thread").get<std::size_t>());
    ++line;
  }
  for (const int count : seen) CHECK(count == lines);
}

TEST_CASE("a log that nobody reads any more stops nobody") {
  std::signal(SIGPIPE, SIG_IGN);
  std::array<int, 2> pipe_ends{};
  REQUIRE(pipe(pipe_ends.data()) == 0);
  close(pipe_ends[0]);
  Log log(LogLevel::info, pipe_ends[1]);

  CHECK_NOTHROW(log.error("into the void"));
  close(pipe_ends[1]);
}

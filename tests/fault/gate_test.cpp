// The gate itself: a road that does not do what it is told would make fault tests pass by chance.
#include <doctest/doctest.h>
#include <unistd.h>

#include "fault/gate.hpp"
#include "fault/protocol.hpp"
#include "support/sockets.hpp"

namespace {

using namespace fault;
using namespace support;

// Sends back what it gets, and remembers it.
class Echo {
 public:
  Echo()
      : listener_(listen_on_loopback(port)), thread_([this](const std::stop_token& stop) {
          while (!stop.stop_requested()) serve();
        }) {}
  Echo(const Echo&) = delete;
  Echo& operator=(const Echo&) = delete;
  ~Echo() {
    thread_.request_stop();
    thread_.join();
    ::close(listener_);
  }
  std::string heard() {
    const std::lock_guard lock(mutex_);
    return heard_;
  }

  std::uint16_t port = 0;

 private:
  void serve() {
    if (!wait_readable(listener_, 20ms)) return;
    const int socket = accept_from(listener_);
    for (std::string bytes = receive_some(socket); !bytes.empty(); bytes = receive_some(socket)) {
      {
        const std::lock_guard lock(mutex_);
        heard_ += bytes;
      }
      send_all(socket, bytes);
    }
    ::close(socket);
  }

  std::mutex mutex_;
  std::string heard_;
  int listener_;
  std::jthread thread_;
};

// What comes back for "hello" over a new connection until it ends, or nothing more comes.
std::string said_to(std::uint16_t port, milliseconds patience = 2s) {
  const int socket = connect_to_loopback(port);
  REQUIRE(socket >= 0);
  send_all(socket, "hello");
  std::string back;
  while (back.size() < 5 && wait_readable(socket, patience)) {
    const std::string bytes = receive_some(socket);
    if (bytes.empty()) break;
    back += bytes;
  }
  ::close(socket);
  return back;
}

std::string message(char type, const std::string& body) {
  const auto size = static_cast<char>(body.size() + 4);
  return std::string(1, type) + std::string(3, '\0') + size + body;
}

}  // namespace

TEST_CASE("a gate lets pass, cuts, halves and loses what it is told to, and clears up again") {
  Echo echo;
  Gate gate(Road::clients, echo.port);
  CHECK(said_to(gate.port()) == "hello");
  gate.turn({Weather::cut});
  CHECK(said_to(gate.port()) == "");
  CHECK(echo.heard() == "hello");
  gate.turn({Weather::halves_request});
  CHECK(said_to(gate.port()) == "");
  CHECK(support::eventually([&] { return echo.heard() == "hellohe"; }));
  gate.turn({Weather::halves_answer});
  CHECK(said_to(gate.port()) == "he");
  gate.turn({Weather::loses_answer});
  CHECK(said_to(gate.port()) == "");
  CHECK(echo.heard() == "hellohehellohello");
  gate.clear();
  CHECK(said_to(gate.port()) == "hello");
}

TEST_CASE("a gate delays, stalls and repeats") {
  Echo echo;
  Echo second;
  Gate gate(Road::clients, echo.port);
  gate.turn({Weather::slow, 150ms});
  const support::Stopwatch watch;
  CHECK(said_to(gate.port()) == "hello");
  CHECK(watch.elapsed() >= 290ms);  // there and back
  gate.turn({Weather::stalled});
  CHECK(said_to(gate.port(), 300ms) == "");
  gate.clear();
  CHECK(said_to(gate.port()) == "hello");
  gate.turn({Weather::repeats, 0ms, 1, second.port});
  CHECK(said_to(gate.port()) == "hello");
  CHECK(support::eventually([&] { return second.heard() == "hello"; }));
}

TEST_CASE("trips of the wire protocol are known by their statements, however the bytes come") {
  using std::string_literals::operator""s;
  const std::string startup = "\0\0\0\x08\0\x03\0\0"s;
  const std::string all =
      startup +
      message('Q', "BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL synchronous_commit TO on\0"s) +
      message('P', "once.claim_keys\0INSERT\0\0\0"s) + message('S', "") +
      message('B', "\0once.claim_keys\0\0\0\0\0\0\0"s) + message('E', "\0\0\0\0\0"s) +
      message('S', "") +
      message('Q', "EXECUTE \"payments.settle_payments\"('{\"a;b''\"}',NULL); COMMIT\0"s);
  for (const std::size_t step : {std::size_t{1}, std::size_t{7}, all.size()}) {
    TripReader reader;
    std::vector<std::string> names;
    std::string bytes;
    for (std::size_t at = 0; at < all.size(); at += step) {
      for (const Trip& trip : reader.read(all.substr(at, step))) {
        names.push_back(trip.name);
        bytes += trip.bytes;
      }
    }
    CHECK(names == std::vector<std::string>{"", "BEGIN", "prepare once.claim_keys",
                                            "once.claim_keys",
                                            "payments.settle_payments + COMMIT"});
    CHECK(bytes == all);
  }
}

TEST_CASE("of the server's answers the ends are counted and the process id is learnt") {
  using std::string_literals::operator""s;
  AnswerReader reader;
  const std::string all = message('R', "\0\0\0\0"s) + message('K', "\0\0\x01\x02secr"s) +
                          message('Z', "I") + message('C', "COMMIT\0"s) + message('Z', "I");
  for (const char byte : all) reader.read(std::string(1, byte));
  CHECK(reader.ready() == 2);
  CHECK(reader.backend_pid() == 258);
}

// A gate on a road: a TCP proxy of the tests that lets bytes pass, and on request holds them, slows
// them, loses them, or cuts a message in half. One stands between a service and its database and
// understands the road's protocol there; one stands between clients and a service and does not.
//
// Deliberately not here: TLS, damaged bytes (TCP does not deliver any). What the gate decides by
// chance comes from its seed. Threads: one of its own, which also runs what a strike does; calls
// from any.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "support/waiting.hpp"

namespace fault {

struct Trip;

using std::chrono::milliseconds;
using namespace std::chrono_literals;

enum class Road { database, clients };

// How the road behaves for everybody, until told otherwise.
enum class Weather {
  clear,
  cut,             // connections end, new ones are closed at once
  stalled,         // connections stand and nothing moves
  slow,            // each message takes `delay` longer
  halves_request,  // a request is cut in half, then its connection ends
  halves_answer,   // the same with an answer
  loses_answer,    // a request arrives, its connection ends before the answer
  repeats          // a request also goes to `also_to`, as a proxy does that sends it again
};

struct Forecast {
  Weather weather = Weather::clear;
  milliseconds delay{0};      // of slow
  int one_in = 1;             // of what halves, loses and repeats: this often, by chance
  std::uint16_t also_to = 0;  // of repeats
};

// Something that happens once, at one message of one transaction that claims a key.
struct Strike {
  enum class When {
    before,
    after
  };                               // the server has it: not yet, or the service has no answer yet
  enum class Then { pass, lose };  // the held message goes on, or the connection ends
  std::string at;                  // a trip's name, see protocol.hpp
  When when = When::before;
  Then then = Then::lose;
  std::function<void(int backend_pid)> act;  // while the message is held; may be empty
};

class Gate {
 public:
  Gate(Road road, std::uint16_t server_port, std::uint32_t seed = 1);
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;
  ~Gate();

  std::uint16_t port() const { return port_; }
  void lead_to(std::uint16_t server_port) { server_port_ = server_port; }  // new connections

  void turn(const Forecast& forecast);
  void clear() { turn({}); }
  // Of the database's road. At most one strike is armed at a time; the last one counts.
  void arm(Strike strike);
  void disarm();
  bool struck() const;  // since it was armed

  // The names of the trips of the last transaction that claimed a key and committed.
  std::vector<std::string> last_batch() const;

 private:
  struct Pair;
  using PairPtr = std::unique_ptr<Pair>;

  void run(const std::stop_token& stop);
  void accept_one();
  bool forward_request(Pair& pair);
  bool forward_answer(Pair& pair);
  bool pass_request(Pair& pair, const std::string& bytes);
  bool pass_trips(Pair& pair, const std::string& bytes);
  bool strike_before(Pair& pair, const Trip& trip);
  bool strike_after(Pair& pair);
  void note(Pair& pair, const Trip& trip);
  bool by_chance(const Forecast& forecast);
  bool send_due(Pair& pair);
  void send_again(const std::string& bytes, std::uint16_t port);
  Forecast forecast() const;

  Road road_;
  std::atomic<std::uint16_t> server_port_;
  int listener_ = -1;
  std::uint16_t port_ = 0;
  mutable std::mutex mutex_;
  Forecast forecast_;
  std::optional<Strike> armed_;
  bool struck_ = false;
  std::vector<std::string> last_batch_;
  std::minstd_rand random_;  // of the gate's thread
  std::vector<PairPtr> pairs_;
  std::vector<std::pair<int, support::Deadline>> repeated_;
  std::jthread thread_;
};

}  // namespace fault

// PostgreSQL's wire protocol, as far as a gate must read it: where a message ends, which statement
// it names, whose session it is. Bytes are passed on as they came, never rewritten.
//
// A trip is what the service sends before it waits for an answer: everything up to and including a
// Sync, a Flush or a simple Query. Source: PostgreSQL "Message Formats", "Message Flow".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace fault {

struct Trip {
  std::string bytes;
  // What it does: "BEGIN", "COMMIT", "ROLLBACK" and the names of the statements that it executes,
  // as in "payments.settle_payments + COMMIT"; "prepare once.claim_keys" while one is only being
  // prepared; "" before the session is open.
  std::string name;
  bool answered_by_ready = false;  // the server's answer ends in a ReadyForQuery

  bool holds(const std::string& statement) const;  // one of them, or all of them as they are joined
};

// What a client of the server sends: bytes in, whole trips out.
class TripReader {
 public:
  std::vector<Trip> read(const std::string& bytes);

 private:
  void take_message(const std::string& message);

  bool started_ = false;  // the startup message, which has no type, has passed
  std::string rest_;
  Trip trip_;
};

// What the server answers: counts the ends of answers and learns the session's process id.
class AnswerReader {
 public:
  void read(const std::string& bytes);
  int ready() const { return ready_; }  // how many ReadyForQuery have come
  std::optional<int> backend_pid() const { return backend_pid_; }

 private:
  std::string rest_;
  int ready_ = 0;
  std::optional<int> backend_pid_;
};

}  // namespace fault

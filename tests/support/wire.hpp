// A network between the service and its database that can lose things at the one place where it
// matters: around COMMIT. The service connects to `url()`; bytes pass unchanged until the test says
// otherwise. Only COMMITs of transactions that wrote something are struck, so that look-ups of the
// service do not use up what the test has armed.
// Deliberately not here: TLS, delays, damaged bytes. Threads: one of its own; calls from any.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "support/database.hpp"

namespace support {

class Wire {
 public:
  enum class Loss {
    nothing,
    request,  // COMMIT never reaches the server: PostgreSQL rolls back
    answer    // the server commits, the service does not hear of it
  };
  enum class Then { reachable, unreachable };  // the database, for new connections

  explicit Wire(const Database& database);
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;
  ~Wire();

  std::string url() const;
  void at_next_commit(Loss loss, Then then = Then::reachable);
  bool struck() const { return loss_ == Loss::nothing; }
  void cut();   // connections end, new ones are refused
  void mend();  // new connections are let through

 private:
  struct Pair {
    int service = -1;
    int server = -1;
    std::string greeting;  // the server's first bytes, until its process id is known
    std::string backend_pid;
  };

  void run(const std::stop_token& stop);
  void accept_one();
  bool forward_from_service(Pair& pair);
  bool forward_from_server(Pair& pair);
  bool transaction_wrote(const Pair& pair);
  void lose(Pair& pair, const std::string& bytes);
  int connect_to_server() const;

  std::string database_url_;
  std::string database_name_;
  Sql watcher_;
  int listener_ = -1;
  std::uint16_t port_ = 0;
  std::atomic<Loss> loss_{Loss::nothing};
  std::atomic<Then> then_{Then::reachable};
  std::atomic<bool> cut_{false};
  std::vector<Pair> pairs_;
  std::jthread thread_;
};

}  // namespace support

// The history of a run: what each client sent and saw, what was done to the service meanwhile, and
// what the books held at the end. Everything the checker needs, and nothing of a living process: a
// run that failed is kept as a file of JSON lines and can be judged again.
//
// Times are microseconds since 1970 by the machine's clock, the one that PostgreSQL's commit times
// come from. Threads: Recorder from any; the rest are plain values.
#pragma once

#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "support/shop.hpp"

namespace fault {

using Micros = std::int64_t;
Micros now_us();

// A whole answer.
struct Seen {
  int status = 0;
  std::string content_type;
  std::string location;
  std::string body;
  bool replayed = false;
  int retry_after_s = 0;

  bool decided() const { return status == 201 || status == 402; }
  std::string problem() const;  // the last part of a problem's type, "request-in-progress"; or ""
  friend bool operator==(const Seen&, const Seen&) = default;
};

struct Call {
  std::string client;
  std::string key;
  support::Payment payment;
  std::string instance;
  Micros sent_us = 0;
  Micros received_us = 0;
  std::optional<Seen> seen;  // nothing: the connection ended, or patience did
  std::string failure;       // then: how
};

struct Disturbance {
  std::string what;
  Micros from_us = 0;
  Micros to_us = 0;
};

struct BookedPayment {
  std::string id;
  std::string key;
  std::string status;
  std::string decline_reason;
  support::Payment payment;
  Micros committed_us = 0;
};

struct StoredAnswer {
  std::string key;
  std::string payment_id;
  Seen answer;
};

struct BookedAccount {
  std::string id;
  std::string currency;
  std::int64_t balance = 0;
  std::optional<std::int64_t> overdraft_limit;
};

struct Books {
  // In the order of their commit; in a batch in the order of their transfers, declined ones last.
  std::vector<BookedPayment> payments;
  std::vector<StoredAnswer> answers;
  std::vector<BookedAccount> accounts;
  std::string verify;  // what `oncepay verify` objects to; empty when it is content
};

struct History {
  std::uint32_t seed = 0;
  std::vector<Call> calls;
  std::vector<Disturbance> disturbances;
  Books books;
};

class Recorder {
 public:
  explicit Recorder(std::uint32_t seed) { history_.seed = seed; }
  void add(Call call);
  void add(Disturbance disturbance);
  std::size_t calls() const;
  History finish(Books books);  // the recorder is empty afterwards

 private:
  mutable std::mutex mutex_;
  History history_;
};

void save(const History& history, const std::filesystem::path& file);
History load(const std::filesystem::path& file);

// Needs track_commit_timestamp on the server: the order of commits is read from there.
Books read_books(support::Database& database, const std::string& tenant_id);

}  // namespace fault

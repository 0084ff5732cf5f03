// Ways to hold the service at a named place without touching it: another session that holds the
// lock it needs. Ends with ROLLBACK unless told otherwise.
#pragma once

#include <string>

#include "support/database.hpp"

namespace support {

// Holds an account's row, so that payments of this account stay claimed and undecided.
class AccountHold {
 public:
  AccountHold(const Database& database, const std::string& tenant_id, const std::string& account);
  // Returns once a session of the service waits for this lock, so that what the test sends next
  // certainly finds the first one running.
  bool somebody_waits(std::chrono::milliseconds budget = 10s);
  void release();

 private:
  Sql session_;
  Sql watcher_;
};

// Holds a key as another instance does in the middle of its transaction: inserted, not committed.
// The row is a copy of `model`, a key that is already completed.
class KeyHold {
 public:
  KeyHold(const Database& database, const std::string& model, const std::string& key);
  void abandon();  // as if that instance had died
  void commit();   // as if it had finished

 private:
  Sql session_;
};

}  // namespace support

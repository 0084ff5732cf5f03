// What the database holds under a key, and what follows from it for a request.
//
// Used by the batch, which claims, and by the look-up, which never does: one judgement for both.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "db/values.hpp"
#include "once/engine.hpp"

namespace oncepay::once {

struct StoredKey {
  std::size_t index;  // which of the keys that were asked for, from 0
  std::string fingerprint;
  int fingerprint_version;
  bool completed;
  Answer answer;  // of a completed key
  bool expired;
  bool abandoned;  // processing, and its lease is over
  std::int64_t created_at_us;
  std::int64_t completed_at_us;  // 0 while processing
  std::int64_t expires_at_us;
};

// A row of sql/once/read_keys.sql.
StoredKey read_stored_key(const db::Rows& rows, std::size_t row);

// Nothing when the key counts as absent: it may be claimed again. Otherwise a replay, a mismatch,
// or in progress; or Unavailable when the fingerprint is of a newer release, which can tell what
// this one cannot.
std::optional<Resolution> judge(const StoredKey& stored, const Operation& operation);

}  // namespace oncepay::once

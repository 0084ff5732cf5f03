#include "once/stored_key.hpp"

namespace oncepay::once {

StoredKey read_stored_key(const db::Rows& rows, std::size_t row) {
  StoredKey stored;
  stored.index = static_cast<std::size_t>(rows.number(row, 0) - 1);
  stored.fingerprint = rows.bytes(row, 1);
  stored.fingerprint_version = static_cast<int>(rows.number(row, 2));
  stored.completed = rows.flag(row, 3);
  stored.answer.resource_id = rows.maybe_text(row, 4).value_or("");
  if (stored.completed) {
    stored.answer.status = static_cast<int>(rows.number(row, 5));
    stored.answer.content_type = rows.text(row, 6);
    stored.answer.location = rows.maybe_text(row, 7);
    stored.answer.body = rows.bytes(row, 8);
  }
  stored.expired = rows.flag(row, 9);
  stored.abandoned = rows.maybe_text(row, 10) == "t";
  stored.created_at_us = rows.number(row, 11);
  stored.completed_at_us = rows.maybe_number(row, 12).value_or(0);
  stored.expires_at_us = rows.number(row, 13);
  return stored;
}

std::optional<Resolution> judge(const StoredKey& stored, const Operation& operation) {
  if (stored.expired) return std::nullopt;
  const auto fingerprint = stored.fingerprint_version == fingerprint_version_current
                               ? std::optional(operation.fingerprint)
                               : fingerprint_of(operation.identity, stored.fingerprint_version);
  if (!fingerprint) return Unavailable{};
  // Before everything else: what another request left behind is never taken over.
  if (*fingerprint != stored.fingerprint) return Mismatch{stored.answer.resource_id};
  if (stored.completed) return Answered{stored.answer, true};
  if (stored.abandoned) return std::nullopt;
  return InProgress{};
}

}  // namespace oncepay::once

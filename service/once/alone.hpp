// An operation that is alone in its batch, in one round trip: BEGIN, claim, effects and COMMIT go
// in one message, if the executor has a statement for its effects (Executor::settle_alone).
//
// That is for what ends as expected. Anything else (the key has a row, the payment would be
// declined, somebody holds a lock) makes a statement of the message fail: all of it is rolled
// back, and the operation takes the steps of a batch. So nothing is decided here that a batch would
// decide otherwise.
//
// Threads: one, that of the connection. Errors: as of run_batch(); a StatementError is a fault of
// the statements, for which a batch may do.
#pragma once

#include <optional>

#include "once/batch.hpp"

namespace oncepay::once {

// Nothing if it was not for this operation: it is certain then that nothing was committed, and
// run_batch() is next. Not while a commit of the operation is in doubt.
std::optional<BatchResult> run_alone(db::Connection& connection, const PendingPtr& pending,
                                     BatchSettings settings, BatchHistory& history);

}  // namespace oncepay::once

// What the loop does with one connection: a step for each phase, and what leads from one phase to
// the next.
#include <ctime>
#include <utility>

#include "http/edge/loop.hpp"

namespace oncepay::http::edge {
namespace {

// Below this a connection is not worth refusing when memory is short: others hold it.
constexpr std::size_t worth_refusing_bytes = 4 * 1024;

bool may_be_retried(const Refusal& refusal) {
  return refusal == refusals::overloaded || refusal == refusals::too_many_connections ||
         refusal == refusals::address_connections;
}

}  // namespace

bool Loop::step(Connection& connection) {
  switch (connection.phase) {
    case Phase::handshake:
      return step_handshake(connection);
    case Phase::receive:
      return step_receive(connection);
    case Phase::running:
      return false;
    case Phase::write:
      return step_write(connection);
    case Phase::linger:
      return step_linger(connection);
  }
  return false;
}

bool Loop::step_handshake(Connection& connection) {
  switch (connection.handshake()) {
    case Io::blocked:
      return false;
    case Io::done:
      break;
    case Io::ended:
    case Io::failed:
      add(counters_.tls_handshakes_failed);
      close(connection);
      return false;
  }
  connection.phase = Phase::receive;
  deadlines_.set(connection.deadline, DeadlineKind::idle, now_);
  return true;
}

bool Loop::step_receive(Connection& connection) {
  std::size_t count = 0;
  // Of a "100 Continue": nothing else can be waiting to be sent in this phase.
  const Io flushed = connection.flush(count);
  add(counters_.bytes_out, count);
  if (flushed == Io::blocked) return false;
  if (flushed != Io::done) {
    close(connection);
    return false;
  }
  count = 0;
  const Received received = connection.receive(scratch_, count);
  add(counters_.bytes_in, count);
  switch (received) {
    case Received::request:
      dispatch(connection);
      return true;
    case Received::refused:
      refuse(connection, connection.framing().refusal());
      return true;
    case Received::more:
    case Received::blocked:
      return wait_for_more(connection, received);
    case Received::ended:
    case Received::failed:
      break;
  }
  close(connection);
  return false;
}

bool Loop::wait_for_more(Connection& connection, Received received) {
  account(connection);
  if (over_budget() && connection.bytes_held() > worth_refusing_bytes) {
    add(counters_.requests_overloaded);
    refuse(connection, refusals::overloaded);
    return true;
  }
  const bool begun = connection.framing().state() != Framing::State::idle;
  if (begun && connection.deadline.kind != DeadlineKind::request) {
    deadlines_.set(connection.deadline, DeadlineKind::request, now_);
  }
  if (connection.continue_due()) return send_continue(connection);
  return received == Received::more;
}

bool Loop::send_continue(Connection& connection) {
  std::size_t count = 0;
  connection.continue_sent();
  const Io sent = connection.send(continue_answer, count);
  add(counters_.bytes_out, count);
  if (sent == Io::done) return true;
  if (sent != Io::blocked) close(connection);
  return false;
}

void Loop::dispatch(Connection& connection) {
  Request request = connection.take_request();
  account(connection);
  // Small requests go on when memory is short: it is the large ones that hold it.
  if (room_ == 0 || (over_budget() && connection.bytes_held() > worth_refusing_bytes)) {
    add(counters_.requests_overloaded);
    // The request was whole, so the next one begins where this one ended: the connection may go on.
    return answer(connection, make_refusal(refusals::overloaded), false);
  }
  --room_;
  add(counters_.requests);
  connection.phase = Phase::running;
  deadlines_.clear(connection.deadline);
  tasks_.push_back({std::move(request), make_reply(mailbox_, connection.id())});
}

Response Loop::make_refusal(const Refusal& refusal) {
  Response response = config_.refuse(refusal.status, refusal.reason, refusal.detail);
  if (may_be_retried(refusal)) {
    response.set("Retry-After", std::to_string(config_.retry_after.count()));
  }
  add(counters_.refusals_by_status[static_cast<std::size_t>(refusal.status)]);
  return response;
}

// The one answer to a request that is not whole; where the next one would begin is unknown.
void Loop::refuse(Connection& connection, Refusal refusal) {
  add(counters_.bytes_refused, connection.bytes_held());
  connection.give_up_request();
  answer(connection, make_refusal(refusal), true);
}

void Loop::answer(Connection& connection, const Response& response, bool closing) {
  closing = closing || !connection.keep_alive() || is_draining() || wants_close(response);
  AnswerFacts facts = connection.answer_facts(closing);
  facts.date = date_.at(std::time(nullptr));
  wire_.clear();
  if (!append_answer(response, facts, wire_) || wire_.size() > config_.output_bytes_max) {
    add(counters_.answers_unsendable);
    wire_.clear();
    // If even this cannot be written, the connection closes without an answer.
    if (!append_answer(make_refusal(refusals::internal), facts, wire_)) closing = true;
  }
  connection.close_after_answer = closing;
  connection.phase = Phase::write;
  connection.answered();
  std::size_t count = 0;
  const Io sent = connection.send(wire_, count);
  add(counters_.bytes_out, count);
  account(connection);
  // Whatever deadline the request had is over, or it could be refused once more.
  deadlines_.clear(connection.deadline);
  if (sent == Io::blocked) {
    deadlines_.set(connection.deadline, DeadlineKind::write, now_);
  } else if (sent != Io::done) {
    connection.close_after_answer = true;  // step_linger will find out what became of it
  }
}

bool Loop::step_write(Connection& connection) {
  std::size_t count = 0;
  const Io flushed = connection.flush(count);
  add(counters_.bytes_out, count);
  if (flushed == Io::blocked && !over_budget()) return false;
  if (flushed != Io::done) {
    close(connection);
    return false;
  }
  account(connection);
  if (connection.close_after_answer) {
    connection.finish_writing();
    connection.phase = Phase::linger;
    deadlines_.set(connection.deadline, DeadlineKind::linger, now_);
    return true;
  }
  connection.phase = Phase::receive;
  if (is_draining() && !acceptor_ && connection.is_idle()) {
    close(connection);
    return false;
  }
  deadlines_.set(connection.deadline, DeadlineKind::idle, now_);
  return true;
}

bool Loop::step_linger(Connection& connection) {
  const std::size_t discarded = connection.discarded_bytes();
  const Io io = connection.discard(scratch_);
  add(counters_.bytes_in, connection.discarded_bytes() - discarded);
  add(counters_.bytes_refused, connection.discarded_bytes() - discarded);
  if (io == Io::blocked) return false;
  if (io == Io::done && connection.discarded_bytes() <= config_.linger_bytes_max) return true;
  close(connection);
  return false;
}

void Loop::close(Connection& connection) {
  deadlines_.remove(connection.deadline);
  address_counts_.leave(connection.peer());
  bytes_held_ -= connection.bytes_accounted;
  connections_[connection.id() & 0xFFFF'FFFFU].reset();  // closes the socket
  --connections_open_;
  // Last: who sees the number may rely on the descriptor being free.
  counters_.connections_now.store(connections_open_, std::memory_order_relaxed);
}

void Loop::account(Connection& connection) {
  const std::size_t held = connection.bytes_held();
  bytes_held_ = bytes_held_ - connection.bytes_accounted + held;
  connection.bytes_accounted = held;
}

}  // namespace oncepay::http::edge

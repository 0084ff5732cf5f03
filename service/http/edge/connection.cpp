#include "http/edge/connection.hpp"

#include <utility>

namespace oncepay::http::edge {

Connection::Connection(ConnectionId id, std::unique_ptr<Channel> channel, Peer peer,
                       const FramingLimits& limits, Deadlines::Place place)
    : deadline(place),
      id_(id),
      channel_(std::move(channel)),
      peer_(std::move(peer)),
      framing_(limits) {}

void Connection::wake(bool peer_ended) {
  readable_ = true;
  peer_ended_ = peer_ended_ || peer_ended;
}

Received Connection::judge() const {
  switch (framing_.state()) {
    case Framing::State::complete:
      return Received::request;
    case Framing::State::refused:
      return Received::refused;
    default:
      return Received::more;
  }
}

Received Connection::receive(std::span<char> scratch, std::size_t& bytes_in) {
  if (!input_.empty()) {
    input_taken_ += framing_.feed(std::string_view(input_).substr(input_taken_));
    if (input_taken_ == input_.size()) {
      input_ = {};
      input_taken_ = 0;
    }
    return judge();
  }
  if (!readable_) return Received::blocked;
  const auto [io, count] = channel_->read(scratch);
  switch (io) {
    case Io::blocked:
      readable_ = false;
      return Received::blocked;
    case Io::ended:
      return Received::ended;
    case Io::failed:
      return Received::failed;
    case Io::done:
      break;
  }
  bytes_in += count;
  // Saves the read that would only say EAGAIN. The end of the stream has an event of its own.
  if (count < scratch.size() && channel_->short_read_means_empty() && !peer_ended_) {
    readable_ = false;
  }
  const std::string_view bytes(scratch.data(), count);
  const std::size_t taken = framing_.feed(bytes);
  input_ = bytes.substr(taken);
  return judge();
}

Request Connection::take_request() {
  remember_request();
  Request request = framing_.take();
  request.remote_address = peer_.address;
  request_bytes_ = request.body.capacity() + request.headers.capacity() * sizeof(Header);
  for (const Header& field : request.headers) {
    request_bytes_ += field.name.size() + field.value.size();
  }
  return request;
}

void Connection::give_up_request() {
  remember_request();
  framing_.reset();
  input_ = {};
  input_taken_ = 0;
}

void Connection::remember_request() {
  is_head_request_ = framing_.is_head_request();
  keep_alive_ = framing_.keep_alive() && framing_.state() == Framing::State::complete;
  version_ = framing_.version();
}

Io Connection::send(std::string_view wire, std::size_t& bytes_out) {
  if (has_output()) {
    output_.append(wire);
    return flush(bytes_out);
  }
  while (!wire.empty()) {
    const auto [io, count] = channel_->write(wire);
    if (io != Io::done) {
      if (io == Io::blocked) output_ = wire;
      return io;
    }
    bytes_out += count;
    wire.remove_prefix(count);
  }
  return Io::done;
}

Io Connection::flush(std::size_t& bytes_out) {
  while (output_sent_ < output_.size()) {
    const auto [io, count] = channel_->write(std::string_view(output_).substr(output_sent_));
    if (io != Io::done) return io;
    bytes_out += count;
    output_sent_ += count;
  }
  output_ = {};
  output_sent_ = 0;
  return Io::done;
}

bool Connection::is_idle() const {
  return phase == Phase::receive && framing_.state() == Framing::State::idle && input_.empty() &&
         output_.empty();
}

Io Connection::discard(std::span<char> scratch) {
  const auto [io, count] = channel_->discard(scratch);
  discarded_bytes_ += count;
  return io;
}

AnswerFacts Connection::answer_facts(bool close) const {
  AnswerFacts facts;
  facts.is_head_request = is_head_request_;
  if (close) {
    facts.after = AfterAnswer::close;
  } else {
    facts.after =
        version_ == Version::http_1_0 ? AfterAnswer::say_keep_alive : AfterAnswer::keep_alive;
  }
  return facts;
}

std::size_t Connection::bytes_held() const {
  return framing_.bytes_held() + input_.capacity() + output_.capacity() + request_bytes_;
}

}  // namespace oncepay::http::edge

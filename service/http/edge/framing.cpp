#include "http/edge/framing.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <utility>
#include <variant>

namespace oncepay::http::edge {

std::size_t Framing::feed(std::string_view bytes) {
  const std::size_t offered = bytes.size();
  while (!bytes.empty() && part_ != Part::complete && part_ != Part::refused) step(bytes);
  return offered - bytes.size();
}

Framing::State Framing::state() const {
  switch (part_) {
    case Part::request_line: {
      const bool untouched = kept_line_.empty() && (!saw_cr_ || !blank_line_);
      return untouched ? State::idle : State::head;
    }
    case Part::fields:
      return State::head;
    case Part::complete:
      return State::complete;
    case Part::refused:
      return State::refused;
    case Part::sized_body:
    case Part::chunk_size:
    case Part::chunk_data:
    case Part::chunk_end:
    case Part::trailers:
      return State::body;
  }
  return State::refused;
}

bool Framing::continue_due() const {
  if (!meaning_.continue_expected || !request_.body.empty()) return false;
  // A chunked body that has begun with a chunk size line has begun.
  return part_ == Part::sized_body || (part_ == Part::chunk_size && kept_line_.empty() && !saw_cr_);
}

std::size_t Framing::bytes_held() const {
  return kept_line_.capacity() + (limits_.head_bytes_max - head_left_) +
         request_.headers.capacity() * sizeof(Header) + request_.body.capacity();
}

Request Framing::take() {
  Request request = std::move(request_);
  if (meaning_.body == BodyKind::chunked) {
    std::erase_if(request.headers, [](const Header& field) {
      return equals_ignoring_case(field.name, "Transfer-Encoding");
    });
  }
  if (!authority_.empty()) {
    for (Header& field : request.headers) {
      if (equals_ignoring_case(field.name, "Host")) field.value = authority_;
    }
  }
  reset();
  return request;
}

void Framing::refuse(const Refusal& refusal) {
  refusal_ = refusal;
  part_ = Part::refused;
}

// Moves `bytes` behind the next CR LF and leaves what stood before it in line_. Looks at each byte
// once, in order, so that cuts make no difference. `budget` is what the line's section may still
// take.
Framing::Line Framing::take_line(std::string_view& bytes, std::size_t& budget,
                                 const Refusal& over_budget) {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const auto byte = static_cast<unsigned char>(bytes[i]);
    const Refusal* fault = nullptr;
    if (budget == 0) {
      fault = &over_budget;
    } else if (saw_cr_ ? byte != '\n' : byte == '\n') {
      fault = &refusals::line_end_invalid;
    } else if ((byte < ' ' && byte != '\t' && byte != '\r' && byte != '\n') || byte == 0x7F) {
      fault = &refusals::control_character;
    }
    if (fault != nullptr) {
      refuse(*fault);
      bytes.remove_prefix(i);
      return Line::refused;
    }
    --budget;
    if (saw_cr_) {
      const std::string_view before = bytes.substr(0, i == 0 ? 0 : i - 1);
      const bool at_hand = kept_line_.empty();
      if (!at_hand) kept_line_.append(before);
      line_ = at_hand ? before : std::string_view(kept_line_);
      saw_cr_ = false;
      bytes.remove_prefix(i + 1);
      return Line::complete;
    }
    saw_cr_ = byte == '\r';
  }
  kept_line_.append(bytes.substr(0, bytes.size() - (saw_cr_ && !bytes.empty() ? 1 : 0)));
  bytes.remove_prefix(bytes.size());
  return Line::incomplete;
}

void Framing::end_line() {
  kept_line_.clear();
  line_ = {};
}

void Framing::step(std::string_view& bytes) {
  switch (part_) {
    case Part::request_line:
    case Part::fields:
    case Part::chunk_size:
    case Part::trailers:
      return step_line(bytes);
    case Part::sized_body:
    case Part::chunk_data:
      return step_body(bytes);
    case Part::chunk_end:
      return step_chunk_end(bytes);
    case Part::complete:
    case Part::refused:
      return;
  }
}

void Framing::step_line(std::string_view& bytes) {
  const bool is_chunk = part_ == Part::chunk_size;
  const Line taken = is_chunk ? take_line(bytes, line_left_, refusals::chunk_invalid)
                              : take_line(bytes, head_left_, refusals::head_too_large);
  if (taken != Line::complete) return;
  switch (part_) {
    case Part::request_line:
      read_request_line();
      break;
    case Part::fields:
      line_.empty() ? end_head() : read_field();
      break;
    case Part::chunk_size:
      read_chunk_size();
      break;
    default:
      read_trailer();
      break;
  }
  end_line();
}

void Framing::step_body(std::string_view& bytes) {
  const std::size_t taken = std::min(body_left_, bytes.size());
  request_.body.append(bytes.substr(0, taken));
  bytes.remove_prefix(taken);
  body_left_ -= taken;
  if (body_left_ > 0) return;
  part_ = part_ == Part::sized_body ? Part::complete : Part::chunk_end;
}

void Framing::step_chunk_end(std::string_view& bytes) {
  const char wanted = saw_cr_ ? '\n' : '\r';
  if (bytes.front() != wanted) return refuse(refusals::chunk_invalid);
  bytes.remove_prefix(1);
  if (saw_cr_) {
    part_ = Part::chunk_size;
    line_left_ = limits_.chunk_line_bytes_max;
  }
  saw_cr_ = !saw_cr_;
}

void Framing::read_request_line() {
  // Old clients send an empty line behind a body (RFC 9112 section 2.2); more of them is no
  // request.
  if (line_.empty() && !blank_line_) {
    blank_line_ = true;
    return;
  }
  auto parsed = parse_request_line(line_);
  if (const auto* refusal = std::get_if<Refusal>(&parsed)) return refuse(*refusal);
  auto& line = std::get<RequestLine>(parsed);
  request_.method = std::move(line.method);
  request_.target = std::move(line.target);
  authority_ = std::move(line.authority).value_or("");
  version_ = line.version;
  part_ = Part::fields;
}

void Framing::read_field() {
  // A line that begins with white space is an obs-fold: the name is no token, so it ends here as
  // well.
  const std::size_t colon = line_.find(':');
  if (colon == std::string_view::npos || !is_token(line_.substr(0, colon))) {
    return refuse(refusals::field_invalid);
  }
  if (request_.headers.size() == limits_.fields_max) return refuse(refusals::too_many_fields);
  request_.headers.push_back(
      {std::string(line_.substr(0, colon)), std::string(trimmed(line_.substr(colon + 1)))});
}

void Framing::end_head() {
  const auto read = read_head(version_, request_.headers, limits_.body_bytes_max);
  if (const auto* refusal = std::get_if<Refusal>(&read)) return refuse(*refusal);
  meaning_ = std::get<HeadMeaning>(read);
  switch (meaning_.body) {
    case BodyKind::none:
      part_ = Part::complete;
      break;
    case BodyKind::sized:
      part_ = Part::sized_body;
      body_left_ = meaning_.body_bytes;
      break;
    case BodyKind::chunked:
      part_ = Part::chunk_size;
      line_left_ = limits_.chunk_line_bytes_max;
      extension_left_ = limits_.chunk_extension_bytes_max;
      trailers_left_ = limits_.fields_max;
      break;
  }
}

void Framing::read_chunk_size() {
  const std::size_t digits = std::min(line_.find(';'), line_.size());
  const std::string_view extensions = line_.substr(digits);
  std::uint64_t size = 0;
  // from_chars takes no sign, space or prefix for an unsigned number; 16 digits always fit.
  const auto [stopped, fault] = std::from_chars(line_.data(), line_.data() + digits, size, 16);
  if (digits == 0 || digits > 16 || fault != std::errc{} || stopped != line_.data() + digits ||
      extensions.size() > extension_left_) {
    return refuse(refusals::chunk_invalid);
  }
  extension_left_ -= extensions.size();
  if (size > limits_.body_bytes_max - request_.body.size()) {
    return refuse(refusals::body_too_large);
  }
  body_left_ = static_cast<std::size_t>(size);
  part_ = size == 0 ? Part::trailers : Part::chunk_data;
}

// Trailers are checked like fields and dropped: nobody here waits for any, and one that could
// replace a header that was already judged would be a way around the judgement (RFC 9110 section
// 6.5.1).
void Framing::read_trailer() {
  if (line_.empty()) {
    part_ = Part::complete;
    return;
  }
  const std::size_t colon = line_.find(':');
  if (colon == std::string_view::npos || !is_token(line_.substr(0, colon))) {
    return refuse(refusals::field_invalid);
  }
  if (trailers_left_ == 0) return refuse(refusals::too_many_fields);
  --trailers_left_;
}

}  // namespace oncepay::http::edge

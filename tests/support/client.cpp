#include "support/client.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <stdexcept>
#include <system_error>

namespace support {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::string trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) {
    return "";
  }
  return std::string(text.substr(first, text.find_last_not_of(" \t") - first + 1));
}

Headers parse_headers(std::string_view block) {
  Headers out;
  while (!block.empty()) {
    const std::size_t end = block.find("\r\n");
    const std::string_view line = block.substr(0, end);
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) {
      throw std::runtime_error("header line without a colon: " + std::string(line));
    }
    out.push_back({std::string(line.substr(0, colon)), trimmed(line.substr(colon + 1))});
    block = end == std::string_view::npos ? std::string_view{} : block.substr(end + 2);
  }
  return out;
}

}  // namespace

bool same_name(std::string_view left, std::string_view right) {
  return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                    [](char a, char b) { return lower(a) == lower(b); });
}

std::optional<std::string> Answer::header(std::string_view name) const {
  for (const Header& header : headers) {
    if (same_name(header.name, name)) {
      return header.value;
    }
  }
  return std::nullopt;
}

std::size_t Answer::count(std::string_view name) const {
  return static_cast<std::size_t>(
      std::count_if(headers.begin(), headers.end(),
                    [&](const Header& header) { return same_name(header.name, name); }));
}

bool Answer::replayed() const { return header("Idempotent-Replayed") == "true"; }

nlohmann::json Answer::json() const {
  try {
    return nlohmann::json::parse(body);
  } catch (const nlohmann::json::exception& error) {
    throw std::runtime_error("an answer that is no JSON: " + text());
  }
}

std::string Answer::type() const {
  const nlohmann::json parsed = nlohmann::json::parse(body, nullptr, false);
  if (!parsed.is_object() || !parsed.contains("type") || !parsed["type"].is_string()) {
    return "";
  }
  return parsed["type"].get<std::string>();
}

std::string Answer::text() const {
  std::string out = std::to_string(status) + "\n";
  for (const Header& header : headers) {
    out += header.name + ": " + header.value + "\n";
  }
  return out + "\n" + body;
}

Request& Request::with(std::string_view name, std::string_view value) {
  headers.push_back({std::string(name), std::string(value)});
  return *this;
}

Request& Request::without(std::string_view name) {
  std::erase_if(headers, [&](const Header& header) { return same_name(header.name, name); });
  return *this;
}

std::string Request::bytes() const {
  std::string out = method + " " + target + " HTTP/1.1\r\n";
  bool host = false;
  bool framed = false;
  for (const Header& header : headers) {
    out += header.name + ": " + header.value + "\r\n";
    host = host || same_name(header.name, "Host");
    framed = framed || same_name(header.name, "Content-Length") ||
             same_name(header.name, "Transfer-Encoding");
  }
  if (!host) {
    out += "Host: localhost\r\n";
  }
  if (!framed && (!body.empty() || method == "POST")) {
    out += "Content-Length: " + std::to_string(body.size()) + "\r\n";
  }
  return out + "\r\n" + body;
}

Client::Client(std::uint16_t port, std::chrono::milliseconds patience)
    : port_(port), patience_(patience) {}

Client::Client(Client&& other) noexcept
    : port_(other.port_),
      patience_(other.patience_),
      socket_(std::exchange(other.socket_, -1)),
      buffer_(std::move(other.buffer_)) {}

Client& Client::operator=(Client&& other) noexcept {
  close();
  port_ = other.port_;
  patience_ = other.patience_;
  socket_ = std::exchange(other.socket_, -1);
  buffer_ = std::move(other.buffer_);
  return *this;
}

Client::~Client() { close(); }

void Client::connect() {
  close();
  socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port_);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (socket_ < 0 ||
      ::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    const int error = errno;
    close();
    throw std::system_error(error, std::generic_category(), "connect");
  }
  const int on = 1;
  ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

void Client::close() {
  if (socket_ >= 0) {
    ::close(std::exchange(socket_, -1));
  }
  buffer_.clear();
}

void Client::reset() {
  const linger at_once{1, 0};
  ::setsockopt(socket_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  close();
}

void Client::write(std::string_view bytes) {
  const Deadline deadline(patience_);
  while (!bytes.empty() && !deadline.passed()) {
    // MSG_NOSIGNAL, not an ignored SIGPIPE: children inherit what is ignored.
    const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) {
      continue;
    }
    if (sent < 0) {
      return;  // the answer, or the closed connection, is what the test looks at
    }
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

bool Client::receive_more(const Deadline& deadline) {
  pollfd ready{socket_, POLLIN, 0};
  if (::poll(&ready, 1, static_cast<int>(deadline.left().count())) <= 0) {
    throw std::runtime_error("no answer in time; so far: " + buffer_);
  }
  std::array<char, 16384> chunk;
  const ssize_t size = ::recv(socket_, chunk.data(), chunk.size(), 0);
  if (size <= 0) {
    return false;
  }
  buffer_.append(chunk.data(), static_cast<std::size_t>(size));
  return true;
}

std::string Client::take_until(std::string_view mark, const Deadline& deadline) {
  std::size_t at = buffer_.find(mark);
  while (at == std::string::npos) {
    if (!receive_more(deadline)) {
      throw std::runtime_error("connection closed before the answer was whole: " + buffer_);
    }
    at = buffer_.find(mark);
  }
  const std::string out = buffer_.substr(0, at);
  buffer_.erase(0, at + mark.size());
  return out;
}

std::string Client::take(std::size_t size, const Deadline& deadline) {
  while (buffer_.size() < size) {
    if (!receive_more(deadline)) {
      throw std::runtime_error("connection closed inside a body: " + buffer_);
    }
  }
  const std::string out = buffer_.substr(0, size);
  buffer_.erase(0, size);
  return out;
}

std::string Client::take_chunks(const Deadline& deadline) {
  std::string out;
  for (;;) {
    const std::size_t size = std::stoul(take_until("\r\n", deadline), nullptr, 16);
    out += take(size, deadline);
    take_until("\r\n", deadline);
    if (size == 0) {
      return out;
    }
  }
}

Answer Client::read(bool head_only) {
  const Deadline deadline(patience_);
  const std::string head = take_until("\r\n\r\n", deadline);
  if (!head.starts_with("HTTP/1.1 ") || head.size() < 12) {
    throw std::runtime_error("not an HTTP/1.1 answer: " + head);
  }
  Answer answer;
  answer.status = std::atoi(head.c_str() + 9);
  const std::size_t line_end = head.find("\r\n");
  if (line_end != std::string::npos) {
    answer.headers = parse_headers(std::string_view(head).substr(line_end + 2));
  }
  if (head_only || answer.status == 204 || answer.status == 304) {
    return answer;
  }
  if (const auto length = answer.header("Content-Length")) {
    answer.body = take(std::stoul(*length), deadline);
  } else if (answer.header("Transfer-Encoding")) {
    answer.body = take_chunks(deadline);
  } else {
    while (receive_more(deadline)) {
    }
    answer.body = std::exchange(buffer_, "");
  }
  return answer;
}

bool Client::answered(std::chrono::milliseconds budget) {
  pollfd ready{socket_, POLLIN, 0};
  return !buffer_.empty() || ::poll(&ready, 1, static_cast<int>(budget.count())) > 0;
}

bool Client::closed_by_peer(std::chrono::milliseconds budget) {
  pollfd ready{socket_, POLLIN, 0};
  if (!buffer_.empty() || ::poll(&ready, 1, static_cast<int>(budget.count())) <= 0) {
    return false;
  }
  char byte = 0;
  return ::recv(socket_, &byte, 1, MSG_PEEK) <= 0;
}

Answer Client::send(const Request& request) {
  if (connected() && closed_by_peer(0ms)) {
    close();
  }
  if (!connected()) {
    connect();
  }
  write(request.bytes());
  Answer answer = read(request.method == "HEAD");
  if (const auto connection = answer.header("Connection");
      connection && same_name(*connection, "close")) {
    close();
  }
  return answer;
}

}  // namespace support

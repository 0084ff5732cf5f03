// A small HTTP/1.1 client that sends exactly the bytes it is given and shows exactly the bytes that
// came back: header order, duplicates, a closed connection. Not a model client: it exists so that a
// test can be a badly behaved one. Blocking, one connection, one thread; every read has a deadline
// and throws std::runtime_error when it passes.
#pragma once

#include <chrono>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/waiting.hpp"

namespace support {

struct Header {
  std::string name;
  std::string value;
};

using Headers = std::vector<Header>;

struct Answer {
  int status = 0;
  Headers headers;
  std::string body;

  // The header's value (names compared without case), or nothing.
  std::optional<std::string> header(std::string_view name) const;
  std::size_t count(std::string_view name) const;
  bool replayed() const;        // Idempotent-Replayed: true
  nlohmann::json json() const;  // throws when the body is no JSON
  std::string type() const;     // of a problem document, or ""
  std::string text() const;     // for messages
};

struct Request {
  std::string method = "GET";
  std::string target = "/";
  Headers headers;  // Host and Content-Length are added when absent
  std::string body;

  Request& with(std::string_view name, std::string_view value);
  Request& without(std::string_view name);
  std::string bytes() const;
};

class Client {
 public:
  explicit Client(std::uint16_t port, std::chrono::milliseconds patience = 30s);
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  Client(Client&& other) noexcept;
  Client& operator=(Client&& other) noexcept;
  ~Client();

  // Connects when needed (also after the peer closed an idle connection), sends, reads one answer.
  Answer send(const Request& request);

  void connect();
  void write(std::string_view bytes);  // a peer that closed meanwhile is no error here
  Answer read(bool head_only = false);
  bool answered(std::chrono::milliseconds budget);  // something can be read
  bool connected() const { return socket_ >= 0; }
  // True when the peer has closed, or closes within the budget, with nothing more to read.
  bool closed_by_peer(std::chrono::milliseconds budget);
  void close();
  void reset();  // closes with RST

 private:
  bool receive_more(const Deadline& deadline);  // false at the end of the stream
  std::string take_until(std::string_view mark, const Deadline& deadline);
  std::string take(std::size_t size, const Deadline& deadline);
  std::string take_chunks(const Deadline& deadline);

  std::uint16_t port_;
  std::chrono::milliseconds patience_;
  int socket_ = -1;
  std::string buffer_;
};

bool same_name(std::string_view left, std::string_view right);  // ASCII, without case

}  // namespace support

// One HTTP request and one response, as values: what the edge hands to the routes and gets back.
//
// Deliberately not here: sockets, framing, JSON, routing. Whoever reads bytes makes a Request,
// whoever decides makes a Response; neither knows the other, so the routes do not depend on how
// bytes arrive.
//
// Threads: plain values. A Handler is called from any thread and may reply later, from any thread.
// Source: RFC 9110 (semantics), RFC 9112 (message syntax).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace oncepay::http {

// Field names compare without case (RFC 9110 section 5.1); values are the raw bytes between the
// colon and the end of the line without surrounding white space. Nothing is percent-decoded.
struct Header {
  std::string name;
  std::string value;
};

bool equals_ignoring_case(std::string_view a, std::string_view b);

struct Request {
  std::string method;  // as sent: methods are case-sensitive
  std::string target;  // raw request target, origin form: path and, after '?', the query
  std::vector<Header> headers;
  std::string body;  // the whole body, already de-chunked
  std::string remote_address;

  // The value if the field was sent exactly once; see count for none or several.
  [[nodiscard]] std::optional<std::string_view> header(std::string_view name) const;
  [[nodiscard]] std::size_t count(std::string_view name) const;
};

struct Response {
  int status = 500;
  std::vector<Header> headers;  // the edge adds Content-Length, Connection and Date itself
  std::string body;

  void set(std::string_view name, std::string_view value);
};

// Called exactly once for a request, from any thread. Never throws.
using Reply = std::function<void(Response)>;

// What stands behind the edge. handle() returns soon: whoever waits for the database replies later.
class Handler {
 public:
  virtual ~Handler() = default;
  virtual void handle(Request request, Reply reply) = 0;
  // Whether handle() of a POST with a small body takes about as long as waking another thread for
  // it would. It may be called on the edge's own thread then, where all connections wait for it.
  [[nodiscard]] virtual bool is_quick() const { return false; }
};

}  // namespace oncepay::http

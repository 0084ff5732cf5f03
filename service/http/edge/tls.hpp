// TLS on the edge: a certificate that can be replaced while connections run, and channels that use
// it.
//
// TLS 1.2 and newer, no renegotiation, no compression, no early data (it could be replayed by
// anybody on the way), HTTP/1.1 by ALPN. Connections keep the certificate they began with.
//
// Deliberately not here: client certificates, SNI.
//
// Threads: accept and reload from any thread; a channel is used by one at a time, and that thread
// has SIGPIPE blocked or ignored, since OpenSSL writes with write(2). Source: ssl(7),
// SSL_get_error(3), RFC 8446, RFC 7301.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "http/edge/channel.hpp"
#include "http/edge/config.hpp"
#include "http/edge/descriptor.hpp"

struct ssl_ctx_st;

namespace oncepay::http::edge {

class TlsContext {
 public:
  // Throws std::runtime_error that names the file and the reason.
  explicit TlsContext(TlsFiles files);

  // Reads both files again. What is wrong with them, if anything: then the old ones stay in use.
  [[nodiscard]] std::optional<std::string> reload();

  // Null when OpenSSL has no memory.
  [[nodiscard]] std::unique_ptr<Channel> accept(Descriptor socket);

 private:
  using Context = std::unique_ptr<ssl_ctx_st, void (*)(ssl_ctx_st*)>;
  [[nodiscard]] static Context load(const TlsFiles& files);

  const TlsFiles files_;
  std::mutex mutex_;
  Context context_;
};

}  // namespace oncepay::http::edge

#include "http/edge/tls.hpp"

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <climits>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace oncepay::http::edge {
namespace {

using Session = std::unique_ptr<SSL, void (*)(SSL*)>;

[[noreturn]] void fail(std::string_view what, const std::string& file) {
  const unsigned long error = ::ERR_peek_last_error();
  const char* const reason = error == 0 ? nullptr : ::ERR_reason_error_string(error);
  ::ERR_clear_error();
  throw std::runtime_error(fmt::format("cannot use {} {}: {}", what, file,
                                       reason == nullptr ? "unknown reason" : reason));
}

// A client that offers protocols and not HTTP/1.1 among them is told so instead of being
// misunderstood.
int choose_protocol(SSL* /*ssl*/, const unsigned char** chosen, unsigned char* chosen_size,
                    const unsigned char* offered, unsigned offered_size, void* /*unused*/) {
  // Static, because what is chosen is a pointer into it.
  static constexpr unsigned char ours[] = "\x08http/1.1";
  unsigned char* found = nullptr;
  const int outcome =
      ::SSL_select_next_proto(&found, chosen_size, ours, sizeof(ours) - 1, offered, offered_size);
  *chosen = found;
  return outcome == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

class TlsChannel final : public Channel {
 public:
  TlsChannel(Descriptor socket, Session session)
      : Channel(std::move(socket)), session_(std::move(session)) {}

  Io handshake() override {
    ::ERR_clear_error();
    const int outcome = ::SSL_accept(session_.get());
    return outcome == 1 ? Io::done : judge(outcome);
  }

  IoResult read(std::span<char> buffer) override {
    ::ERR_clear_error();
    const int size = static_cast<int>(std::min<std::size_t>(buffer.size(), INT_MAX));
    const int outcome = ::SSL_read(session_.get(), buffer.data(), size);
    if (outcome > 0) return {Io::done, static_cast<std::size_t>(outcome)};
    return {judge(outcome), 0};
  }

  IoResult write(std::string_view bytes) override {
    if (bytes.empty()) return {Io::done, 0};
    ::ERR_clear_error();
    const int size = static_cast<int>(std::min<std::size_t>(bytes.size(), INT_MAX));
    const int outcome = ::SSL_write(session_.get(), bytes.data(), size);
    if (outcome > 0) return {Io::done, static_cast<std::size_t>(outcome)};
    const Io io = judge(outcome);
    return {io == Io::ended ? Io::failed : io, 0};
  }

  void finish_writing() override {
    ::ERR_clear_error();
    if (!failed_) ::SSL_shutdown(session_.get());
    ::ERR_clear_error();
    Channel::finish_writing();
  }

  // OpenSSL keeps whole records to itself: only it can say that there is nothing more.
  [[nodiscard]] bool short_read_means_empty() const override { return false; }

 private:
  Io judge(int outcome) {
    switch (::SSL_get_error(session_.get(), outcome)) {
      case SSL_ERROR_WANT_READ:
      case SSL_ERROR_WANT_WRITE:
        return Io::blocked;
      case SSL_ERROR_ZERO_RETURN:
        return Io::ended;
      default:
        // After such an error SSL_shutdown must not be called (SSL_get_error(3)).
        failed_ = true;
        ::ERR_clear_error();
        return Io::failed;
    }
  }

  Session session_;
  bool failed_ = false;
};

}  // namespace

TlsContext::TlsContext(TlsFiles files) : files_(std::move(files)), context_(load(files_)) {}

TlsContext::Context TlsContext::load(const TlsFiles& files) {
  ::ERR_clear_error();
  Context context(::SSL_CTX_new(::TLS_server_method()), ::SSL_CTX_free);
  if (!context) fail("OpenSSL for", files.certificate);
  SSL_CTX* const raw = context.get();
  ::SSL_CTX_set_min_proto_version(raw, TLS1_2_VERSION);
  ::SSL_CTX_set_options(
      raw, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION | SSL_OP_CIPHER_SERVER_PREFERENCE);
  // A session cache of the server's would be memory that clients fill; tickets keep it on their
  // side.
  ::SSL_CTX_set_session_cache_mode(raw, SSL_SESS_CACHE_OFF);
  ::SSL_CTX_set_mode(raw, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                              SSL_MODE_RELEASE_BUFFERS);
  ::SSL_CTX_set_alpn_select_cb(raw, choose_protocol, nullptr);
  // An encrypted key fails instead of asking a terminal that a service does not have.
  ::SSL_CTX_set_default_passwd_cb(raw, [](char*, int, int, void*) { return -1; });
  if (::SSL_CTX_use_certificate_chain_file(raw, files.certificate.c_str()) != 1) {
    fail("certificate", files.certificate);
  }
  if (::SSL_CTX_use_PrivateKey_file(raw, files.key.c_str(), SSL_FILETYPE_PEM) != 1 ||
      ::SSL_CTX_check_private_key(raw) != 1) {
    fail("private key", files.key);
  }
  return context;
}

std::optional<std::string> TlsContext::reload() {
  try {
    Context fresh = load(files_);
    const std::lock_guard lock(mutex_);
    context_.swap(fresh);
    return std::nullopt;
  } catch (const std::runtime_error& fault) {
    return fault.what();
  }
}

std::unique_ptr<Channel> TlsContext::accept(Descriptor socket) {
  Session session(nullptr, ::SSL_free);
  {
    const std::lock_guard lock(mutex_);
    session.reset(::SSL_new(context_.get()));
  }
  if (!session || ::SSL_set_fd(session.get(), socket.get()) != 1) return nullptr;
  return std::make_unique<TlsChannel>(std::move(socket), std::move(session));
}

}  // namespace oncepay::http::edge

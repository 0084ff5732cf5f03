// TLS on the edge, with certificates made here and a client of OpenSSL's.
#include <doctest/doctest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "http/edge/raw_client.hpp"
#include "http/edge/test_handler.hpp"

namespace oncepay::http::edge::testing {
namespace {

using std::chrono::milliseconds;

template <typename T, void (*release)(T*)>
struct Release {
  void operator()(T* thing) const { release(thing); }
};
using Key = std::unique_ptr<EVP_PKEY, Release<EVP_PKEY, EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, Release<X509, X509_free>>;
using Context = std::unique_ptr<SSL_CTX, Release<SSL_CTX, SSL_CTX_free>>;
using Session = std::unique_ptr<SSL, Release<SSL, SSL_free>>;

// A folder with a key and a self-signed certificate that can be told by its serial number.
class Certificates {
 public:
  Certificates() {
    std::string name = "/tmp/edge-tls-XXXXXX";
    folder_ = ::mkdtemp(name.data());
    write(1);
  }
  ~Certificates() { std::filesystem::remove_all(folder_); }
  Certificates(const Certificates&) = delete;
  Certificates& operator=(const Certificates&) = delete;

  [[nodiscard]] TlsFiles files() const { return {folder_ + "/cert.pem", folder_ + "/key.pem"}; }

  void write(long serial) const {
    const Key key(::EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", "P-256"));
    const Certificate certificate(::X509_new());
    ::ASN1_INTEGER_set(::X509_get_serialNumber(certificate.get()), serial);
    ::X509_gmtime_adj(::X509_getm_notBefore(certificate.get()), 0);
    ::X509_gmtime_adj(::X509_getm_notAfter(certificate.get()), 3600);
    ::X509_set_pubkey(certificate.get(), key.get());
    X509_NAME* const name = ::X509_get_subject_name(certificate.get());
    ::X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                                 reinterpret_cast<const unsigned char*>("localhost"), -1, -1, 0);
    ::X509_set_issuer_name(certificate.get(), name);
    ::X509_sign(certificate.get(), key.get(), ::EVP_sha256());
    std::FILE* file = std::fopen(files().certificate.c_str(), "w");
    ::PEM_write_X509(file, certificate.get());
    std::fclose(file);
    file = std::fopen(files().key.c_str(), "w");
    ::PEM_write_PrivateKey(file, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
    std::fclose(file);
  }

 private:
  std::string folder_;
};

EdgeConfig with_tls(const Certificates& certificates) {
  EdgeConfig config = Edge::defaults();
  config.tls = certificates.files();
  return config;
}

class TlsClient {
 public:
  explicit TlsClient(std::uint16_t port, int version_max = 0, const std::string& alpn = "")
      : raw_(port), context_(::SSL_CTX_new(::TLS_client_method())) {
    ::SSL_CTX_set_min_proto_version(context_.get(), TLS1_VERSION);
    ::SSL_CTX_set_max_proto_version(context_.get(), version_max);
    ::SSL_CTX_set_security_level(context_.get(), 0);
    session_.reset(::SSL_new(context_.get()));
    if (!alpn.empty()) {
      ::SSL_set_alpn_protos(session_.get(), reinterpret_cast<const unsigned char*>(alpn.data()),
                            static_cast<unsigned>(alpn.size()));
    }
    ::SSL_set_fd(session_.get(), raw_.descriptor());
    connected = ::SSL_connect(session_.get()) == 1;
  }

  // All that comes back until the server closes: the request has to ask for that.
  std::string exchange(const std::string& bytes, int piece_bytes = 16 * 1024) {
    for (std::size_t at = 0; at < bytes.size(); at += static_cast<std::size_t>(piece_bytes)) {
      const std::string piece = bytes.substr(at, static_cast<std::size_t>(piece_bytes));
      if (::SSL_write(session_.get(), piece.data(), static_cast<int>(piece.size())) <= 0) return "";
    }
    std::string all;
    char buffer[16 * 1024];
    int count = 0;
    while ((count = ::SSL_read(session_.get(), buffer, sizeof(buffer))) > 0) {
      all.append(buffer, static_cast<std::size_t>(count));
    }
    farewell = ::SSL_get_error(session_.get(), count) == SSL_ERROR_ZERO_RETURN;
    return all;
  }

  [[nodiscard]] long serial() const {
    const Certificate certificate(::SSL_get1_peer_certificate(session_.get()));
    return certificate ? ::ASN1_INTEGER_get(::X509_get_serialNumber(certificate.get())) : 0;
  }

  RawClient& raw() { return raw_; }

  bool connected = false;
  bool farewell = false;  // the server closed with close_notify: nothing was cut off

 private:
  RawClient raw_;
  Context context_;
  Session session_;
};

const std::string closing = "Connection: close\r\n";

}  // namespace

TEST_CASE("over TLS requests are framed and answered as without it") {
  const Certificates certificates;
  Edge edge(with_tls(certificates));
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    TlsClient client(edge.port(), version);
    REQUIRE(client.connected);
    const std::string all = client.exchange(
        get("/echo?1") + post("/echo?2", closing + "Content-Length: 2\r\n", "{}"), 7);
    CHECK(all.find("GET /echo?1 []") != std::string::npos);
    CHECK(all.find("POST /echo?2 [{}]") != std::string::npos);
    CHECK(client.farewell);
  }
  TlsClient smuggler(edge.port());
  const std::string refused = smuggler.exchange(
      post("/echo", "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"));
  CHECK(refused.substr(0, 12) == "HTTP/1.1 400");
}

TEST_CASE("over TLS large bodies go both ways whole") {
  const Certificates certificates;
  Edge edge(with_tls(certificates));
  const std::string body(65'536, 'x');
  TlsClient up(edge.port());
  CHECK(up.exchange(post("/echo", closing + "Content-Length: 65536\r\n", body)).find(body) !=
        std::string::npos);
  TlsClient down(edge.port());
  CHECK(down.exchange(get("/big", closing)).size() > 900'000);
  CHECK(down.farewell);
}

TEST_CASE("TLS older than 1.2 and clients that want another protocol are refused") {
  const Certificates certificates;
  Edge edge(with_tls(certificates));
  CHECK_FALSE(TlsClient(edge.port(), TLS1_1_VERSION).connected);
  CHECK_FALSE(TlsClient(edge.port(), 0, "\x02h2").connected);
  CHECK(TlsClient(edge.port(), 0, "\x02h2\x08http/1.1").connected);
  CHECK(comes_true([&] { return edge.counters().tls_handshakes_failed == 2; }));
}

TEST_CASE("G9 a handshake has a deadline, and what is no handshake is closed") {
  const Certificates certificates;
  EdgeConfig config = with_tls(certificates);
  config.handshake_deadline = milliseconds(100);
  Edge edge(config);
  RawClient silent(edge.port());
  CHECK(silent.is_closed());
  CHECK(edge.counters().deadlines_handshake == 1);
  RawClient plain(edge.port());
  plain.send(get("/echo"));
  REQUIRE(plain.readable_within(patience));
  CHECK(comes_true([&] { return edge.counters().tls_handshakes_failed == 1; }));
  CHECK(TlsClient(edge.port()).connected);
  CHECK(edge.handler.reached == 0);
}

TEST_CASE("a certificate is replaced while connections run, and a bad one is not taken") {
  const Certificates certificates;
  Edge edge(with_tls(certificates));
  TlsClient before(edge.port());
  CHECK(before.serial() == 1);
  certificates.write(2);
  CHECK_FALSE(edge.server.reload_tls());
  CHECK(TlsClient(edge.port()).serial() == 2);
  CHECK(before.exchange(get("/echo", closing)).find("GET /echo []") != std::string::npos);

  std::ofstream(certificates.files().certificate) << "no certificate";
  const auto fault = edge.server.reload_tls();
  REQUIRE(fault);
  CHECK(fault->find("cannot use certificate " + certificates.files().certificate) == 0);
  CHECK(TlsClient(edge.port()).serial() == 2);

  Certificates other;
  std::filesystem::copy_file(other.files().certificate, certificates.files().certificate,
                             std::filesystem::copy_options::overwrite_existing);
  REQUIRE(edge.server.reload_tls());
  CHECK(TlsClient(edge.port()).serial() == 2);
}

TEST_CASE("a server whose certificate cannot be read does not start") {
  const Certificates certificates;
  EdgeConfig config = with_tls(certificates);
  config.tls->key = "/nonexistent/key.pem";
  CHECK_THROWS_WITH(Edge{config}, doctest::Contains("cannot use private key /nonexistent/key.pem"));
}

TEST_CASE("G9 hundreds of TLS clients that reset the connection at any point change nothing") {
  const Certificates certificates;
  Edge edge(with_tls(certificates));
  for (int i = 0; i < 200; ++i) {
    TlsClient client(edge.port());
    if (i % 2 == 0) client.raw().reset();
  }
  CHECK(comes_true([&] { return edge.counters().connections_now == 0; }));
  CHECK(TlsClient(edge.port()).exchange(get("/echo", closing)).find("200 OK") != std::string::npos);
}

}  // namespace oncepay::http::edge::testing

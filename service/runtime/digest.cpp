#include "runtime/digest.hpp"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>

#include <memory>
#include <stdexcept>

namespace oncepay::runtime {
namespace {

struct FreeDigest {
  void operator()(EVP_MD* digest) const { EVP_MD_free(digest); }
};
struct FreeContext {
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};

// Looking the algorithm up costs four times as much as hashing a short text, so it is done once.
const EVP_MD* sha256_algorithm() {
  static const std::unique_ptr<EVP_MD, FreeDigest> algorithm(
      EVP_MD_fetch(nullptr, "SHA256", nullptr));
  if (!algorithm) throw std::runtime_error("OpenSSL has no SHA-256");
  return algorithm.get();
}

}  // namespace

std::string sha256(std::string_view bytes) {
  const EVP_MD* algorithm = sha256_algorithm();
  thread_local const std::unique_ptr<EVP_MD_CTX, FreeContext> context(EVP_MD_CTX_new());
  std::string digest(32, '\0');
  if (!context || EVP_DigestInit_ex2(context.get(), algorithm, nullptr) != 1 ||
      EVP_DigestUpdate(context.get(), bytes.data(), bytes.size()) != 1 ||
      EVP_DigestFinal_ex(context.get(), reinterpret_cast<unsigned char*>(digest.data()), nullptr) !=
          1) {
    throw std::runtime_error("OpenSSL could not compute a SHA-256");
  }
  return digest;
}

std::string to_hex(std::string_view bytes) {
  static constexpr std::string_view digits = "0123456789abcdef";
  std::string hex;
  hex.reserve(bytes.size() * 2);
  for (const char raw : bytes) {
    const auto byte = static_cast<unsigned char>(raw);
    hex += digits[byte >> 4U];
    hex += digits[byte & 0xfU];
  }
  return hex;
}

std::string short_hash(std::string_view text) { return to_hex(sha256(text).substr(0, 6)); }

bool equal_secrets(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

std::string random_bytes(std::size_t count) {
  std::string bytes(count, '\0');
  if (RAND_bytes(reinterpret_cast<unsigned char*>(bytes.data()), static_cast<int>(count)) != 1) {
    throw std::runtime_error("OpenSSL has no random bytes");
  }
  return bytes;
}

}  // namespace oncepay::runtime

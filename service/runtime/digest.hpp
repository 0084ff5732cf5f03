// SHA-256, secret comparison and random bytes from OpenSSL.
//
// Deliberately not here: what is hashed and why (see once/fingerprint.hpp, access/api_key.hpp).
// Threads: any; the digest context is per thread. Errors: std::runtime_error when OpenSSL fails (no
// entropy).
// Source: FIPS 180-4; OpenSSL 3 EVP_MD_fetch, RAND_bytes, CRYPTO_memcmp.
#pragma once

#include <string>
#include <string_view>

namespace oncepay::runtime {

// 32 raw bytes.
std::string sha256(std::string_view bytes);

std::string to_hex(std::string_view bytes);  // lower case

// First 12 hex digits of the SHA-256: tells two values apart in logs without naming them.
std::string short_hash(std::string_view text);

// Time does not depend on where the two differ.
bool equal_secrets(std::string_view a, std::string_view b);

std::string random_bytes(std::size_t count);

}  // namespace oncepay::runtime

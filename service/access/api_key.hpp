// An API key as a text: `opk_` and 43 base64url characters, which are 32 random bytes.
//
// With 256 random bits a key needs no salt and no slow hash: nobody can guess one, and nobody can
// search for one whose SHA-256 he has. The prefix lets scanners find keys that were published by
// mistake.
//
// Threads: any.
// Source: RFC 4648 section 5 (base64url, here without padding).
#pragma once

#include <string>
#include <string_view>

namespace oncepay::access {

std::string make_api_key();

// Whether it has the form of one. What has not cannot be in the database.
bool is_api_key(std::string_view text);

// What is stored of it: 32 raw bytes.
std::string digest_of_api_key(std::string_view api_key);

}  // namespace oncepay::access

#include "runtime/digest.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>
#include <thread>
#include <vector>

using namespace oncepay::runtime;

TEST_CASE("a SHA-256 is the one that FIPS 180-4 computes") {
  CHECK(to_hex(sha256("")) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(to_hex(sha256("abc")) ==
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(to_hex(sha256(std::string(1'000'000, 'a'))) ==
        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  CHECK(sha256(std::string_view("a\0b", 3)) != sha256("a"));
}

TEST_CASE("threads compute digests at the same time") {
  std::vector<std::string> digests(4);
  {
    std::vector<std::jthread> threads;
    for (auto& digest : digests) {
      threads.emplace_back([&digest] {
        for (int round = 0; round < 1000; ++round) digest = sha256("abc");
      });
    }
  }
  for (const auto& digest : digests) CHECK(digest == sha256("abc"));
}

TEST_CASE("a short hash tells values apart and names none") {
  CHECK(short_hash("abc") == "ba7816bf8f01");
  CHECK(short_hash("abd") != short_hash("abc"));
}

TEST_CASE("secrets are equal only when all of their bytes are") {
  CHECK(equal_secrets("", ""));
  CHECK(equal_secrets("secret", "secret"));
  CHECK_FALSE(equal_secrets("secret", "secreT"));
  CHECK_FALSE(equal_secrets("secret", "secre"));
  CHECK_FALSE(equal_secrets(std::string_view("a\0b", 3), std::string_view("a\0c", 3)));
}

TEST_CASE("random bytes do not come twice") {
  std::set<std::string> seen;
  for (int round = 0; round < 1000; ++round) seen.insert(random_bytes(16));
  CHECK(seen.size() == 1000);
  CHECK(random_bytes(0).empty());
}

#include "access/api_key.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>
#include <vector>

#include "runtime/digest.hpp"

using namespace oncepay::access;

TEST_CASE("an API key is opk_ and 43 base64url characters, never the same twice") {
  std::set<std::string> keys;
  for (int round = 0; round < 1000; ++round) {
    const std::string key = make_api_key();
    CHECK(is_api_key(key));
    keys.insert(key);
  }
  CHECK(keys.size() == 1000);
}

TEST_CASE("what has not the form of an API key is none") {
  const std::string key = make_api_key();
  const std::vector<std::string> wrong{"",
                                       "opk_",
                                       key.substr(0, key.size() - 1),
                                       key + "A",
                                       "OPK_" + key.substr(4),
                                       " " + key,
                                       key.substr(0, 20) + "+" + key.substr(21),
                                       key.substr(0, 20) + "=" + key.substr(21),
                                       key.substr(0, 20) + std::string(1, '\0') + key.substr(21),
                                       key.substr(0, 20) + "\n" + key.substr(21)};
  for (const auto& text : wrong) {
    CAPTURE(text);
    CHECK_FALSE(is_api_key(text));
  }
}

TEST_CASE("of an API key its SHA-256 is stored") {
  CHECK(digest_of_api_key("opk_x") == oncepay::runtime::sha256("opk_x"));
}

#include "runtime/uuid.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <string>
#include <thread>
#include <vector>

using namespace oncepay::runtime;

TEST_CASE("an id is a UUID of version 7 that begins with the time") {
  const auto now_ms = [] {
    return std::chrono::duration_cast<std::chrono::milliseconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
  };
  const auto before = now_ms();
  const std::string id = make_uuid_v7();
  const auto after = now_ms();

  REQUIRE(is_uuid(id));
  CHECK(id[14] == '7');
  CHECK(std::string("89ab").find(id[19]) != std::string::npos);
  CHECK(std::none_of(id.begin(), id.end(), [](char c) { return c >= 'A' && c <= 'F'; }));
  const auto time = std::stoll(id.substr(0, 8) + id.substr(9, 4), nullptr, 16);
  CHECK(time >= before);
  CHECK(time <= after + 1);
}

TEST_CASE("ids of one thread rise strictly, also many within a millisecond") {
  std::string last = make_uuid_v7();
  bool rising = true;
  for (int round = 0; round < 100'000; ++round) {
    std::string next = make_uuid_v7();
    rising = rising && last < next;
    last = std::move(next);
  }
  CHECK(rising);
}

TEST_CASE("ids of all threads differ in their ordered half") {
  constexpr std::size_t threads = 4;
  constexpr std::size_t ids = 10'000;
  std::vector<std::vector<std::string>> made(threads);
  {
    std::vector<std::jthread> makers;
    for (auto& mine : made) {
      makers.emplace_back([&mine] {
        while (mine.size() < ids) mine.push_back(make_uuid_v7());
      });
    }
  }
  std::set<std::string> ordered_halves;
  for (const auto& mine : made) {
    CHECK(std::is_sorted(mine.begin(), mine.end()));
    for (const auto& id : mine) ordered_halves.insert(id.substr(0, 18));
  }
  CHECK(ordered_halves.size() == threads * ids);
}

TEST_CASE("a UUID is 8-4-4-4-12 hexadecimal digits and nothing else") {
  CHECK(is_uuid("9b2c6f0e-6f0e-4d0e-9a58-2b8f6a1c7d11"));
  CHECK(is_uuid("9B2C6F0E-6F0E-4D0E-9A58-2B8F6A1C7D11"));
  CHECK(is_uuid("00000000-0000-0000-0000-000000000000"));
  for (const char* text :
       {"", "9b2c6f0e6f0e4d0e9a582b8f6a1c7d11", "{9b2c6f0e-6f0e-4d0e-9a58-2b8f6a1c7d11}",
        "9b2c6f0e-6f0e-4d0e-9a58-2b8f6a1c7d1", "9b2c6f0e-6f0e-4d0e-9a58-2b8f6a1c7d111",
        "9b2c6f0g-6f0e-4d0e-9a58-2b8f6a1c7d11", "9b2c6f0e-6f0e-4d0e-9a582-b8f6a1c7d11",
        " b2c6f0e-6f0e-4d0e-9a58-2b8f6a1c7d11"}) {
    CAPTURE(text);
    CHECK_FALSE(is_uuid(text));
  }
}

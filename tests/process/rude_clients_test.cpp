// G9: nothing that a client sends, in any order or speed, ends the process or keeps others from
// being served: resets, half requests, idle crowds, bytes at random.
#include <doctest/doctest.h>

#include <random>
#include <thread>

#include "support/names.hpp"
#include "support/problem.hpp"
#include "support/shop.hpp"

namespace {

using namespace support;

Shop& shop() {
  static Shop instance;
  return instance;
}

const Payment& standing_payment() {
  static const Payment payment = shop().payment_between_new_accounts(1, 1'000'000);
  return payment;
}

// "Good requests < 1 s", however others behave.
void expect_served_promptly() {
  for (int i = 0; i < 3; ++i) {
    const Stopwatch watch;
    expect_succeeded(shop().caller().pay(fresh_key(), standing_payment()));
    CHECK(shop().instance.ready());
    CHECK(watch.elapsed() < 1s);
  }
}

std::int64_t resident_kib() {
  const std::string status =
      contents_of("/proc/" + std::to_string(shop().instance.pid()) + "/status");
  return std::stoll(status.substr(status.find("VmRSS:") + 6));
}

}  // namespace

TEST_CASE("HTP-11 a thousand clients that reset their connection do not end the process") {
  const Payment payment = shop().payment_between_new_accounts(1, 1'000'000);
  std::vector<std::string> keys;
  for (int i = 0; i < 1000; ++i) {
    if (i % 4 != 3) {
      keys.push_back(fresh_key());  // else the last one again: a replay that nobody reads
    }
    Client client(shop().instance.port());
    client.connect();
    client.write(shop().caller().payment_request(keys.back(), payment).bytes());
    client.reset();
  }
  REQUIRE(shop().instance.alive());
  Caller caller = shop().caller();
  for (const std::string& key : keys) {
    CHECK(caller.pay_waiting(key, payment, 20).status == 201);
  }
  CHECK(shop().database.sql().number("SELECT max(n) FROM (SELECT count(*) AS n FROM payments"
                                     " GROUP BY tenant_id, idempotency_key) counts") == 1);
  CHECK(caller.balance_of(payment.destination) == static_cast<std::int64_t>(keys.size()));
  expect_recovered(shop());
}

TEST_CASE("clients that close while their answer is written do not end the process") {
  const std::string request = shop().caller().get_request("/v1/payments?limit=100").bytes();
  std::string many;
  for (int i = 0; i < 50; ++i) {
    many += request;
  }
  for (int i = 0; i < 40; ++i) {
    Client client(shop().instance.port());
    client.connect();
    client.write(many);
    client.read();
    client.reset();
  }
  CHECK(shop().instance.alive());
  expect_served_promptly();
}

TEST_CASE("HTP-06 half requests and idle connections, 100 of each, keep nobody from being served") {
  std::vector<Client> crowd;
  const std::string whole =
      shop().caller().payment_request(fresh_key(), standing_payment()).bytes();
  for (std::size_t i = 0; i < 100; ++i) {
    crowd.emplace_back(shop().instance.port());
    crowd.back().connect();
    crowd.back().write(whole.substr(0, 1 + i * (whole.size() - 2) / 100));
  }
  for (int i = 0; i < 100; ++i) {
    crowd.emplace_back(shop().instance.port());
    CHECK(crowd.back().send({"GET", "/healthz", {}, ""}).status == 200);
  }
  expect_served_promptly();
  // One of the halves goes on, slowly, and is still a good client.
  for (std::size_t i = 90; i < 100; ++i) {
    crowd[i].write(whole.substr(1 + i * (whole.size() - 2) / 100));
  }
  CHECK(crowd[90].read().status != 0);
  expect_served_promptly();
  expect_recovered(shop());
}

TEST_CASE("HTP-06 a request that never becomes whole is given up: nobody keeps a place for ever") {
  std::vector<Client> crowd;
  for (const char* half :
       {"P", "POST /v1/payments HTTP/1.1\r\nHo",
        "POST /v1/payments HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n{"}) {
    crowd.emplace_back(shop().instance.port());
    crowd.back().connect();
    crowd.back().write(half);
  }
  const bool given_up = eventually(
      [&] {
        for (Client& client : crowd) {
          // A byte now and then must not buy more time than the whole request has.
          client.write(" ");
        }
        return std::all_of(crowd.begin(), crowd.end(),
                           [](Client& client) { return client.answered(0ms); });
      },
      60s, 500ms);
  CHECK(given_up);
  expect_recovered(shop());
}

TEST_CASE("bytes at random never end the process") {
  const auto seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937 random(seed);
  const std::string good = shop().caller().payment_request(fresh_key(), standing_payment()).bytes();
  for (int i = 0; i < 400; ++i) {
    std::string bytes = good;
    for (unsigned damage = random() % 4 + 1; damage > 0; --damage) {
      const std::size_t at = random() % bytes.size();
      switch (random() % 4) {
        case 0:
          bytes[at] = static_cast<char>(random());
          break;
        case 1:
          bytes.erase(at, random() % 20);
          break;
        case 2:
          bytes.insert(at, std::string(random() % 50, static_cast<char>(random())));
          break;
        default:
          bytes.insert(at, bytes.substr(random() % bytes.size(), 30));
      }
    }
    Client client(shop().instance.port());
    client.connect();
    client.write(bytes);
    client.answered(2ms);
  }
  CHECK(shop().instance.alive());
  expect_recovered(shop());
}

TEST_CASE("large bodies that are refused cost no memory that stays") {
  const std::string large(4'000'000, 'x');
  const auto refuse_some = [&](int times) {
    for (int i = 0; i < times; ++i) {
      Request request = shop().caller().payment_request(fresh_key(), standing_payment());
      request.body = large;
      Client client(shop().instance.port());
      CHECK(client.send(request).status == 413);
    }
  };
  refuse_some(5);
  const std::int64_t before = resident_kib();
  refuse_some(30);
  CHECK(resident_kib() - before < 30'000);
  expect_served_promptly();
}

// What the log tells and what it must never hold: traces of callers, slow batches with the time of
// each statement, a level that changes while it runs; no API key, no idempotency key, no password.
#include <doctest/doctest.h>
#include <signal.h>

#include <sstream>

#include "support/holds.hpp"
#include "support/names.hpp"
#include "support/problem.hpp"
#include "support/scrape.hpp"
#include "support/shop.hpp"
#include "support/wire.hpp"

namespace {

using namespace support;

Shop& shop() {
  static Shop instance({"--slow-batch=300", "--lock-timeout=5000"});
  return instance;
}

const Payment& standing_payment() {
  static const Payment payment = shop().payment_between_new_accounts(1, 1'000'000);
  return payment;
}

// The lines with that message, as objects.
std::vector<nlohmann::json> lines_of(const Instance& instance, const std::string& message) {
  std::vector<nlohmann::json> found;
  std::istringstream lines(instance.log());
  for (std::string line; std::getline(lines, line);) {
    const auto entry = nlohmann::json::parse(line, nullptr, false);
    if (entry.is_object() && entry.value("msg", "") == message) found.push_back(entry);
  }
  return found;
}

// The line that tells how a request was answered, once it is there.
nlohmann::json answered(const std::string& request_id) {
  nlohmann::json found;
  CHECK(eventually([&] {
    for (const auto& line : lines_of(shop().instance, "answered")) {
      if (line.at("request_id") == request_id) found = line;
    }
    return !found.is_null();
  }));
  return found;
}

nlohmann::json answered_with(const std::string& request_id,
                             const std::vector<std::string>& traceparents) {
  Caller caller = shop().caller();
  Request request = caller.get_request("/v1/payments");
  request.with(headers::request_id, request_id);
  for (const std::string& field : traceparents) request.headers.push_back({"traceparent", field});
  CHECK(caller.send(request).status == 200);
  return answered(request_id);
}

bool holds(const std::string& text, const std::string& secret) {
  return text.find(secret) != std::string::npos;
}

}  // namespace

TEST_CASE("the caller's trace stands in the line of its request, and nobody else's") {
  const std::string trace = "4bf92f3577b34da6a3ce929d0e0e4736";
  const auto line = answered_with("traced-1", {"00-" + trace + "-00f067aa0ba902b7-01"});
  CHECK(line.at("trace_id") == trace);
  CHECK(line.at("parent_id") == "00f067aa0ba902b7");
  CHECK(answered_with("traced-2", {}).at("trace_id") == "");
}

TEST_CASE("a malformed or doubled traceparent is ignored: the request is served as without it") {
  const std::string well_formed = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  CHECK(answered_with("traced-3", {"00-nonsense"}).at("trace_id") == "");
  CHECK(answered_with("traced-4", {well_formed, well_formed}).at("trace_id") == "");
}

TEST_CASE("a batch slower than --slow-batch is logged with the time of each of its statements") {
  Caller caller = shop().caller();
  expect_succeeded(caller.pay(fresh_key(), standing_payment()));
  CHECK(lines_of(shop().instance, "slow batch").empty());
  AccountHold hold(shop().database, shop().tenant.id, standing_payment().source);
  caller.client().connect();
  caller.client().write(caller.payment_request(fresh_key(), standing_payment()).bytes());
  REQUIRE(hold.somebody_waits());
  std::this_thread::sleep_for(500ms);  // the slowness itself
  hold.release();
  CHECK(caller.client().read().status == 201);
  REQUIRE(eventually([] { return lines_of(shop().instance, "slow batch").size() == 1; }));
  const auto line = lines_of(shop().instance, "slow batch").front();
  CHECK(line.at("level") == "warning");
  CHECK(line.at("operations") == 1);
  CHECK(line.at("ms").get<double>() >= 400);
  CHECK(line.at("execute_ms").get<double>() >= 400);
  CHECK(line.at("claim_ms").get<double>() < 400);
  for (const char* statement :
       {"once.claim_keys=", "payments.lock_accounts=", "payments.settle_payments="}) {
    CHECK(holds(line.at("statements").get<std::string>(), statement));
  }
}

TEST_CASE("SIGUSR1 turns debug lines on and off while payments go on") {
  Caller caller = shop().caller();
  const auto debug_lines = [] { return lines_of(shop().instance, "batch").size(); };
  expect_succeeded(caller.pay(fresh_key(), standing_payment()));
  CHECK(debug_lines() == 0);
  REQUIRE(kill(shop().instance.pid(), SIGUSR1) == 0);
  REQUIRE(eventually([] { return lines_of(shop().instance, "log level").size() == 1; }));
  expect_succeeded(caller.pay(fresh_key(), standing_payment()));
  CHECK(eventually([&] { return debug_lines() >= 1; }));
  REQUIRE(kill(shop().instance.pid(), SIGUSR1) == 0);
  REQUIRE(eventually([] { return lines_of(shop().instance, "log level").size() == 2; }));
  const auto before = debug_lines();
  expect_succeeded(caller.pay(fresh_key(), standing_payment()));
  CHECK(debug_lines() == before);
  CHECK(lines_of(shop().instance, "log level").back().at("to") == "info");
}

TEST_CASE("a signal for the log does not end an instance that drains") {
  Instance draining(shop().database, {"--shutdown-delay=1"});
  draining.ask_to_stop();
  REQUIRE(eventually([&] { return !lines_of(draining, "draining").empty(); }));
  REQUIRE(kill(draining.pid(), SIGUSR1) == 0);
  CHECK(draining.wait_for_exit() == 0);
  CHECK_FALSE(lines_of(draining, "stopped").empty());
}

TEST_CASE("no secret is in log, metrics or outputs over a full run, not even of a lost database") {
  // The server trusts this user, so any password lets it in; where it goes is what counts.
  const std::string password = "sesame-open-4711";
  Database database;
  Wire wire(database);
  std::string url = wire.url();
  url.insert(url.find('@'), ":" + password);
  const Instance instance(url, {"--log-level=debug", "--cleanup-interval=1"});
  const Tenant tenant = create_tenant(database);
  Caller caller(instance, tenant);
  const std::string key = "order-of-" + fresh_key();
  const Payment payment{60, "EUR", caller.open_funded_account(100), caller.open_account()};
  Payment unknown = payment;
  unknown.destination = fresh_name("nowhere:");
  CHECK(caller.pay(key, payment).status == 201);
  CHECK(caller.pay(key, payment).replayed());
  CHECK(caller.pay(key, payment.of(7)).status == 422);
  CHECK(caller.pay(key + "-declined", payment).status == 402);
  CHECK(caller.pay(key + "-refused", unknown).status == 422);
  CHECK(caller.get("/v1/idempotency-keys/" + key).status == 200);
  CHECK(caller.get("/v1/payments?idempotency_key=" + key).status == 200);
  wire.cut();
  CHECK(eventually([&] { return !instance.ready(); }));
  CHECK(caller.pay(key + "-away", payment).status == 503);
  wire.mend();
  CHECK(eventually([&] { return instance.ready(); }));
  CHECK(eventually([&] { return caller.pay(key + "-back", payment.of(1)).status == 201; }));
  const Finished refused = run(oncepay(
      {"verify"},
      {{"ONCEPAY_DATABASE_URL", "postgresql://postgres:" + password + "@127.0.0.1:1/" + key}}));
  CHECK(refused.exit_code == 1);
  const std::string metrics = Client(instance.port()).send({"GET", "/metrics", {}, ""}).body;
  for (const std::string& text : {instance.log(), metrics, refused.all()}) {
    REQUIRE_FALSE(text.empty());
    CHECK_FALSE(holds(text, password));
    CHECK_FALSE(holds(text, "order-of-"));
    CHECK_FALSE(holds(text, tenant.api_key.substr(4)));
    CHECK_FALSE(holds(text, "opk_"));
  }
  CHECK(holds(instance.log(), "\"level\":\"debug\""));
  CHECK(holds(instance.log(), "lane cannot connect"));
}

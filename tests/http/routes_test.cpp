// The routes in front of a database that is away: everything that needs none is answered as always,
// everything else says 503 at once. With a database they are tested by the process tests.
#include "http/routes.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <future>
#include <optional>

#include "http/render.hpp"
#include "payments/executors.hpp"

using namespace oncepay;
using namespace oncepay::http;
using namespace std::chrono_literals;

namespace {

db::ConnectionSettings nowhere() {
  db::ConnectionSettings settings;
  settings.url = "postgresql://oncepay@127.0.0.1:1/oncepay";
  settings.connect_timeout = 1s;
  return settings;
}

once::EngineSettings engine_settings() {
  once::EngineSettings settings;
  settings.database = nowhere();
  settings.lanes = 1;
  return settings;
}

struct Stand {
  runtime::Log log{runtime::LogLevel::error};
  runtime::Metrics metrics;
  db::Pool reads{nowhere(), 2, 100ms};
  access::Authenticator authenticator{reads, 1s, 100};
  payments::PaymentExecutor payments{make_renderers(), metrics};
  payments::AccountExecutor accounts{make_renderers(), metrics};
  once::Engine engine{engine_settings(), reads, log, metrics};
  runtime::ThreadPool blocking;
  std::optional<Routes> routes;

  explicit Stand(std::size_t queue_max = 100) : blocking(1, queue_max) {
    routes.emplace(RoutesParts{engine, reads, authenticator, blocking, blocking, log, metrics,
                               payments, accounts},
                   RoutesSettings{once::KeyFormat::any, AnswerLog::Lines::off});
  }

  Response send(std::string method, std::string target, std::vector<Header> headers = {}) {
    Request request;
    request.method = std::move(method);
    request.target = std::move(target);
    request.headers = std::move(headers);
    std::promise<Response> answered;
    routes->handle(std::move(request),
                   [&answered](Response response) { answered.set_value(std::move(response)); });
    auto answer = answered.get_future();
    REQUIRE(answer.wait_for(10s) == std::future_status::ready);
    return answer.get();
  }
};

std::string header_of(const Response& response, std::string_view name) {
  for (const auto& field : response.headers)
    if (field.name == name) return field.value;
  return {};
}

// "401 unauthorized", "200": the status and, of a problem document, its slug.
std::string summary(const Response& response) {
  constexpr std::string_view before = "{\"type\":\"/problems/";
  auto text = std::to_string(response.status);
  if (!response.body.starts_with(before)) return text;
  const auto slug = std::string_view(response.body).substr(before.size());
  return text.append(" ").append(slug.substr(0, slug.find('"')));
}

// Well-formed, so that only the database could tell whose it is.
const std::vector<Header> some_key = {
    {"Authorization", "Bearer opk_0123456789-abcdefghijklmnopqrstuvwxyzABCDEF"}};

}  // namespace

TEST_CASE("without a database everything that needs none is answered in the contract's order") {
  struct Attempt {
    std::string method;
    std::string target;
    std::vector<Header> headers;
    std::string answer;
    std::string allow;
  };
  const Attempt attempts[] = {
      {"GET", "/healthz", {}, "200", ""},
      {"HEAD", "/healthz", {}, "200", ""},
      {"OPTIONS", "/healthz", {}, "204", "GET, HEAD, OPTIONS"},
      {"POST", "/healthz", {}, "405 method-not-allowed", "GET, HEAD, OPTIONS"},
      {"FOO", "/metrics", {}, "405 method-not-allowed", "GET, HEAD, OPTIONS"},
      {"GET", "/healthz?verbose", {}, "400 invalid-request", ""},
      {"GET", "/readyz", {}, "503 unavailable", ""},
      {"GET", "/metrics", {}, "200", ""},
      {"GET", "/", {}, "404 not-found", ""},
      {"GET", "/v2/payments", some_key, "404 not-found", ""},
      {"OPTIONS", "*", {}, "404 not-found", ""},
      // Row 2 comes before rows 3 to 6.
      {"GET", "/v1/payments", {}, "401 unauthorized", ""},
      {"POST", "/v1/payments", {}, "401 unauthorized", ""},
      {"GET", "/v1/nothing", {}, "401 unauthorized", ""},
      {"FOO", "/v1/payments", {}, "401 unauthorized", ""},
      {"OPTIONS", "/v1/payments", {}, "401 unauthorized", ""},
      {"GET", "/v1/payments", {{"Authorization", "Basic x"}}, "401 unauthorized", ""},
      {"GET",
       "/v1/payments",
       {{"Authorization", "Bearer a"}, {"Authorization", "Bearer a"}},
       "401 unauthorized",
       ""},
      // Whose key it is only the database knows.
      {"GET", "/v1/payments", some_key, "503 unavailable", ""},
      {"POST", "/v1/payments", some_key, "503 unavailable", ""},
  };
  Stand stand;
  for (const auto& attempt : attempts) {
    CAPTURE(attempt.method);
    CAPTURE(attempt.target);
    const auto response = stand.send(attempt.method, attempt.target, attempt.headers);
    CHECK(summary(response) == attempt.answer);
    CHECK(header_of(response, "Allow") == attempt.allow);
    CHECK(header_of(response, "Cache-Control") == "no-store");
    CHECK_FALSE(header_of(response, "X-Request-Id").empty());
    CHECK(header_of(response, "WWW-Authenticate") == (response.status == 401 ? "Bearer" : ""));
    CHECK(header_of(response, "Retry-After").empty() == (response.status != 503));
  }
}

TEST_CASE("a pool that is full is answered as overload") {
  Stand stand(0);
  CHECK(summary(stand.send("GET", "/v1/payments", some_key)) == "503 overloaded");
  CHECK(summary(stand.send("GET", "/healthz")) == "200");
}

TEST_CASE("what is under way when the routes end is answered all the same") {
  Stand stand;
  std::promise<std::string> answered;
  Request request;
  request.method = "GET";
  request.target = "/v1/payments";
  request.headers = some_key;
  stand.routes->handle(std::move(request),
                       [&answered](Response response) { answered.set_value(summary(response)); });
  stand.routes.reset();
  auto answer = answered.get_future();
  REQUIRE(answer.wait_for(10s) == std::future_status::ready);
  CHECK(answer.get() == "503 unavailable");
}

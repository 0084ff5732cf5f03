#include "http/exchange.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <stdexcept>

#include "db/errors.hpp"

using namespace oncepay;
using namespace oncepay::http;

namespace {

// A request under way, and what its client has received.
struct Client {
  runtime::Log log{runtime::LogLevel::error};
  runtime::Metrics metrics;
  std::shared_ptr<AnswerLog> answers =
      std::make_shared<AnswerLog>(log, metrics, AnswerLog::Lines::off);
  std::optional<Response> received;
  int replies = 0;

  ExchangePtr send(std::string method, std::vector<Header> headers = {},
                   std::string_view route = "/v1/payments") {
    Request request;
    request.method = std::move(method);
    request.target = "/v1/payments";
    request.headers = std::move(headers);
    auto exchange = std::make_shared<Exchange>(
        std::move(request),
        [this](Response response) {
          received = std::move(response);
          ++replies;
        },
        answers);
    exchange->set_route(route);
    return exchange;
  }
  [[nodiscard]] std::string header(std::string_view name) const {
    for (const auto& field : received->headers)
      if (field.name == name) return field.value;
    return {};
  }
  [[nodiscard]] bool is_problem(std::string_view slug) const {
    return received->body.starts_with("{\"type\":\"/problems/" + std::string(slug) + "\"");
  }
};

}  // namespace

TEST_CASE("each answer carries the request id and forbids storing") {
  Client client;
  client.send("GET", {{"X-Request-Id", "mine-1"}})->answer({200, {}, "{}"});
  CHECK(client.header("X-Request-Id") == "mine-1");
  CHECK(client.header("Cache-Control") == "no-store");
  client.send("GET", {{"X-Request-Id", "not sane"}})->refuse(ProblemKind::not_found);
  CHECK(client.header("X-Request-Id") != "not sane");
  CHECK(client.received->body.find("\"instance\":\"" + client.header("X-Request-Id") + "\"") !=
        std::string::npos);
}

TEST_CASE("an exchange is answered once, whatever comes after") {
  Client client;
  {
    const auto exchange = client.send("POST");
    exchange->answer({201, {}, "first"});
    exchange->refuse(ProblemKind::internal);
    exchange->fail(std::runtime_error("later"));
  }
  CHECK(client.replies == 1);
  CHECK(client.received->body == "first");
}

TEST_CASE("a client is answered even if everybody lets go of its exchange") {
  Client client;
  client.send("POST").reset();
  CHECK(client.received->status == 503);
  CHECK(client.is_problem("outcome-unknown"));
  client.send("GET").reset();
  CHECK(client.received->status == 500);
  CHECK(client.is_problem("internal"));
  CHECK(client.replies == 2);
}

TEST_CASE("a fault is 500, a database that is away 503, and neither shows what happened") {
  Client client;
  const std::string secret = "row value";
  client.send("GET")->fail(std::runtime_error(secret));
  CHECK(client.received->status == 500);
  CHECK(client.received->body.find(secret) == std::string::npos);
  client.send("GET")->fail(db::StatementError("22P05", "", secret));
  CHECK(client.received->status == 500);
  CHECK(client.received->body.find(secret) == std::string::npos);
  CHECK(client.received->body.find("22P05") == std::string::npos);
  client.send("GET")->fail(db::TransientError(db::TransientReason::connection_lost, secret));
  CHECK(client.received->status == 503);
  CHECK(client.is_problem("unavailable"));
  CHECK(client.header("Retry-After") == "2");
  client.send("GET")->fail(db::InDoubtError(secret));
  CHECK(client.is_problem("unavailable"));
}

TEST_CASE("answers are counted by route, status and problem, and replays among them") {
  Client client;
  client.send("POST")->answer({201, {}, "{}"});
  client.send("POST")->answer({201, {{"Idempotent-Replayed", "true"}}, "{}"});
  client.send("POST")->answer({402, {}, "{}"}, slug_of(ProblemKind::insufficient_funds));
  client.send("FOO", {}, "other")->refuse(ProblemKind::method_not_allowed);
  const auto text = client.metrics.text();
  const auto holds = [&text](const std::string& line) {
    CAPTURE(line);
    CHECK(text.find(line + "\n") != std::string::npos);
  };
  const std::string answers = "oncepay_http_answers_total";
  holds(answers + R"({problem="none",route="/v1/payments",status="201"} 2)");
  holds(answers + R"({problem="insufficient-funds",route="/v1/payments",status="402"} 1)");
  holds(answers + R"({problem="method-not-allowed",route="other",status="405"} 1)");
  holds("oncepay_http_replays_total 1");
  holds(R"(oncepay_http_answer_seconds_count{route="/v1/payments"} 3)");
  holds(R"(oncepay_http_answer_seconds_count{route="other"} 1)");
}

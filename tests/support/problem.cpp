#include "support/problem.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <optional>

#include "support/names.hpp"

namespace support {
namespace {

struct Meaning {
  std::string_view type;
  std::optional<bool> retryable;  // the same request with the same key may be sent again
  std::optional<bool> same_key;   // the key is still good for this purchase
};

// Only what follows from the contract's words. `same_key` of a refused body is left open: the key
// is free, but it is the corrected request that may use it.
constexpr std::array<Meaning, 13> meanings{{
    {problems::key_missing, false, std::nullopt},
    {problems::key_invalid, false, std::nullopt},
    {problems::invalid_json, false, std::nullopt},
    {problems::invalid_request, false, std::nullopt},
    {problems::key_reused, false, false},
    {problems::in_progress, true, true},
    {problems::overloaded, true, true},
    {problems::unavailable, true, true},
    {problems::account_not_found, std::nullopt, true},
    {problems::insufficient_funds, false, false},
    {problems::balance_limit, false, false},
    {problems::internal, true, true},
    {problems::outcome_unknown, true, true},
}};

// Words of the inside. None of them can come from what the tests send.
constexpr std::array<std::string_view, 10> inside{
    "SELECT",   "INSERT",     "pqxx",      "libpq",     "SQLSTATE",
    "relation", "constraint", "127.0.0.1", "localhost", "duplicate key"};

bool text_member(const nlohmann::json& problem, const char* name) {
  return problem.contains(name) && problem[name].is_string() &&
         !problem[name].get<std::string>().empty();
}

void expect_meaning(const nlohmann::json& problem) {
  REQUIRE(problem.contains("retryable"));
  REQUIRE(problem.contains("same_key"));
  REQUIRE(problem["retryable"].is_boolean());
  REQUIRE(problem["same_key"].is_boolean());
  const std::string type = problem["type"];
  const auto* meaning = std::find_if(meanings.begin(), meanings.end(),
                                     [&](const Meaning& m) { return m.type == type; });
  if (meaning == meanings.end()) {
    return;
  }
  if (meaning->retryable) {
    CHECK(problem["retryable"] == *meaning->retryable);
  }
  if (meaning->same_key) {
    CHECK(problem["same_key"] == *meaning->same_key);
  }
}

}  // namespace

void expect_problem(const Answer& answer, int status, std::string_view type) {
  INFO("answer: ", answer.text());
  CHECK(answer.status == status);
  CHECK(answer.header(headers::content_type).value_or("").starts_with("application/problem+json"));
  CHECK(answer.header("Cache-Control") == "no-store");
  const nlohmann::json problem = nlohmann::json::parse(answer.body, nullptr, false);
  REQUIRE(problem.is_object());
  REQUIRE(text_member(problem, "type"));
  CHECK(problem["type"].get<std::string>().starts_with("/problems/"));
  if (!type.empty()) {
    CHECK(problem["type"] == std::string(type));
  }
  CHECK(text_member(problem, "title"));
  CHECK(text_member(problem, "detail"));
  CHECK(problem.value("status", 0) == status);
  if (!answer.replayed()) {  // a replay's bytes are those of the first exchange
    CHECK(problem.value("instance", "") == answer.header(headers::request_id).value_or("?"));
  }
  expect_meaning(problem);
  for (const std::string_view word : inside) {
    CHECK_MESSAGE(answer.body.find(word) == std::string::npos, "leaks ", word);
  }
}

std::vector<std::string> pointers_in(const Answer& answer) {
  std::vector<std::string> out;
  const nlohmann::json problem = answer.json();
  if (problem.contains("pointer")) {
    out.push_back(problem["pointer"].get<std::string>());
  }
  if (problem.contains("errors")) {
    for (const nlohmann::json& error : problem["errors"]) {
      out.push_back(error.at("pointer").get<std::string>());
    }
  }
  return out;
}

bool names_pointer(const Answer& answer, std::string_view pointer) {
  const std::vector<std::string> pointers = pointers_in(answer);
  return std::find(pointers.begin(), pointers.end(), pointer) != pointers.end();
}

void expect_succeeded(const Answer& answer) {
  INFO("answer: ", answer.text());
  REQUIRE(answer.status == 201);
  CHECK(answer.json().value("status", "") == "succeeded");
}

std::string payment_id_of(const Answer& answer) {
  const nlohmann::json body = answer.json();
  return body.value(body.contains("payment_id") ? "payment_id" : "id", "");
}

void expect_replay_of(const Answer& first, const Answer& replay) {
  INFO("first: ", first.text());
  INFO("then: ", replay.text());
  CHECK(replay.replayed());
  CHECK(replay.status == first.status);
  CHECK(replay.body == first.body);
  CHECK(replay.header(headers::content_type) == first.header(headers::content_type));
  CHECK(replay.header(headers::location) == first.header(headers::location));
}

void expect_retry_after(const Answer& answer) {
  const std::string seconds = answer.header(headers::retry_after).value_or("");
  CHECK_FALSE(seconds.empty());
  CHECK(std::all_of(seconds.begin(), seconds.end(), [](char c) { return c >= '0' && c <= '9'; }));
}

}  // namespace support

#include "http/admission.hpp"

#include <doctest/doctest.h>

#include "payments/requests.hpp"

using namespace oncepay;
using namespace oncepay::http;

namespace {

constexpr std::string_view good_body =
    R"({"amount":1000,"currency":"USD","source":"a","destination":"b"})";

// A request that would be admitted; each attempt spoils some of it.
struct Draft {
  std::string target = "/v1/payments";
  std::string content_type = "application/json";
  std::string content_encoding = {};
  std::vector<std::string> keys = {"k"};
  std::string body{good_body};
};

Request request_of(const Draft& draft) {
  Request request;
  request.method = "POST";
  request.target = draft.target;
  if (!draft.content_type.empty()) request.headers.push_back({"Content-Type", draft.content_type});
  if (!draft.content_encoding.empty())
    request.headers.push_back({"Content-Encoding", draft.content_encoding});
  for (const auto& key : draft.keys)
    request.headers.push_back(
        {request.headers.size() % 2 == 0 ? "Idempotency-Key" : "idempotency-key", key});
  request.body = draft.body;
  return request;
}

std::variant<AdmittedOperation, Problem> read(const Draft& draft,
                                              once::KeyFormat format = once::KeyFormat::any) {
  return read_operation(request_of(draft), Route::payments, format, "request-1");
}

AdmittedOperation admitted(const Draft& draft) {
  auto outcome = read(draft);
  REQUIRE(std::holds_alternative<AdmittedOperation>(outcome));
  return std::get<AdmittedOperation>(std::move(outcome));
}

// The slug of the problem, or "admitted".
std::string_view slug(const std::variant<AdmittedOperation, Problem>& outcome) {
  const auto* problem = std::get_if<Problem>(&outcome);
  return problem == nullptr ? "admitted" : slug_of(problem->kind);
}

}  // namespace

TEST_CASE("of several faults the first in the contract's order is answered") {
  struct Attempt {
    Draft draft;
    std::string_view answer;
  };
  const Attempt attempts[] = {
      {{}, "admitted"},
      // Everything wrong at once, then one fault less each time.
      {{.target = "/v1/payments?x=1", .content_type = "text/plain", .keys = {}, .body = "{"},
       "unsupported-media-type"},
      {{.target = "/v1/payments?x=1", .content_encoding = "gzip", .keys = {}, .body = "{"},
       "unsupported-media-type"},
      {{.target = "/v1/payments?x=1", .keys = {}, .body = "{"}, "idempotency-key-missing"},
      {{.target = "/v1/payments?x=1", .keys = {"a", "b"}, .body = "{"}, "idempotency-key-invalid"},
      {{.target = "/v1/payments?x=1", .body = "{"}, "invalid-json"},
      {{.target = "/v1/payments?x=1", .body = "{}"}, "invalid-request"},
      {{.target = "/v1/payments?x=1"}, "invalid-request"},
      {{.body = "{}"}, "invalid-request"},
      // HTP-05 content types.
      {{.content_type = ""}, "unsupported-media-type"},
      {{.content_type = "application/x-www-form-urlencoded"}, "unsupported-media-type"},
      {{.content_type = "application/json; charset=UTF-8"}, "admitted"},
      {{.content_encoding = "identity"}, "unsupported-media-type"},
      // An empty body is never a default payment.
      {{.body = ""}, "invalid-json"},
      // HDR-01 to HDR-06.
      {{.keys = {"\"abc-1\""}}, "admitted"},
      {{.keys = {"\"a\\\"b\""}}, "admitted"},
      {{.keys = {"\"abc"}}, "idempotency-key-invalid"},
      {{.keys = {"\"abc\";p=1"}}, "idempotency-key-invalid"},
      {{.keys = {"\"abc\" x"}}, "idempotency-key-invalid"},
      {{.keys = {"\"\""}}, "idempotency-key-invalid"},
      {{.keys = {""}}, "idempotency-key-invalid"},
      {{.keys = {"k1", "k1"}}, "idempotency-key-invalid"},
      {{.keys = {"k1, k1"}}, "idempotency-key-invalid"},
      {{.keys = {"\xC3\xA4"}}, "idempotency-key-invalid"},
      {{.keys = {std::string(255, 'k')}}, "admitted"},
      {{.keys = {std::string(256, 'k')}}, "idempotency-key-invalid"},
      {{.keys = {std::string(9000, 'k')}}, "idempotency-key-invalid"},
      // JSN-01 and friends arrive here too.
      {{.body = R"({"amount":1,"amount":100000,"currency":"USD","source":"a","destination":"b"})"},
       "invalid-json"},
      {{.body = std::string(good_body) + "x"}, "invalid-json"},
  };
  for (const auto& attempt : attempts) {
    CAPTURE(attempt.draft.body);
    CAPTURE(attempt.draft.content_type);
    CAPTURE(attempt.draft.keys.size());
    CHECK(slug(read(attempt.draft)) == attempt.answer);
  }
}

TEST_CASE("faults of members and of the query are told at once") {
  auto outcome = read({.target = "/v1/payments?dry_run=1&x", .body = R"({"amount":0,"b":1})"});
  REQUIRE(std::holds_alternative<Problem>(outcome));
  std::string pointers;
  for (const auto& error : std::get<Problem>(outcome).errors) pointers += error.pointer + " ";
  CHECK(pointers == "/amount /currency /source /destination /b ?dry_run ?x ");
}

TEST_CASE("a service that admits UUIDs alone refuses other keys") {
  CHECK(slug(read({.keys = {"k"}}, once::KeyFormat::uuid)) == "idempotency-key-invalid");
  CHECK(slug(read({.keys = {"9b2c6f0e-6f0e-4d0e-9a58-2b8f6a1c7d11"}}, once::KeyFormat::uuid)) ==
        "admitted");
}

TEST_CASE("HDR-01 quoted and bare name the same key; its bytes are not decoded") {
  CHECK(admitted({.keys = {"\"abc-1\""}}).key == "abc-1");
  CHECK(admitted({.keys = {"abc-1"}}).key == "abc-1");
  CHECK(admitted({.keys = {"a%2Fb"}}).key == "a%2Fb");
  CHECK(admitted({.keys = {"a/b"}}).key == "a/b");
}

TEST_CASE("FPR-03 the fingerprint ignores how a body is written and sees what it says") {
  const auto fingerprint = [](std::string_view body) {
    return admitted({.body = std::string(body)}).fingerprint;
  };
  const auto first = fingerprint(good_body);
  CHECK(first.size() == 32);
  CHECK(fingerprint("{\n \"destination\":\"b\",\"source\":\"\\u0061\",\"currency\":\"\\u0055SD\","
                    "\"amount\" : 1000}") == first);
  CHECK(fingerprint(R"({"amount":1001,"currency":"USD","source":"a","destination":"b"})") != first);
  CHECK(fingerprint(R"({"amount":1000,"currency":"USD","source":"b","destination":"a"})") != first);
  CHECK(fingerprint(R"({"amount":1000,"currency":"USD","source":"a","destination":"b",)"
                    R"("description":""})") != first);
}

TEST_CASE("the path belongs to the fingerprint") {
  const once::RequestIdentity payments{"POST", "/v1/payments", "{}"};
  const once::RequestIdentity accounts{"POST", "/v1/accounts", "{}"};
  CHECK(once::fingerprint_of(payments, 1) != once::fingerprint_of(accounts, 1));
  CHECK(admitted({}).identity.path == "/v1/payments");
  CHECK(admitted({}).identity.method == "POST");
}

TEST_CASE("what is admitted carries the request and its id") {
  const auto operation = admitted({});
  const auto& payment = dynamic_cast<const payments::PaymentRequest&>(*operation.payload);
  CHECK(payment.amount == 1000);
  CHECK(payment.request_id == "request-1");
  CHECK(operation.wait.count() == 0);

  Request request = request_of({.body = R"({"id":"a","currency":"EUR"})"});
  request.target = "/v1/accounts";
  request.headers.push_back({"Prefer", "wait=7"});
  const auto outcome = read_operation(request, Route::accounts, once::KeyFormat::any, "request-2");
  REQUIRE(std::holds_alternative<AdmittedOperation>(outcome));
  const auto& opening = std::get<AdmittedOperation>(outcome);
  CHECK(dynamic_cast<const payments::AccountRequest&>(*opening.payload).request_id == "request-2");
  CHECK(opening.wait == std::chrono::seconds(7));
}

TEST_CASE("POST needs write, GET and HEAD need read, other methods any key") {
  struct Attempt {
    std::string_view scopes;
    std::string_view method;
    bool let_in;
  };
  const Attempt attempts[] = {
      {"read", "GET", true},       {"read", "HEAD", true},       {"read", "POST", false},
      {"write", "GET", false},     {"write", "HEAD", false},     {"write", "POST", true},
      {"read,write", "GET", true}, {"read,write", "POST", true}, {"read", "OPTIONS", true},
      {"write", "DELETE", true},   {"read", "post", true},
  };
  for (const auto& attempt : attempts) {
    CAPTURE(attempt.scopes);
    CAPTURE(attempt.method);
    access::Scopes scopes;
    if (attempt.scopes.find("read") != std::string_view::npos) scopes.add(access::Scope::read);
    if (attempt.scopes.find("write") != std::string_view::npos) scopes.add(access::Scope::write);
    const auto problem = check_scope(scopes, attempt.method);
    CHECK(!problem.has_value() == attempt.let_in);
    if (problem) CHECK(problem->kind == ProblemKind::forbidden);
  }
}

TEST_CASE("an unknown path is 404, a known one with another method 405 with Allow") {
  CHECK(check_method(match_route("/v1/nothing"), "FOO")->kind == ProblemKind::not_found);
  const auto problem = check_method(match_route("/v1/accounts"), "GET");
  REQUIRE(problem.has_value());
  CHECK(problem->kind == ProblemKind::method_not_allowed);
  REQUIRE(problem->headers.size() == 1);
  CHECK(problem->headers[0].name == "Allow");
  CHECK(problem->headers[0].value == "POST, OPTIONS");
  CHECK_FALSE(check_method(match_route("/v1/accounts"), "POST").has_value());
}

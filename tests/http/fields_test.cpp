#include "http/fields.hpp"

#include <doctest/doctest.h>

#include "runtime/uuid.hpp"

using namespace oncepay;
using namespace oncepay::http;

namespace {

Request request_with(std::vector<Header> headers) {
  Request request;
  request.headers = std::move(headers);
  return request;
}

}  // namespace

TEST_CASE("HTP-05 application/json is recognized however it is dressed, and nothing else is") {
  struct Attempt {
    std::string_view value;
    bool is_json;
  };
  const Attempt attempts[] = {
      {"application/json", true},
      {"APPLICATION/JSON", true},
      {"application/json; charset=utf-8", true},
      {"application/json; charset=UTF-8", true},
      {"application/json;charset=\"utf-8\"", true},
      {"application/json ; Charset=Utf-8 ;", true},
      {"application/json; profile=\"a;b\"", true},
      {"application/json;", true},
      {"application/json;charset=latin1", false},
      {"application/json;charset=utf8", false},
      {"application/json; charset=utf-8; charset=utf-8", false},
      {"application/json; charset=", false},
      {"application/json; charset", false},
      {"application/json; charset=\"utf-8", false},
      {"application/json charset=utf-8", false},
      {"application/json, application/json", false},
      {"application/problem+json", false},
      {"application/jsonx", false},
      {"application /json", false},
      {"text/plain", false},
      {"text/json", false},
      {"application/x-www-form-urlencoded", false},
      {"json", false},
      {"*/*", false},
      {"", false},
  };
  for (const auto& attempt : attempts) {
    CAPTURE(attempt.value);
    CHECK(is_json_media_type(attempt.value) == attempt.is_json);
  }
}

TEST_CASE("an API key is the token of exactly one Authorization field") {
  struct Attempt {
    std::vector<Header> headers;
    std::optional<std::string_view> token;
  };
  const Attempt attempts[] = {
      {{{"Authorization", "Bearer opk_abc"}}, "opk_abc"},
      {{{"authorization", "bearer opk_abc"}}, "opk_abc"},
      {{{"Authorization", "BEARER   opk_a-b_c.d~e+f/g=="}}, "opk_a-b_c.d~e+f/g=="},
      {{}, std::nullopt},
      {{{"Authorization", ""}}, std::nullopt},
      {{{"Authorization", "Bearer"}}, std::nullopt},
      {{{"Authorization", "Bearer "}}, std::nullopt},
      {{{"Authorization", "Beareropk_abc"}}, std::nullopt},
      {{{"Authorization", "Basic opk_abc"}}, std::nullopt},
      {{{"Authorization", "opk_abc"}}, std::nullopt},
      {{{"Authorization", "Bearer opk abc"}}, std::nullopt},
      {{{"Authorization", "Bearer opk_abc, Bearer x"}}, std::nullopt},
      {{{"Authorization", "Bearer ="}}, std::nullopt},
      {{{"Authorization", "Bearer a=b"}}, std::nullopt},
      {{{"Authorization", "Bearer a"}, {"Authorization", "Bearer a"}}, std::nullopt},
      {{{"Authorization", "Bearer a"}, {"AUTHORIZATION", "Bearer b"}}, std::nullopt},
  };
  for (const auto& attempt : attempts) {
    const auto request = request_with(attempt.headers);
    CAPTURE(attempt.headers.size());
    CAPTURE((attempt.headers.empty() ? "" : attempt.headers[0].value));
    CHECK(bearer_token(request) == attempt.token);
  }
}

TEST_CASE("Prefer: wait is read as RFC 7240 says, capped at 30 s, and ignored when malformed") {
  struct Attempt {
    std::vector<Header> headers;
    int seconds;
  };
  const Attempt attempts[] = {
      {{}, 0},
      {{{"Prefer", "wait=5"}}, 5},
      {{{"prefer", "Wait = \"5\""}}, 5},
      {{{"Prefer", "wait=0"}}, 0},
      {{{"Prefer", "wait=30"}}, 30},
      {{{"Prefer", "wait=31"}}, 30},
      {{{"Prefer", "wait=99999999999999999999999"}}, 30},
      {{{"Prefer", "respond-async, wait=10"}}, 10},
      {{{"Prefer", "wait=10, respond-async"}}, 10},
      {{{"Prefer", "wait=10; note=\"x\""}}, 10},
      {{{"Prefer", "a=\"x, wait=9\", wait=3"}}, 3},
      {{{"Prefer", "a=\"\\\", wait=9\", wait=3"}}, 3},
      {{{"Prefer", ", , wait=4"}}, 4},
      {{{"Prefer", "wait=4, wait=9"}}, 4},
      {{{"Prefer", "respond-async"}, {"Prefer", "wait=6"}}, 6},
      {{{"Prefer", "wait"}}, 0},
      {{{"Prefer", "wait="}}, 0},
      {{{"Prefer", "wait=-1"}}, 0},
      {{{"Prefer", "wait=1.5"}}, 0},
      {{{"Prefer", "wait=5s"}}, 0},
      {{{"Prefer", "wait=5 6"}}, 0},
      {{{"Prefer", "waiting=5"}}, 0},
      {{{"Prefer", "wait=x, wait=7"}}, 0},
      {{{"Prefer", "wait=\"5"}}, 0},
      {{{"Prefer", "\"wait=5"}}, 0},
  };
  for (const auto& attempt : attempts) {
    CAPTURE((attempt.headers.empty() ? "" : attempt.headers[0].value));
    CHECK(preferred_wait(request_with(attempt.headers)).count() == attempt.seconds);
  }
}

TEST_CASE("a sane X-Request-Id is kept, anything else gets a new one") {
  const auto kept = [](const std::string& id) {
    return request_id_for(request_with({{"X-Request-Id", id}})) == id;
  };
  CHECK(kept("a"));
  CHECK(kept("0197f3c2-A.b_c:1"));
  CHECK(kept(std::string(128, 'x')));
  CHECK_FALSE(kept(std::string(129, 'x')));
  CHECK_FALSE(kept(""));
  CHECK_FALSE(kept("a b"));
  CHECK_FALSE(kept("a\"b"));
  CHECK_FALSE(kept("\xC3\xA4"));
  CHECK(runtime::is_uuid(request_id_for(request_with({}))));
  CHECK(runtime::is_uuid(
      request_id_for(request_with({{"X-Request-Id", "a"}, {"x-request-id", "a"}}))));
}

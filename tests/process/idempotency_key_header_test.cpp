// The Idempotency-Key header, raw byte by raw byte: which values are a key, which two values are
// the same key, and that everything else is refused before anything is claimed. `value` below is
// what stands after "Idempotency-Key:" on the wire, blanks included.
#include <doctest/doctest.h>

#include "support/names.hpp"
#include "support/problem.hpp"
#include "support/shop.hpp"

namespace {

using namespace support;
using namespace std::string_literals;

Shop& shop() {
  static Shop instance;
  return instance;
}

const Payment& standing_payment() {
  static const Payment payment = shop().payment_between_new_accounts(1, 1'000'000);
  return payment;
}

// Written by hand: the header lines are exactly `lines`.
Answer pay_with_lines(const std::string& lines, const Payment& payment = standing_payment()) {
  const std::string body = payment.json();
  Client client(shop().instance.port());
  client.connect();
  client.write("POST /v1/payments HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer " +
               shop().tenant.api_key + "\r\nContent-Type: application/json\r\n" + lines +
               "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
  return client.read();
}

Answer pay_with_value(const std::string& value, const Payment& payment = standing_payment()) {
  return pay_with_lines("Idempotency-Key:" + value + "\r\n", payment);
}

// Control bytes may already be no request at all (row 1); then there is no problem type to name.
void expect_invalid(const std::string& value) {
  const std::int64_t before = shop().database.keys();
  INFO("value: ", value.substr(0, 300));
  const Answer answer = pay_with_value(value);
  INFO("answer: ", answer.text());
  CHECK(answer.status == 400);
  CHECK((answer.type() == problems::key_invalid || answer.type() == problems::key_missing));
  CHECK(shop().database.keys() == before);
}

// Both name the same key: the second is a replay of the first.
void expect_same_key(const std::string& first, const std::string& second) {
  CAPTURE(first);
  CAPTURE(second);
  const Answer answer = pay_with_value(first);
  expect_succeeded(answer);
  expect_replay_of(answer, pay_with_value(second));
}

void expect_two_keys(const std::string& first, const std::string& second) {
  CAPTURE(first);
  CAPTURE(second);
  const Answer one = pay_with_value(first);
  const Answer two = pay_with_value(second);
  expect_succeeded(one);
  expect_succeeded(two);
  CHECK_FALSE(two.replayed());
  CHECK(payment_id_of(one) != payment_id_of(two));
}

}  // namespace

TEST_CASE("no key, an empty key and a blank key are refused, never run without idempotency") {
  // HDR-05
  expect_problem(pay_with_lines(""), 400, problems::key_missing);
  const std::int64_t before = shop().database.payments();
  for (const char* value : {"", " ", "    ", "\t", " \t "}) {
    const Answer answer = pay_with_value(value);
    INFO("answer: ", answer.text());
    CHECK(answer.status == 400);
    CHECK((answer.type() == problems::key_missing || answer.type() == problems::key_invalid));
  }
  expect_problem(pay_with_value(" \"\""), 400, problems::key_invalid);
  CHECK(shop().database.payments() == before);
}

TEST_CASE("two keys are refused, also when they are equal, or one in other letters") {
  // HDR-02
  const std::int64_t before = shop().database.keys();
  for (const char* lines : {"Idempotency-Key: k1\r\nIdempotency-Key: k1\r\n",
                            "Idempotency-Key: k1\r\nIdempotency-Key: k2\r\n",
                            "Idempotency-Key: k1\r\nidempotency-key: k1\r\n",
                            "IDEMPOTENCY-KEY: k1\r\nAccept: */*\r\nIdempotency-Key: k2\r\n",
                            "Idempotency-Key: k1\r\nIdempotency-Key: \r\n",
                            "Idempotency-Key:\r\nIdempotency-Key: k1\r\n"}) {
    INFO("lines: ", lines);
    expect_problem(pay_with_lines(lines), 400, problems::key_invalid);
  }
  expect_invalid(" k1, k1");
  expect_invalid(" \"k1\", \"k1\"");
  expect_invalid(" \"k1\",\"k2\"");
  CHECK(shop().database.keys() == before);
}

TEST_CASE("the quoted and the bare form name the same key") {
  // HDR-01
  const std::string key = fresh_key();
  expect_same_key(" \"" + key + "\"", " " + key);
  const std::string other = fresh_key();
  expect_same_key(" " + other, " \"" + other + "\"");
  expect_same_key(R"( "q\"uote")", R"( "q\"uote")");
  expect_same_key(R"( "back\\slash")", R"( back\slash)");
  CHECK(shop().key_rows(R"(back\slash)") == 1);
  CHECK(shop().key_rows(R"(q"uote)") == 1);
}

TEST_CASE("what is neither a whole string nor a bare value is refused") {
  // HDR-01
  for (const char* value : {" \"abc", " abc\"def\" x", " \"abc\";p=1", " \"abc\"; p", " \"abc\" x",
                            " \"abc\"x", " \"", " \"a\"b\"", R"( "a\b")", R"( "abc\")", R"( "a\)",
                            " \"a b\"", " a b", " a\tb", " \"a\tb\""}) {
    expect_invalid(value);
  }
}

TEST_CASE("only visible ASCII makes a key") {
  for (const std::string& value :
       {" k\xc3\xa9y"s, " \"k\xc3\xa9y\""s, " \xff"s, " a\x80"s, " \xe2\x80\x8b"s, " \xc2\xa0"s}) {
    expect_invalid(value);
  }
  for (const std::string& value : {" a\x01"s, " a\x7f"s, " \x1b[0m"s, " a\0b"s}) {
    INFO("value: ", value);
    const std::int64_t before = shop().database.keys();
    CHECK(pay_with_value(value).status == 400);
    CHECK(shop().database.keys() == before);
  }
}

TEST_CASE("a key of 255 characters is taken, a longer one is refused by the service itself") {
  // HDR-06
  const std::string longest = fresh_key() + std::string(255, 'k');
  expect_same_key(" " + longest.substr(0, 255), " \"" + longest.substr(0, 255) + "\"");
  for (const std::size_t size : {256UL, 257UL, 2800UL, 8100UL, 9000UL}) {
    expect_invalid(" " + std::string(size, 'k'));
    expect_invalid(" \"" + std::string(size, 'k') + "\"");
  }
  expect_same_key(" x", " x");
}

TEST_CASE("length counts after decoding: 255 escaped quotes are a key, 256 are not") {
  std::string escaped;
  for (int i = 0; i < 255; ++i) {
    escaped += "\\\"";
  }
  expect_same_key(" \"" + escaped + "\"", " \"" + escaped + "\"");
  CHECK(shop().key_rows(std::string(255, '"')) == 1);
  expect_invalid(" \"" + escaped + "\\\"\"");
}

TEST_CASE("the raw bytes of the header count: percent signs, plus signs and case are kept") {
  const std::string stem = fresh_key();
  expect_two_keys(" " + stem + "%2Fb", " " + stem + "/b");
  expect_two_keys(" " + stem + "%2fb", " " + stem + "%252Fb");
  expect_two_keys(" " + stem + "+", " " + stem + "%2B");
  expect_two_keys(" " + stem + "K", " " + stem + "k");
  CHECK(shop().key_rows(stem + "%2Fb") == 1);
  CHECK(shop().key_rows(stem + "/b") == 1);
}

TEST_CASE("a key cannot put a line into the answer") {
  const Answer answer = pay_with_value(" " + fresh_key() + "%0d%0aX-Evil:1");
  expect_succeeded(answer);
  CHECK(answer.count("X-Evil") == 0);
}

TEST_CASE("every visible character is allowed in a bare key, except that a quote may not open it") {
  std::string all;
  for (char c = '!'; c <= '~'; ++c) {
    if (c != '"') {
      all += c;
    }
  }
  expect_same_key(" " + all, "   " + all + "  \t");
  CHECK(shop().key_rows(all) == 1);
}

TEST_CASE("blanks around the value are no part of it, and the header's name has no case") {
  const std::string key = fresh_key();
  expect_same_key(key, " \t" + key + " ");
  const Answer first = pay_with_value(" " + key);
  expect_replay_of(first, pay_with_lines("idempotency-key: " + key + "\r\n"));
  expect_replay_of(first, pay_with_lines("IDEMPOTENCY-KEY:" + key + "\r\n"));
}

TEST_CASE("a key on a safe method is ignored, whatever it looks like, and makes no row") {
  // HTP-12
  const std::int64_t before = shop().database.keys();
  Caller caller = shop().caller();
  for (const char* value : {"some-key", "", "\"broken", "a b"}) {
    for (const char* method : {"GET", "HEAD", "OPTIONS"}) {
      Request request = caller.get_request("/v1/payments");
      request.method = method;
      request.with(headers::idempotency_key, value).with(headers::idempotency_key, value);
      INFO(method, " with key ", value);
      CHECK(caller.send(request).status != 400);
    }
  }
  CHECK(shop().database.keys() == before);
}

TEST_CASE("with key_format=uuid only UUIDs are keys") {
  const Instance strict(shop().database, {"--key-format=uuid"});
  Caller caller = shop().caller_at(strict);
  const std::string uuid = "9b2c6f0e-6f0e-4d0e-9a58-2b8f6a1c7d11";
  const Answer first = caller.pay(uuid, standing_payment());
  expect_succeeded(first);
  expect_replay_of(first, caller.pay("\"" + uuid + "\"", standing_payment()));
  for (const char* key :
       {"abc", "9b2c6f0e6f0e4d0e9a582b8f6a1c7d11", "9b2c6f0e-6f0e-4d0e-9a58-2b8f6a1c7d1",
        "9b2c6f0e-6f0e-4d0e-9a58-2b8f6a1c7d11x", "9b2c6f0e-6f0e-4d0e-9a58-2b8f6a1c7d1g",
        "{9b2c6f0e-6f0e-4d0e-9a58-2b8f6a1c7d11}", "9b2c6f0e-6f0e4-d0e-9a58-2b8f6a1c7d11",
        "urn:uuid:9b2c6f0e-6f0e-4d0e-9a58-2b8f6a1c7d11"}) {
    INFO("key: ", key);
    expect_problem(caller.pay(key, standing_payment()), 400, problems::key_invalid);
    CHECK(shop().key_rows(key) == 0);
  }
}

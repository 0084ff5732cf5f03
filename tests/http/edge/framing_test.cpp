// The framing as a table: bytes in, requests or a refusal out, however the bytes are cut.
#include "http/edge/framing.hpp"

#include <doctest/doctest.h>

#include <random>
#include <string>
#include <vector>

#include "http/edge/framing_outcome.hpp"

namespace oncepay::http::edge::testing {
namespace {

using namespace std::string_literals;

struct Attempt {
  std::string bytes;
  std::string outcome;
};

// Whole, byte by byte and in random cuts: one table line, one outcome.
void check_table(const std::vector<Attempt>& table) {
  std::mt19937 random(20260101);
  std::uniform_int_distribution<std::size_t> cut(1, 9);
  for (const auto& [bytes, outcome] : table) {
    CAPTURE(bytes.substr(0, 200));
    CHECK(outcome_of(bytes, [] { return 0; }) == outcome);
    CHECK(outcome_of(bytes, [] { return 1; }) == outcome);
    for (int i = 0; i < 8; ++i) CHECK(outcome_of(bytes, [&] { return cut(random); }) == outcome);
  }
}

// A request whose head is fine but for the given lines.
std::string get(const std::string& lines) {
  return "GET / HTTP/1.1\r\nHost: a\r\n" + lines + "\r\n";
}
std::string post(const std::string& lines, const std::string& body = "") {
  return "POST /p HTTP/1.1\r\nHost: a\r\n" + lines + "\r\n" + body;
}
std::string chunked(const std::string& body) {
  return post("Transfer-Encoding: chunked\r\n", body);
}

}  // namespace

TEST_CASE("a request line is a method, a target and a version, parted by single spaces") {
  check_table({
      {"GET / HTTP/1.1\r\nHost: a\r\n\r\n", "GET / [] keep + idle"},
      {"GET /a/b?c=d%20e&f HTTP/1.1\r\nHost: a\r\n\r\n", "GET /a/b?c=d%20e&f [] keep + idle"},
      {"get / HTTP/1.1\r\nHost: a\r\n\r\n", "get / [] keep + idle"},
      {"F!#$%&'*+-.^_`|~9 / HTTP/1.1\r\nHost: a\r\n\r\n", "F!#$%&'*+-.^_`|~9 / [] keep + idle"},
      {"OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", "OPTIONS * [] keep + idle"},
      {"GET * HTTP/1.1\r\nHost: a\r\n\r\n", "400 target-invalid"},
      {"GET  / HTTP/1.1\r\nHost: a\r\n\r\n", "400 request-line-invalid"},
      {"GET /  HTTP/1.1\r\nHost: a\r\n\r\n", "400 request-line-invalid"},
      {"GET / HTTP/1.1 \r\nHost: a\r\n\r\n", "400 request-line-invalid"},
      {" GET / HTTP/1.1\r\nHost: a\r\n\r\n", "400 request-line-invalid"},
      {"GET\t/ HTTP/1.1\r\nHost: a\r\n\r\n", "400 request-line-invalid"},
      {"GET /\r\n\r\n", "400 request-line-invalid"},
      {"GET\r\n\r\n", "400 request-line-invalid"},
      {"G(T / HTTP/1.1\r\nHost: a\r\n\r\n", "400 request-line-invalid"},
      {"GET / http/1.1\r\nHost: a\r\n\r\n", "400 request-line-invalid"},
      {"GET / HTTP/1.1.1\r\nHost: a\r\n\r\n", "400 request-line-invalid"},
      {"GET / HTTP/1.\r\nHost: a\r\n\r\n", "400 request-line-invalid"},
      {"GET / HTTP/2.0\r\nHost: a\r\n\r\n", "505 version-unsupported"},
      {"GET / HTTP/1.2\r\nHost: a\r\n\r\n", "505 version-unsupported"},
      {"GET / HTTP/0.9\r\nHost: a\r\n\r\n", "505 version-unsupported"},
      {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "505 version-unsupported"},
      {"CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n", "400 target-invalid"},
      {"GET a HTTP/1.1\r\nHost: a\r\n\r\n", "400 target-invalid"},
      {"GET /a#b HTTP/1.1\r\nHost: a\r\n\r\n", "400 target-invalid"},
      {"GET /a\\b HTTP/1.1\r\nHost: a\r\n\r\n", "400 target-invalid"},
      {"GET /\xC3\xA4 HTTP/1.1\r\nHost: a\r\n\r\n", "400 target-invalid"},
      {"GET /% HTTP/1.1\r\nHost: a\r\n\r\n", "400 target-invalid"},
      {"GET /%4 HTTP/1.1\r\nHost: a\r\n\r\n", "400 target-invalid"},
      {"GET /%4g HTTP/1.1\r\nHost: a\r\n\r\n", "400 target-invalid"},
      {"GET /%00 HTTP/1.1\r\nHost: a\r\n\r\n", "GET /%00 [] keep + idle"},
  });
}

TEST_CASE("an absolute target is served as its path and query") {
  check_table({
      {"GET http://b:80/p?q HTTP/1.1\r\nHost: a\r\n\r\n", "GET /p?q [] keep + idle"},
      {"GET HTTPS://b/ HTTP/1.1\r\nHost: a\r\n\r\n", "GET / [] keep + idle"},
      {"GET http://b HTTP/1.1\r\nHost: a\r\n\r\n", "GET / [] keep + idle"},
      {"GET http://b?q HTTP/1.1\r\nHost: a\r\n\r\n", "GET /?q [] keep + idle"},
      {"GET http://[::1]:80/p HTTP/1.1\r\nHost: a\r\n\r\n", "GET /p [] keep + idle"},
      {"OPTIONS http://b HTTP/1.1\r\nHost: a\r\n\r\n", "OPTIONS * [] keep + idle"},
      {"GET http://b/ HTTP/1.1\r\n\r\n", "400 host-invalid"},
      {"GET http:///p HTTP/1.1\r\nHost: a\r\n\r\n", "400 target-invalid"},
      {"GET http://:80/p HTTP/1.1\r\nHost: a\r\n\r\n", "400 target-invalid"},
      {"GET http://u@b/p HTTP/1.1\r\nHost: a\r\n\r\n", "400 target-invalid"},
      {"GET http://b:x/p HTTP/1.1\r\nHost: a\r\n\r\n", "400 target-invalid"},
      {"GET http://b/p#f HTTP/1.1\r\nHost: a\r\n\r\n", "400 target-invalid"},
      {"GET ftp://b/p HTTP/1.1\r\nHost: a\r\n\r\n", "400 target-invalid"},
  });
  CHECK(outcome_of(
            "GET http://b/p HTTP/1.1\r\nhOST: a\r\n\r\n", [] { return 0; }, true) ==
        "GET /p [] keep {hOST=b|} + idle");
}

TEST_CASE("a header line is a name, a colon and a value, and its raw value is what counts") {
  check_table({
      {get("A:b\r\n"), "GET / [] keep + idle"},
      {get("A:\r\n"), "GET / [] keep + idle"},
      {get("A: \xFF\xC3\xA4\r\n"), "GET / [] keep + idle"},
      {get("A : b\r\n"), "400 field-invalid"},
      {get("A\t: b\r\n"), "400 field-invalid"},
      {get(": b\r\n"), "400 field-invalid"},
      {get("A\r\n"), "400 field-invalid"},
      {get("A b: c\r\n"), "400 field-invalid"},
      {get("A: b\r\n c\r\n"), "400 field-invalid"},
      {get("A: b\r\n\tc: d\r\n"), "400 field-invalid"},
      {"GET / HTTP/1.1\r\n Host: a\r\n\r\n", "400 field-invalid"},
      {"GET / HTTP/1.1\r\n\tHost: a\r\nHost: a\r\n\r\n", "400 field-invalid"},
      {get("\xC3\xA4: b\r\n"), "400 field-invalid"},
      {get("(A): b\r\n"), "400 field-invalid"},
  });
  CHECK(outcome_of(
            get("Idempotency-Key: \t \"a%2Fb\" , %0d%0a \t\r\nx:y\tz\r\n"), [] { return 0; },
            true) == "GET / [] keep {Host=a|Idempotency-Key=\"a%2Fb\" , %0d%0a|x=y\tz|} + idle");
}

TEST_CASE("no NUL, no other control character, no CR or LF that stands alone") {
  check_table({
      {"GET /\0 HTTP/1.1\r\nHost: a\r\n\r\n"s, "400 control-character"},
      {get("A: b\0c\r\n"s), "400 control-character"},
      {get("A\0: b\r\n"s), "400 control-character"},
      {get("A: b\x01\r\n"), "400 control-character"},
      {get("A: b\x0B\x0C\r\n"), "400 control-character"},
      {get("A: b\x7F\r\n"), "400 control-character"},
      {"\x16\x03\x01\x02"s, "400 control-character"},
      {"GET / HTTP/1.1\nHost: a\n\n", "400 line-end-invalid"},
      {"GET / HTTP/1.1\r\nHost: a\n\r\n", "400 line-end-invalid"},
      {"GET / HTTP/1.1\r\nHost: a\r\n\n", "400 line-end-invalid"},
      {get("A: b\rc: d\r\n"), "400 line-end-invalid"},
      {get("A: b\r\r\n"), "400 line-end-invalid"},
      {get("A: b\r\0\n"s), "400 line-end-invalid"},
      {"\n", "400 line-end-invalid"},
      {"GET / HTTP/1.1\r\nHost: a\r\n\rX", "400 line-end-invalid"},
  });
}

TEST_CASE("one empty line may come before a request, two may not") {
  check_table({
      {"\r\n" + get(""), "GET / [] keep + idle"},
      {"\r\n\r\n" + get(""), "400 request-line-invalid"},
      {get("") + "\r\n" + get(""), "GET / [] keep + GET / [] keep + idle"},
      {"\r\n", "idle"},
      {"\r", "idle"},
      {"", "idle"},
      {"G", "head ..."},
  });
}

TEST_CASE("Host is sent exactly once and names a host") {
  check_table({
      {"GET / HTTP/1.1\r\n\r\n", "400 host-invalid"},
      {"GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", "400 host-invalid"},
      {"GET / HTTP/1.1\r\nHost: a\r\nhOsT: b\r\n\r\n", "400 host-invalid"},
      {"GET / HTTP/1.1\r\nHost: a b\r\n\r\n", "400 host-invalid"},
      {"GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", "400 host-invalid"},
      {"GET / HTTP/1.1\r\nHost: u@a\r\n\r\n", "400 host-invalid"},
      {"GET / HTTP/1.1\r\nHost: a:8x\r\n\r\n", "400 host-invalid"},
      {"GET / HTTP/1.1\r\nHost: [::1\r\n\r\n", "400 host-invalid"},
      {"GET / HTTP/1.1\r\nHost: [::1]x\r\n\r\n", "400 host-invalid"},
      {"GET / HTTP/1.1\r\nHost:\r\n\r\n", "GET / [] keep + idle"},
      {"GET / HTTP/1.1\r\nHost: a.b-c:8080\r\n\r\n", "GET / [] keep + idle"},
      {"GET / HTTP/1.1\r\nHost: [::1]:8080\r\n\r\n", "GET / [] keep + idle"},
      {"GET / HTTP/1.0\r\n\r\n", "GET / [] close + idle"},
      {"GET / HTTP/1.0\r\nHost: a\r\nHost: a\r\n\r\n", "400 host-invalid"},
  });
}

TEST_CASE("a length is one Content-Length of digits alone") {
  check_table({
      {post("Content-Length: 2\r\n", "{}"), "POST /p [{}] keep + idle"},
      {post("content-LENGTH:2\r\n", "{}"), "POST /p [{}] keep + idle"},
      {post("Content-Length: 002\r\n", "{}"), "POST /p [{}] keep + idle"},
      {post("Content-Length: 0\r\n"), "POST /p [] keep + idle"},
      {post(""), "POST /p [] keep + idle"},
      {post("Content-Length: 2\r\n", "{"), "body ..."},
      {post("Content-Length: 2\r\n", "\r\n"), "POST /p [\r\n] keep + idle"},
      {post("Content-Length: 3\r\n", "\0\r\x7F"s), "POST /p [\0\r\x7F] keep + idle"s},
      {"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx", "GET / [x] keep + idle"},
      {post("Content-Length: x\r\n"), "400 length-invalid"},
      {post("Content-Length:\r\n"), "400 length-invalid"},
      {post("Content-Length: -1\r\n"), "400 length-invalid"},
      {post("Content-Length: +2\r\n", "{}"), "400 length-invalid"},
      {post("Content-Length: 0x2\r\n", "{}"), "400 length-invalid"},
      {post("Content-Length: 2 2\r\n", "{}"), "400 length-invalid"},
      {post("Content-Length: 2, 2\r\n", "{}"), "400 length-invalid"},
      {post("Content-Length: 2.0\r\n", "{}"), "400 length-invalid"},
      {post("Content-Length: 1e1\r\n", "{}"), "400 length-invalid"},
      {post("Content-Length: 18446744073709551617\r\n", "{}"), "400 length-invalid"},
      {post("Content-Length: 2\r\nContent-Length: 5\r\n", "{}"), "400 length-invalid"},
      {post("Content-Length: 2\r\nContent-Length: 2\r\n", "{}"), "400 length-invalid"},
      {post("Content-Length: 65537\r\n"), "413 body-too-large"},
      {post("Content-Length: 18446744073709551615\r\n"), "413 body-too-large"},
  });
  const std::string most(65536, 'x');
  check_table({{post("Content-Length: 65536\r\n", most), "POST /p [" + most + "] keep + idle"}});
}

TEST_CASE("a transfer coding is chunked alone, and never beside a length") {
  check_table({
      {chunked("2\r\n{}\r\n0\r\n\r\n"), "POST /p [{}] keep + idle"},
      {post("Transfer-Encoding: CHUNKED\r\n", "0\r\n\r\n"), "POST /p [] keep + idle"},
      {post("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"),
       "400 length-conflict"},
      {post("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", "0\r\n\r\n"),
       "400 length-conflict"},
      {post("Transfer-Encoding: gzip\r\nContent-Length: 5\r\n"), "400 length-conflict"},
      {post("Transfer-Encoding : chunked\r\nContent-Length: 5\r\n"), "400 field-invalid"},
      {post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"),
       "400 transfer-coding-invalid"},
      {post("Transfer-Encoding: chunked, chunked\r\n"), "400 transfer-coding-invalid"},
      {post("Transfer-Encoding: chunked, identity\r\n"), "400 transfer-coding-invalid"},
      {post("Transfer-Encoding: identity\r\n"), "400 transfer-coding-invalid"},
      {post("Transfer-Encoding: xchunked\r\n"), "400 transfer-coding-invalid"},
      {post("Transfer-Encoding: \"chunked\"\r\n"), "400 transfer-coding-invalid"},
      {post("Transfer-Encoding: chunked;q=1\r\n"), "400 transfer-coding-invalid"},
      {post("Transfer-Encoding:\r\n"), "400 transfer-coding-invalid"},
      {post("Transfer-Encoding: \x0B"
            "chunked\r\n"),
       "400 control-character"},
      {post("Transfer-Encoding: gzip, chunked\r\n"), "501 transfer-coding-unsupported"},
      {"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
       "400 transfer-coding-invalid"},
  });
  CHECK(outcome_of(
            chunked("0\r\n\r\n"), [] { return 0; }, true) == "POST /p [] keep {Host=a|} + idle");
}

TEST_CASE("a chunked body is sizes, bytes, a last chunk and trailers, each exactly in place") {
  check_table({
      {chunked("1;a=b;c=\"d\"\r\nx\r\n0\r\n\r\n"), "POST /p [x] keep + idle"},
      {chunked("0000a\r\n0123456789\r\n000\r\n\r\n"), "POST /p [0123456789] keep + idle"},
      {chunked("A\r\n0123456789\r\n0\r\nX-Sum: 1\r\nHost: b\r\n\r\n"),
       "POST /p [0123456789] keep + idle"},
      {chunked("1\r\nx\r\n1\r\ny\r\n0\r\n\r\n") + get(""),
       "POST /p [xy] keep + GET / [] keep + idle"},
      {chunked("0\r\n\r\nGET"), "POST /p [] keep + head ..."},
      {chunked("1\r\nx\r\n0\r\n"), "body ..."},
      {chunked("1\r\nx"), "body ..."},
      {chunked("\r\nx"), "400 chunk-invalid"},
      {chunked(";a\r\n"), "400 chunk-invalid"},
      {chunked("x\r\n"), "400 chunk-invalid"},
      {chunked("0x1\r\nx\r\n"), "400 chunk-invalid"},
      {chunked("-1\r\nx\r\n"), "400 chunk-invalid"},
      {chunked("+1\r\nx\r\n"), "400 chunk-invalid"},
      {chunked(" 1\r\nx\r\n"), "400 chunk-invalid"},
      {chunked("1 \r\nx\r\n"), "400 chunk-invalid"},
      {chunked("1 ;a\r\nx\r\n"), "400 chunk-invalid"},
      {chunked("1\t\r\nx\r\n"), "400 chunk-invalid"},
      {chunked("1g\r\nx\r\n"), "400 chunk-invalid"},
      {chunked("1_0\r\nx\r\n"), "400 chunk-invalid"},
      {chunked("00000000000000001\r\nx\r\n"), "400 chunk-invalid"},
      {chunked("10000000000000001\r\nx\r\n"), "400 chunk-invalid"},
      {chunked("ffffffffffffffff\r\nx\r\n"), "413 body-too-large"},
      {chunked("10001\r\nx"), "413 body-too-large"},
      {chunked("1\nx\n0\n\n"), "400 line-end-invalid"},
      {chunked("1;a\nb\r\nx\r\n0\r\n\r\n"), "400 line-end-invalid"},
      {chunked("1\rx\r\n"), "400 line-end-invalid"},
      {chunked("1;\0\r\nx\r\n"s), "400 control-character"},
      {chunked("1\r\nxy\r\n0\r\n\r\n"), "400 chunk-invalid"},
      {chunked("1\r\nx0\r\n\r\n"), "400 chunk-invalid"},
      {chunked("1\r\nx\n0\r\n\r\n"), "400 chunk-invalid"},
      {chunked("1\r\nx\rX"), "400 chunk-invalid"},
      {chunked("0\r\nno colon\r\n\r\n"), "400 field-invalid"},
      {chunked("0\r\n folded: x\r\n\r\n"), "400 field-invalid"},
      {chunked("0\r\nA: b\n\r\n"), "400 line-end-invalid"},
  });
}

TEST_CASE("a chunked body has the same bounds as a sized one, and its extras are bounded too") {
  const std::string size_line = "8000;" + std::string(200, 'e') + "\r\n";
  const std::string half = std::string(0x8000, 'x');
  const std::string both = half + half;
  std::string extended;
  for (int i = 0; i < 30; ++i) extended += "1;" + std::string(200, 'e') + "\r\nx\r\n";
  std::string many_trailers = "0\r\n";
  for (int i = 0; i < 101; ++i) many_trailers += "T: x\r\n";
  check_table({
      {chunked("8000\r\n" + half + "\r\n8000\r\n" + half + "\r\n0\r\n\r\n"),
       "POST /p [" + both + "] keep + idle"},
      {chunked(size_line + half + "\r\n8000\r\n" + half + "\r\n1\r\n"), "413 body-too-large"},
      {chunked("1;" + std::string(252, 'e') + "\r\nx\r\n0\r\n\r\n"), "POST /p [x] keep + idle"},
      {chunked("1;" + std::string(253, 'e') + "\r\n"), "400 chunk-invalid"},
      {chunked("1;" + std::string(300, 'e')), "400 chunk-invalid"},
      {chunked(extended), "400 chunk-invalid"},
      {chunked(many_trailers), "431 too-many-fields"},
      {chunked("0\r\nT: " + std::string(20000, 'x')), "431 head-too-large"},
  });
}

TEST_CASE("a head has at most 16 KiB and 100 fields") {
  const std::string start = "GET / HTTP/1.1\r\nHost: a\r\n";
  const auto filled_to = [&start](std::size_t bytes) {
    return start + "A: " + std::string(bytes - start.size() - 7, 'x') + "\r\n\r\n";
  };
  std::string fields;
  for (int i = 0; i < 99; ++i) fields += "A: b\r\n";
  check_table({
      {filled_to(16384), "GET / [] keep + idle"},
      {filled_to(16385), "431 head-too-large"},
      {"GET /" + std::string(20000, 'x'), "431 head-too-large"},
      {start + "A: " + std::string(20000, 'x'), "431 head-too-large"},
      {std::string(20000, 'G'), "431 head-too-large"},
      {start + fields + "\r\n", "GET / [] keep + idle"},
      {start + fields + "A: b\r\n\r\n", "431 too-many-fields"},
      {start + std::string(9000, '\0'), "400 control-character"},
  });
}

TEST_CASE("Expect is 100-continue or refused, and a body that is too large is refused before it") {
  check_table({
      {post("Content-Length: 2\r\nExpect: 100-continue\r\n"), "body due"},
      {post("Transfer-Encoding: chunked\r\nExpect: 100-Continue\r\n"), "body due"},
      {post("Content-Length: 2\r\nExpect: 100-continue\r\n", "{"), "body ..."},
      {post("Transfer-Encoding: chunked\r\nExpect: 100-Continue\r\n", "2"), "body ..."},
      {post("Content-Length: 2\r\nExpect: 100-continue\r\n", "{}"), "POST /p [{}] keep + idle"},
      {post("Expect: 100-continue\r\n"), "POST /p [] keep + idle"},
      {post("Content-Length: 2\r\nExpect: 200-ok\r\n"), "417 expectation-unknown"},
      {post("Content-Length: 2\r\nExpect:\r\n"), "417 expectation-unknown"},
      {post("Content-Length: 2\r\nExpect: 100-continue\r\nExpect: x\r\n"),
       "417 expectation-unknown"},
      {post("Content-Length: 70000\r\nExpect: 100-continue\r\n"), "413 body-too-large"},
      {"POST / HTTP/1.0\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n", "body ..."},
      {"POST / HTTP/1.0\r\nExpect: x\r\n\r\n", "POST / [] close + idle"},
  });
}

TEST_CASE(
    "a connection goes on unless it was asked to close; in HTTP/1.0 only when asked to go on") {
  check_table({
      {get("Connection: close\r\n"), "GET / [] close + idle"},
      {get("Connection: CLOSE\r\n"), "GET / [] close + idle"},
      {get("Connection: foo , Close,bar\r\n"), "GET / [] close + idle"},
      {get("Connection: foo\r\nConnection: close\r\n"), "GET / [] close + idle"},
      {get("Connection: closed\r\n"), "GET / [] keep + idle"},
      {get("Connection: keep-alive\r\n"), "GET / [] keep + idle"},
      {get("Connection: keep-alive, close\r\n"), "GET / [] close + idle"},
      {get("Connection: ,,\r\n"), "GET / [] keep + idle"},
      {"GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n", "GET / [] keep + idle"},
      {"GET / HTTP/1.0\r\nConnection: close\r\n\r\n", "GET / [] close + idle"},
  });
}

TEST_CASE("bytes behind a request belong to the next one, and bytes behind a refusal to none") {
  check_table({
      {get("") + post("Content-Length: 2\r\n", "{}") + get(""),
       "GET / [] keep + POST /p [{}] keep + GET / [] keep + idle"},
      {get("") + "X\r\n\r\n" + get(""), "GET / [] keep + 400 request-line-invalid"},
      {post("Content-Length: x\r\n", get("")), "400 length-invalid"},
  });
}

TEST_CASE("a request in the making holds memory in proportion to its limits") {
  Framing framing{FramingLimits{}};
  const std::string head = post("Content-Length: 65536\r\n");
  CHECK(framing.feed(head) == head.size());
  const std::string body(65535, 'x');
  CHECK(framing.feed(body) == body.size());
  CHECK(framing.state() == Framing::State::body);
  CHECK(framing.bytes_held() < 200'000);
  CHECK(framing.feed("xGET") == 1);
  CHECK(framing.take().body.size() == 65536);
  CHECK(framing.bytes_held() < 100);
  CHECK(framing.state() == Framing::State::idle);
}

}  // namespace oncepay::http::edge::testing

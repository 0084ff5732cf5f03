// Addresses to listen on: what may be written, and what happens on them.
#include "http/edge/listen.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>

#include "http/edge/raw_client.hpp"
#include "http/edge/test_handler.hpp"

namespace oncepay::http::edge::testing {
namespace {

std::string message_of(const std::function<void()>& action) {
  try {
    action();
    return "";
  } catch (const std::exception& fault) {
    return fault.what();
  }
}

struct TemporaryFolder {
  TemporaryFolder() {
    std::string name = "/tmp/edge-test-XXXXXX";
    path = ::mkdtemp(name.data());
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  std::string path;
};

std::string echo_over(RawClient client) {
  client.send(get("/echo"));
  const auto answer = client.read_answer();
  return answer ? answer->body : "";
}

}  // namespace

TEST_CASE("an address to listen on is host:port, [IPv6]:port or unix:path?mode=") {
  CHECK(parse_listen("127.0.0.1:8080").host == "127.0.0.1");
  CHECK(parse_listen("127.0.0.1:8080").port == 8080);
  CHECK(parse_listen("localhost:0").port == 0);
  CHECK(parse_listen("[::1]:65535").host == "::1");
  CHECK(to_string(parse_listen("[::1]:65535")) == "[::1]:65535");
  CHECK(parse_listen("unix:/run/a.sock").unix_path == "/run/a.sock");
  CHECK(parse_listen("unix:/run/a.sock").unix_mode == 0660);
  CHECK(parse_listen("unix:/run/a.sock?mode=0600").unix_mode == 0600);
  for (const char* wrong :
       {"", "8080", "127.0.0.1", ":8080", "127.0.0.1:", "127.0.0.1:x", "127.0.0.1:65536",
        "127.0.0.1:-1", "::1:80", "[]:80", "unix:", "unix:/a?mode=9",
        "unix:/a?mode=", "unix:/a?mode=1777", "unix:/a?x=1"}) {
    CAPTURE(wrong);
    CHECK(message_of([&] { static_cast<void>(parse_listen(wrong)); }) != "");
  }
  CHECK(message_of([] { static_cast<void>(parse_listen("unix:/" + std::string(108, 'x'))); }) !=
        "");
}

TEST_CASE("a second server on the same port fails with a message that says why") {
  Edge first;
  EdgeConfig config = Edge::defaults();
  config.listen.port = first.port();
  const std::string message = message_of([&] { Edge second(config); });
  CHECK(message.find("cannot listen on 127.0.0.1:" + std::to_string(first.port())) == 0);
  CHECK(message.find("Address already in use\nHINT: ") != std::string::npos);
}

TEST_CASE("a port that was just served can be listened on again at once") {
  EdgeConfig config = Edge::defaults();
  {
    Edge first;
    config.listen.port = first.port();
    CHECK(echo_over(RawClient(first.port())) == "GET /echo []");
  }
  Edge second(config);
  CHECK(echo_over(RawClient(second.port())) == "GET /echo []");
}

TEST_CASE("a Unix socket is served with the mode it was given, and its file goes with the server") {
  const TemporaryFolder folder;
  const std::string path = folder.path + "/edge.sock";
  EdgeConfig config = Edge::defaults();
  config.listen = parse_listen("unix:" + path + "?mode=0600");
  {
    Edge edge(config);
    struct stat file {};
    REQUIRE(::stat(path.c_str(), &file) == 0);
    CHECK((file.st_mode & 0777) == 0600);
    CHECK(edge.port() == 0);
    CHECK(echo_over(RawClient::to_unix(path)) == "GET /echo []");
    CHECK(message_of([&] { Edge second(config); }).find("HINT: ") != std::string::npos);
    CHECK(echo_over(RawClient::to_unix(path)) == "GET /echo []");
  }
  CHECK_FALSE(std::filesystem::exists(path));
}

TEST_CASE("the file of a Unix socket that nobody serves is replaced, any other file is not") {
  const TemporaryFolder folder;
  const std::string path = folder.path + "/edge.sock";
  EdgeConfig config = Edge::defaults();
  config.listen = parse_listen("unix:" + path);
  {
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    path.copy(name.sun_path, sizeof(name.sun_path) - 1);
    const Descriptor stale(::socket(AF_UNIX, SOCK_STREAM, 0));
    REQUIRE(::bind(stale.get(), reinterpret_cast<const sockaddr*>(&name), sizeof(name)) == 0);
  }
  {
    Edge edge(config);
    CHECK(echo_over(RawClient::to_unix(path)) == "GET /echo []");
  }
  std::ofstream(path) << "not a socket";
  CHECK(message_of([&] { Edge edge(config); }).find("File exists") != std::string::npos);
}

TEST_CASE("one socket on [::] serves IPv4 clients under their own address") {
  EdgeConfig config = Edge::defaults();
  config.listen = parse_listen("[::]:0");
  std::unique_ptr<Edge> edge;
  try {
    edge = std::make_unique<Edge>(config);
  } catch (const std::runtime_error&) {
    MESSAGE("no IPv6 here");
    return;
  }
  CHECK(echo_over(RawClient(edge->port())) == "GET /echo []");
}

TEST_CASE("a setting that cannot work is refused with its name") {
  TestHandler handler;
  EdgeConfig config = Edge::defaults();
  config.worker_threads = 0;
  CHECK(message_of([&] { Server server(config, handler); }) ==
        "worker_threads must be more than zero");
}

}  // namespace oncepay::http::edge::testing

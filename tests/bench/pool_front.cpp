// Yardstick for the edge: the same routes and engine behind cpp-httplib with its thread pool, where
// a connection keeps its thread until it closes and waiting for an answer blocks it.
//
//   ONCEPAY_DATABASE_URL=… oncepay_pool_front PORT THREADS
//
// For measurements on loopback alone. It is as fast as its options make it: TCP_NODELAY and a long
// keep-alive. Debian's library is compiled, so what a macro would set (poll, backlog) is as it is.
#include <httplib.h>

#include <cstdlib>
#include <future>
#include <string>

#include "access/authenticator.hpp"
#include "db/pool.hpp"
#include "http/render.hpp"
#include "http/routes.hpp"
#include "once/engine.hpp"
#include "payments/executors.hpp"
#include "runtime/log.hpp"
#include "runtime/metrics.hpp"
#include "runtime/thread_pool.hpp"

namespace {

using namespace oncepay;

http::Request request_of(const httplib::Request& got) {
  http::Request request;
  request.method = got.method;
  request.target = got.target;
  for (const auto& [name, value] : got.headers) {
    if (name.rfind("REMOTE_", 0) != 0 && name.rfind("LOCAL_", 0) != 0) {
      request.headers.push_back({name, value});
    }
  }
  request.body = got.body;
  request.remote_address = got.remote_addr;
  return request;
}

void serve_one(http::Handler& handler, const httplib::Request& got, httplib::Response& response) {
  std::promise<http::Response> promise;
  auto answer = promise.get_future();
  handler.handle(request_of(got),
                 [&promise](http::Response made) { promise.set_value(std::move(made)); });
  http::Response made = answer.get();
  response.status = made.status;
  std::string content_type = "application/json";
  for (const auto& header : made.headers) {
    if (http::equals_ignoring_case(header.name, "Content-Type")) {
      content_type = header.value;
    } else {
      response.set_header(header.name, header.value);
    }
  }
  response.set_content(std::move(made.body), content_type.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  const char* url = std::getenv("ONCEPAY_DATABASE_URL");
  if (argc != 3 || url == nullptr) return 2;
  runtime::Log log(runtime::LogLevel::info);
  runtime::Metrics metrics;
  db::ConnectionSettings database;
  database.url = url;
  db::Pool reads(database, 4, std::chrono::seconds(2));
  access::Authenticator authenticator(reads, std::chrono::seconds(5), 100);
  payments::PaymentExecutor payments(http::make_renderers(), metrics);
  payments::AccountExecutor accounts(http::make_renderers(), metrics);
  once::EngineSettings settings;
  settings.database = database;
  once::Engine engine(settings, reads, log, metrics);
  runtime::ThreadPool blocking(4, 4'096);
  runtime::ThreadPool door(2, 4'096);
  http::Routes routes(
      {engine, reads, authenticator, blocking, door, log, metrics, payments, accounts}, {});

  httplib::Server server;
  const std::size_t threads = std::stoul(argv[2]);
  server.new_task_queue = [threads] { return new httplib::ThreadPool(threads); };
  server.set_tcp_nodelay(true);
  server.set_keep_alive_max_count(100'000'000);
  server.set_keep_alive_timeout(60);
  const auto serve = [&routes](const httplib::Request& got, httplib::Response& response) {
    serve_one(routes, got, response);
  };
  server.Get(".*", serve);
  server.Post(".*", serve);
  return server.listen("127.0.0.1", std::stoi(argv[1])) ? 0 : 1;
}

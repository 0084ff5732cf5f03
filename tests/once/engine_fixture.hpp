// An engine on a database of the test's own, with real executors, called directly and without HTTP.
#pragma once

#include <chrono>
#include <cstddef>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "db/pool.hpp"
#include "once/engine.hpp"
#include "once/plain_answers.hpp"
#include "payments/executors.hpp"
#include "runtime/digest.hpp"
#include "runtime/log.hpp"
#include "runtime/metrics.hpp"
#include "support/database.hpp"
#include "support/waiting.hpp"

namespace oncepay::test {

class EngineFixture {
 public:
  explicit EngineFixture(once::EngineSettings wanted = {})
      : tenant_id(make_tenant("one")), log_(runtime::LogLevel::error) {
    settings_ = std::move(wanted);
    settings_.database.url = database.url();
    database_settings_ = settings_.database;
    reads_ = std::make_unique<db::Pool>(database_settings_, 2, std::chrono::seconds(2));
    restart();
  }

  // Before what it uses.
  ~EngineFixture() { engine.reset(); }
  EngineFixture(const EngineFixture&) = delete;
  EngineFixture& operator=(const EngineFixture&) = delete;

  // Another instance on the same database.
  void restart() {
    engine.reset();
    metrics_ = std::make_unique<runtime::Metrics>();
    engine = make_engine(*metrics_);
  }
  // One that is ready.
  std::unique_ptr<once::Engine> make_engine(runtime::Metrics& metrics) {
    auto made = std::make_unique<once::Engine>(settings_, *reads_, log_, metrics);
    REQUIRE(support::eventually([&made] { return made->ready(); }));
    return made;
  }

  std::string make_tenant(const std::string& name) {
    return database.sql().text(
        "INSERT INTO tenants (id, name) VALUES (gen_random_uuid(), $1) "
        "RETURNING id",
        {name});
  }
  void add_account(const std::string& id, std::int64_t balance, const std::string& limit = "0",
                   const std::string& currency = "EUR") {
    database.sql().run(
        "INSERT INTO accounts (tenant_id, id, currency, balance, overdraft_limit) "
        "VALUES ($1, $2, $3, $4, NULLIF($5, 'null')::bigint)",
        {tenant_id, id, currency, std::to_string(balance), limit});
  }
  std::int64_t balance_of(const std::string& id) {
    return database.sql().number("SELECT balance FROM accounts WHERE tenant_id = $1 AND id = $2",
                                 {tenant_id, id});
  }

  once::Operation operation(const std::string& key, std::unique_ptr<const once::Payload> payload,
                            once::Executor& executor, const std::string& body) {
    once::Operation made;
    made.tenant_id = tenant_id;
    made.key = key;
    made.identity = {"POST", "/v1/payments", body};
    made.fingerprint =
        once::fingerprint_of(made.identity, once::fingerprint_version_current).value();
    made.executor = &executor;
    made.payload = std::move(payload);
    return made;
  }
  once::Operation payment(const std::string& key, const std::string& source,
                          const std::string& destination, std::int64_t amount,
                          const std::string& currency = "EUR") {
    auto request = std::make_unique<payments::PaymentRequest>();
    request->amount = amount;
    request->currency = currency;
    request->source = source;
    request->destination = destination;
    const std::string body = source + ">" + destination + ":" + std::to_string(amount) + currency;
    return operation(key, std::move(request), payment_executor, body);
  }

  std::future<Resolution> submit(once::Operation made, std::chrono::milliseconds wait = {}) {
    auto promise = std::make_shared<std::promise<Resolution>>();
    auto future = promise->get_future();
    engine->submit(std::move(made), wait,
                   [promise](Resolution resolution) { promise->set_value(std::move(resolution)); });
    return future;
  }
  Resolution run(once::Operation made, std::chrono::milliseconds wait = {}) {
    auto future = submit(std::move(made), wait);
    REQUIRE(future.wait_for(std::chrono::seconds(30)) == std::future_status::ready);
    return future.get();
  }
  double metric(const std::string& name) {
    const std::string text = metrics_->text();
    const auto at = text.find("\n" + name + " ");
    return at == std::string::npos ? 0 : std::stod(text.substr(at + name.size() + 2));
  }

  support::Database database;
  std::string tenant_id;
  runtime::Metrics executor_metrics;
  payments::PaymentExecutor payment_executor{plain_renderers(), executor_metrics};
  payments::AccountExecutor account_executor{plain_renderers(), executor_metrics};
  std::unique_ptr<once::Engine> engine;

 private:
  runtime::Log log_;
  once::EngineSettings settings_;
  db::ConnectionSettings database_settings_;
  std::unique_ptr<db::Pool> reads_;
  std::unique_ptr<runtime::Metrics> metrics_;
};

inline once::EngineSettings one_lane() {
  once::EngineSettings settings;
  settings.lanes = 1;
  settings.database.lock_timeout = std::chrono::milliseconds(300);
  return settings;
}

inline std::vector<std::string> texts_of(std::vector<std::future<Resolution>> futures) {
  std::vector<std::string> texts;
  for (auto& future : futures) texts.push_back(text_of(future.get()));
  return texts;
}

}  // namespace oncepay::test

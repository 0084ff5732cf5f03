// The command line: every setting is a flag and a variable, the flag wins, `--help` tells all of
// them, and what is unknown or invalid is refused at start with the setting named (exit 2).
#include <doctest/doctest.h>

#include "support/names.hpp"
#include "support/problem.hpp"
#include "support/shop.hpp"

namespace {

using namespace support;

Database& database() {
  static Database instance;
  return instance;
}

// Refused at start: exit 2, the setting named, and never its value when that may be a secret.
void expect_refused(const Command& command, const std::string& named) {
  const Finished refused = run(command, 20s);
  std::string shown;
  for (const std::string& argument : command.arguments) {
    shown += argument + " ";
  }
  INFO(shown, "said: ", refused.all());
  CHECK(refused.exit_code == 2);
  CHECK(refused.all().find(named) != std::string::npos);
}

std::vector<std::string> serve_with(std::vector<std::string> more) {
  more.insert(more.begin(), {"serve", "--listen", "127.0.0.1:0"});
  return more;
}

}  // namespace

TEST_CASE(
    "an invalid value is refused with exit 2 and the setting named, as flag and as variable") {
  struct Attempt {
    const char* flag;
    const char* variable;
    const char* value;
  };
  for (const Attempt& attempt : {Attempt{"retention", "ONCEPAY_RETENTION", "abc"},
                                 {"retention", "ONCEPAY_RETENTION", "-1"},
                                 {"retention", "ONCEPAY_RETENTION", "0"},
                                 {"retention", "ONCEPAY_RETENTION", "1.5"},
                                 {"retention", "ONCEPAY_RETENTION", "99999999999999999999"},
                                 {"lanes", "ONCEPAY_LANES", "0"},
                                 {"lanes", "ONCEPAY_LANES", "many"},
                                 {"lock-timeout", "ONCEPAY_LOCK_TIMEOUT", "-5"},
                                 {"lock-timeout", "ONCEPAY_LOCK_TIMEOUT", "10s10"},
                                 {"cleanup", "ONCEPAY_CLEANUP", "perhaps"},
                                 {"cleanup-interval", "ONCEPAY_CLEANUP_INTERVAL", "0"},
                                 {"cleanup-batch-size", "ONCEPAY_CLEANUP_BATCH_SIZE", "-1"},
                                 {"batch-operations-max", "ONCEPAY_BATCH_OPERATIONS_MAX", "0"},
                                 {"queue-operations-max", "ONCEPAY_QUEUE_OPERATIONS_MAX", "x"},
                                 {"key-format", "ONCEPAY_KEY_FORMAT", "guid"},
                                 {"shutdown-grace", "ONCEPAY_SHUTDOWN_GRACE", "soon"},
                                 {"log-level", "ONCEPAY_LOG_LEVEL", "loudest"}}) {
    const std::string flag = std::string("--") + attempt.flag;
    expect_refused(database().oncepay(serve_with({flag + "=" + attempt.value})), attempt.flag);
    const Command by_variable =
        database().oncepay(serve_with({}), {{attempt.variable, attempt.value}});
    const Finished refused = run(by_variable, 20s);
    INFO(attempt.variable, "=", attempt.value, " said: ", refused.all());
    CHECK(refused.exit_code == 2);
    // Either of its two names will do.
    CHECK((refused.all().find(attempt.variable) != std::string::npos ||
           refused.all().find(attempt.flag) != std::string::npos));
  }
}

TEST_CASE("an address that cannot be listened on is refused with its setting named") {
  for (const char* address : {"nonsense", "127.0.0.1:99999", "127.0.0.1:x", ""}) {
    expect_refused(database().oncepay({"serve", std::string("--listen=") + address}), "listen");
  }
}

TEST_CASE("an unknown setting is refused with exit 2 and named, as flag and as variable") {
  expect_refused(database().oncepay(serve_with({"--retentoin=1"})), "retentoin");
  expect_refused(database().oncepay(serve_with({}), {{"ONCEPAY_RETENTOIN", "1"}}),
                 "ONCEPAY_RETENTOIN");
  expect_refused(database().oncepay({"cleanup", "--batchsize=1"}), "batchsize");
  expect_refused(database().oncepay({"cleanup", "--batch-size=0"}), "batch-size");
  expect_refused(database().oncepay({"cleanup", "--max-batches=-1"}), "max-batches");
}

TEST_CASE("an unknown command, and none at all, are refused with exit 2") {
  expect_refused(oncepay({"srve"}), "srve");
  CHECK(run(oncepay({})).exit_code == 2);
  CHECK(run(oncepay({"migrate"})).exit_code == 2);
  CHECK(run(oncepay({"migrate", "sideways"})).exit_code == 2);
  CHECK(run(oncepay({"tenant"})).exit_code == 2);
}

TEST_CASE("the flag wins over the variable") {
  const Instance instance(database(), {"--key-format=any"}, {{"ONCEPAY_KEY_FORMAT", "uuid"}});
  Caller caller(instance, create_tenant(database()));
  CHECK(caller.pay("no-uuid", Payment{1, "EUR", "a", "b"}).type() == problems::account_not_found);
}

TEST_CASE("a variable alone is enough") {
  const Instance instance(database(), {}, {{"ONCEPAY_KEY_FORMAT", "uuid"}});
  Caller caller(instance, create_tenant(database()));
  CHECK(caller.pay("no-uuid", Payment{1, "EUR", "a", "b"}).type() == problems::key_invalid);
}

TEST_CASE("the database's URL is taken as a flag by every command that needs one") {
  for (const char* command : {"verify", "cleanup"}) {
    CHECK(run(oncepay({command, "--database-url", database().url()})).exit_code == 0);
  }
  CHECK(run(oncepay({"migrate", "status", "--database-url", database().url()})).exit_code == 0);
  CHECK(run(oncepay({"tenant", "list", "--database-url", database().url()})).exit_code == 0);
  const Finished missing = run(oncepay({"verify"}));
  CHECK(missing.exit_code == 2);
  CHECK(missing.all().find("database-url") != std::string::npos);
}

TEST_CASE("--help prints each setting's name, variable, default, unit and meaning, and succeeds") {
  CHECK(run(oncepay({"--help"})).exit_code == 0);
  const Finished help = run(oncepay({"serve", "--help"}));
  CHECK(help.exit_code == 0);
  for (const char* word : {"--listen",
                           "127.0.0.1:8080",
                           "ONCEPAY_LISTEN",
                           "--database-url",
                           "ONCEPAY_DATABASE_URL",
                           "--migrate",
                           "--cleanup",
                           "--cleanup-interval",
                           "--cleanup-batch-size",
                           "1000",
                           "--retention",
                           "86400",
                           "ONCEPAY_RETENTION",
                           "--lanes",
                           "--batch-operations-max",
                           "--queue-operations-max",
                           "--lock-timeout",
                           "--key-format",
                           "--shutdown-grace",
                           "20",
                           "--log-level",
                           "seconds",
                           "ms"}) {
    INFO("missing: ", word);
    CHECK(help.out.find(word) != std::string::npos);
  }
  const Finished cleanup = run(oncepay({"cleanup", "--help"}));
  CHECK(cleanup.exit_code == 0);
  for (const char* word : {"--batch-size", "--max-batches", "--dry-run", "1000"}) {
    CHECK(cleanup.out.find(word) != std::string::npos);
  }
}

TEST_CASE("version tells its version, commit and schema, with and without a database") {
  const Finished version = run(oncepay({"version"}));
  CHECK(version.exit_code == 0);
  CHECK(version.out.find("oncepay") != std::string::npos);
  for (const char* word : {"commit", "schema", "libpqxx"}) {
    INFO("missing: ", word);
    CHECK(version.out.find(word) != std::string::npos);
  }
}

TEST_CASE("a database's password is never echoed, neither in refusals nor in logs") {
  const std::string secret = "s3cret-of-the-database";
  const std::string url = "postgresql://somebody:" + secret + "@127.0.0.1:1/nothing";
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"verify"},
        {"migrate", "up"},
        {"cleanup"},
        {"tenant", "list"},
        {"serve", "--listen", "127.0.0.1:0", "--retention=abc"}}) {
    const Finished failed = run(oncepay(arguments, {{"ONCEPAY_DATABASE_URL", url}}));
    INFO(arguments.front(), " said: ", failed.all());
    CHECK(failed.exit_code != 0);
    CHECK_FALSE(failed.all().empty());
    CHECK(failed.all().find(secret) == std::string::npos);
  }
  const Finished malformed =
      run(oncepay({"verify"}, {{"ONCEPAY_DATABASE_URL", "postgresql://x:" + secret + "@[:/ "}}));
  CHECK(malformed.exit_code != 0);
  CHECK(malformed.all().find(secret) == std::string::npos);
}

TEST_CASE("an address that is taken is refused, not shared with somebody else") {
  const Instance first(database());
  const std::string address = "127.0.0.1:" + std::to_string(first.port());
  Child second = start(database().oncepay({"serve", "--listen", address}));
  const std::optional<int> exit_code = second.wait_for(20s);
  REQUIRE(exit_code.has_value());
  CHECK(*exit_code != 0);
  CHECK(second.err().find(address) != std::string::npos);
}

TEST_CASE("the log is one JSON object a line, on stderr alone") {
  Instance instance(database());
  Caller caller(instance, create_tenant(database()));
  caller.pay(fresh_key(), Payment{1, "EUR", "a", "b"});
  CHECK(instance.terminate() == 0);
  std::istringstream lines(instance.log());
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    INFO("line: ", line);
    CHECK(nlohmann::json::parse(line, nullptr, false).is_object());
  }
  CHECK(count > 1);
}

#include "cli/command_line.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <string>
#include <vector>

#include "cli/operator_error.hpp"
#include "support/child.hpp"

using namespace oncepay;
using namespace oncepay::cli;

namespace {

using Words = std::vector<std::string>;

const Environment with_url{{"ONCEPAY_DATABASE_URL", "postgresql://user:geheim@host/name"}};

Config parse(const Words& words, Environment environment = with_url) {
  return std::get<Config>(parse_command_line(words, environment));
}

// The message of a refusal; empty when nothing was refused. Neither it nor its hint repeats a
// value.
std::string refusal_of(const Words& words, const Environment& environment = with_url) {
  try {
    parse_command_line(words, environment);
  } catch (const OperatorError& error) {
    CHECK(error.exit_code() == exit_usage);
    const std::string all = error.what() + error.hint();
    CHECK(all.find("geheim") == std::string::npos);
    return error.what();
  }
  return "";
}

Environment also(const std::string& name, const std::string& value) {
  Environment environment = with_url;
  environment[name] = value;
  return environment;
}

}  // namespace

TEST_CASE("each command is known by its words") {
  const std::vector<std::pair<Words, Command>> commands{
      {{"serve"}, Command::serve},
      {{"migrate", "up"}, Command::migrate_up},
      {{"migrate", "status"}, Command::migrate_status},
      {{"migrate", "verify"}, Command::migrate_verify},
      {{"cleanup"}, Command::cleanup},
      {{"tenant", "create", "demo"}, Command::tenant_create},
      {{"tenant", "list"}, Command::tenant_list},
      {{"apikey", "create", "--tenant", "demo", "--scopes", "read"}, Command::apikey_create},
      {{"apikey", "list"}, Command::apikey_list},
      {{"apikey", "revoke", "7"}, Command::apikey_revoke},
      {{"verify"}, Command::verify},
      {{"version"}, Command::version},
  };
  for (const auto& [words, command] : commands) CHECK(parse(words).command == command);
  CHECK(parse({"tenant", "create", "demo"}).tenant_name == "demo");
  CHECK(parse({"apikey", "revoke", "7"}).api_key_id == "7");
}

TEST_CASE("a setting comes from its flag, else from its variable, else from its default") {
  CHECK(parse({"serve"}).engine.lanes == 2);
  CHECK(parse({"serve"}, also("ONCEPAY_LANES", "3")).engine.lanes == 3);
  CHECK(parse({"serve", "--lanes", "4"}, also("ONCEPAY_LANES", "3")).engine.lanes == 4);
  CHECK(parse({"serve", "--lanes=4"}).engine.lanes == 4);
  CHECK(parse({"serve"}, also("ONCEPAY_LANES", "")).engine.lanes == 2);

  CHECK_FALSE(parse({"serve"}).migrate);
  CHECK(parse({"serve", "--migrate"}).migrate);
  CHECK(parse({"serve"}, also("ONCEPAY_MIGRATE", "on")).migrate);
  CHECK_FALSE(parse({"serve"}, also("ONCEPAY_MIGRATE", "off")).migrate);

  const Config config =
      parse({"serve", "--retention", "60", "--cleanup=off", "--key-format", "uuid", "--listen",
             "[::1]:0", "--lock-timeout", "250", "--log-level", "debug"});
  CHECK(config.engine.retention == std::chrono::seconds(60));
  CHECK_FALSE(config.cleanup.enabled);
  CHECK(config.engine.key_format == once::KeyFormat::uuid);
  CHECK(config.edge.listen.host == "::1");
  CHECK(config.edge.listen.port == 0);
  CHECK(config.engine.lock_timeout == std::chrono::milliseconds(250));
  CHECK(config.log_level == runtime::LogLevel::debug);
}

TEST_CASE("what is unknown or invalid is refused by the name of its setting") {
  struct Row {
    Words words;
    std::string named;
  };
  const std::vector<Row> rows{
      {{"serve", "--lane", "2"}, "--lane"},
      {{"serve", "--database-ur=postgresql://user:geheim@host/name"}, "--database-ur"},
      {{"serve", "--lanes", "0"}, "--lanes"},
      {{"serve", "--lanes", "65"}, "--lanes"},
      {{"serve", "--lanes", "-1"}, "--lanes"},
      {{"serve", "--lanes", "+2"}, "--lanes"},
      {{"serve", "--lanes", "2.0"}, "--lanes"},
      {{"serve", "--lanes", "0x2"}, "--lanes"},
      {{"serve", "--lanes", " 2"}, "--lanes"},
      {{"serve", "--lanes", "99999999999999999999"}, "--lanes"},
      {{"serve", "--lanes", ""}, "--lanes"},
      {{"serve", "--lanes"}, "--lanes"},
      {{"serve", "--lanes", "2", "--lanes", "3"}, "--lanes"},
      {{"serve", "--listen", "127.0.0.1"}, "--listen"},
      {{"serve", "--listen", ":8080"}, "--listen"},
      {{"serve", "--listen", "::1:8080"}, "--listen"},
      {{"serve", "--listen", "127.0.0.1:65536"}, "--listen"},
      {{"serve", "--cleanup", "yes"}, "--cleanup"},
      {{"serve", "--key-format", "UUID"}, "--key-format"},
      {{"serve", "--log-level", "loud"}, "--log-level"},
      {{"serve", "--tls-cert", "cert.pem"}, "--tls-key"},
      {{"serve", "--database-url", "geheim"}, "--database-url"},
      {{"serve", "--database-url", "postgresql://user:ge%zzheim@host/"}, "--database-url"},
      {{"migrate", "status", "--lanes", "2"}, "--lanes"},
      {{"migrate", "status", "geheim"}, "argument"},
      {{"apikey", "create", "--tenant", "demo"}, "--scopes"},
      {{"tenant", "create"}, "argument"},
      {{"migrate"}, "command"},
      {{}, "command"},
  };
  for (const auto& [words, named] : rows) {
    CAPTURE(named);
    CHECK(refusal_of(words).find(named) != std::string::npos);
  }
}

TEST_CASE("a variable that is unknown or invalid is refused by its name") {
  CHECK(refusal_of({"serve"}, also("ONCEPAY_LANES", "geheim")).find("ONCEPAY_LANES: ") == 0);
  CHECK(refusal_of({"serve"}, also("ONCEPAY_CLEANUP", "geheim")).find("ONCEPAY_CLEANUP: ") == 0);
  CHECK(refusal_of({"serve"}, also("ONCEPAY_MIGRATE", "geheim")).find("ONCEPAY_MIGRATE: ") == 0);
  CHECK(refusal_of({"serve"}, also("ONCEPAY_LANE", "2")).find("ONCEPAY_LANE") != std::string::npos);
  CHECK(refusal_of({"version"}, also("ONCEPAY_", "2")).find("ONCEPAY_") != std::string::npos);
}

TEST_CASE("a variable for another command does no harm") {
  CHECK(refusal_of({"migrate", "up"}, also("ONCEPAY_LANES", "3")).empty());
}

TEST_CASE("the variables that Kubernetes makes of a service named oncepay are no settings") {
  Environment pod = with_url;
  for (const char* name :
       {"ONCEPAY_SERVICE_HOST", "ONCEPAY_SERVICE_PORT", "ONCEPAY_SERVICE_PORT_HTTP", "ONCEPAY_PORT",
        "ONCEPAY_PORT_8080_TCP", "ONCEPAY_PORT_8080_TCP_ADDR", "ONCEPAY_DB_SERVICE_HOST",
        "ONCEPAY_DB_PORT_5432_TCP_PROTO"}) {
    pod[name] = "tcp://10.0.0.1:8080";
  }
  CHECK(refusal_of({"serve"}, pod).empty());
}

TEST_CASE("the database URL comes from a flag, a variable or a file, and is needed") {
  const std::string path = support::scratch_file("url");
  std::ofstream(path) << "postgresql://from@file/name  \r\nsecond line\n";

  CHECK(parse({"verify"}).database_url == with_url.at("ONCEPAY_DATABASE_URL"));
  CHECK(parse({"verify", "--database-url", "host=x"}).database_url == "host=x");
  CHECK(parse({"verify", "--database-url-file", path}).database_url ==
        "postgresql://from@file/name");
  CHECK(parse({"verify"}, {{"ONCEPAY_DATABASE_URL_FILE", path}}).database_url ==
        "postgresql://from@file/name");
  CHECK(parse({"verify", "--database-url", "host=x"}, {{"ONCEPAY_DATABASE_URL_FILE", path}})
            .database_url == "host=x");

  CHECK(refusal_of({"verify"}, {}) == "--database-url is missing");
  CHECK(refusal_of({"verify"}, also("ONCEPAY_DATABASE_URL_FILE", path)).find("both") !=
        std::string::npos);
  CHECK(refusal_of({"verify", "--database-url-file", "/no/such/geheim"}, {})
            .find("--database-url-file") == 0);
  CHECK(refusal_of({"version"}, {}).empty());
}

TEST_CASE("help lists each setting of a command with default, variable and range, and no secret") {
  const auto help = std::get<Help>(parse_command_line({"serve", "--help"}, with_url)).text;
  for (const char* part :
       {"--lock-timeout ms", "default 500; ONCEPAY_LOCK_TIMEOUT", "(1 to 60000)",
        "--database-url url", "default none; ONCEPAY_DATABASE_URL\n", "--cleanup on|off",
        "default on; ONCEPAY_CLEANUP\n", "default 127.0.0.1:8080; ONCEPAY_LISTEN"}) {
    CAPTURE(part);
    CHECK(help.find(part) != std::string::npos);
  }
  CHECK(help.find("geheim") == std::string::npos);
  const auto root = std::get<Help>(parse_command_line({"--help"}, {})).text;
  for (const char* command : {"serve", "migrate", "cleanup", "tenant", "apikey", "verify"}) {
    CHECK(root.find(command) != std::string::npos);
  }
}

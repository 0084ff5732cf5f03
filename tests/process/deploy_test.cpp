// The files below deploy/ do what they say: cleanup for pg_cron has the same algorithm as the
// command's (pg_cron_test.cpp runs it), and units and crontabs have commands that the binary takes.
#include <doctest/doctest.h>

#include <filesystem>
#include <regex>

#include "support/names.hpp"
#include "support/shop.hpp"

namespace {

using namespace support;

std::filesystem::path checkout() {
  return std::filesystem::path(required_environment(environment::scripts)).parent_path();
}

// The DELETE of a file without its line ends and indents.
std::string removal_in(const std::filesystem::path& file) {
  std::string text = contents_of(file);
  text = text.substr(text.find("WITH expired AS ("));
  text = text.substr(0, text.find("k.key = expired.key") + 19);
  text = std::regex_replace(text, std::regex("batch_size"), "$$1::bigint");
  return std::regex_replace(text, std::regex("\\s+"), " ");
}

}  // namespace

TEST_CASE("pg_cron, the command and the thread remove keys with one and the same statement") {
  const std::string ours = removal_in(checkout() / "sql/once/remove_expired_keys.sql");
  CHECK(ours.find("FOR UPDATE SKIP LOCKED") != std::string::npos);
  CHECK(removal_in(checkout() / "deploy/pg_cron/cleanup.sql") == ours);
  const std::string turn = "pg_try_advisory_xact_lock(1869505381, 2)";
  CHECK(contents_of(checkout() / "sql/once/try_cleanup_turn.sql").find(turn) != std::string::npos);
  CHECK(contents_of(checkout() / "deploy/pg_cron/cleanup.sql").find(turn) != std::string::npos);
}

TEST_CASE("every command in a unit, a crontab or a CronJob is one that the binary takes") {
  std::size_t commands = 0;
  const std::regex call(
      "(?:/oncepay|oncepay oncepay|oncepay-cleanup oncepay) ([a-z]+)((?: --?[^ \n|]+"
      "(?: [^ \n|-][^ \n|]*)?)*)");
  const std::regex image("args: \\[([a-z]+)()\\]");
  const std::regex flag("--[a-z-]+");
  for (const char* file :
       {"deploy/cron/oncepay", "deploy/systemd/oncepay.service",
        "deploy/systemd/oncepay-cleanup.service", "deploy/systemd/oncepay-verify.service",
        "deploy/kubernetes/oncepay.yaml"}) {
    const std::string text = contents_of(checkout() / file);
    for (const auto* pattern : {&call, &image}) {
      for (std::sregex_iterator at(text.begin(), text.end(), *pattern), end; at != end; ++at) {
        const Finished help = run(oncepay({at->str(1), "--help"}));
        INFO(file, ": ", at->str());
        CHECK(help.exit_code == 0);
        const std::string flags = at->str(2);
        for (std::sregex_iterator one(flags.begin(), flags.end(), flag); one != end; ++one) {
          CHECK(help.out.find(one->str()) != std::string::npos);
        }
        ++commands;
      }
    }
  }
  CHECK(commands == 8);
}

TEST_CASE("every query that the runbook shows runs on a database of this release") {
  Database database;
  const std::string text = contents_of(checkout() / "deploy/runbook.md");
  const std::string opening = "```sql\n";
  std::size_t queries = 0;
  for (auto at = text.find(opening); at != std::string::npos; at = text.find(opening, at + 1)) {
    const auto begin = at + opening.size();
    const std::string query = text.substr(begin, text.find("```", begin) - begin);
    INFO(query);
    CHECK(database.sql().sqlstate_of(query) == "00000");
    ++queries;
  }
  CHECK(queries == 4);
}

// The commands with their settings, as CLI11 knows them.
//
// Private to cli. Lives as long as the parse: the settings write into the Config given to it.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "cli/config.hpp"

namespace oncepay::cli {

class CommandTree {
 public:
  explicit CommandTree(Config& config);
  CommandTree(const CommandTree&) = delete;
  CommandTree& operator=(const CommandTree&) = delete;

  CLI::App& root() { return root_; }
  // The command that was given, as far as it was given: `migrate` alone is none yet.
  CLI::App& given();
  [[nodiscard]] std::optional<Command> command_of(const CLI::App& app) const;

  // Of all commands: a variable that is meant for `serve` does no harm to `migrate`.
  [[nodiscard]] std::set<std::string> known_variables();

  // The path that --database-url-file gave, if any.
  [[nodiscard]] const std::string& url_file() const { return url_file_; }

 private:
  CLI::App& add_group(const std::string& name, const std::string& does);
  CLI::App& add(CLI::App& parent, const std::string& name, const std::string& does,
                Command command);
  void add_migrate();
  void add_callers();

  Config& config_;
  std::string url_file_;
  CLI::App root_{"A payment service that pays once, however often it is asked to.", "oncepay"};
  std::map<const CLI::App*, Command> commands_;
};

}  // namespace oncepay::cli

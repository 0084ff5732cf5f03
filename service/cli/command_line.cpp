#include "cli/command_line.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <regex>

#include "cli/command_tree.hpp"
#include "cli/commands.hpp"
#include "cli/operator_error.hpp"
#include "cli/settings.hpp"
#include "db/connection.hpp"
#include "runtime/memory.hpp"
#include "runtime/signals.hpp"

namespace oncepay::cli {
namespace {

constexpr std::string_view variable_prefix = "ONCEPAY_";

OperatorError usage_error(const std::string& message, const CLI::App& command) {
  std::string path = command.get_name();
  for (const CLI::App* parent = command.get_parent(); parent != nullptr;
       parent = parent->get_parent()) {
    path.insert(0, parent->get_name() + " ");
  }
  return {message, path + " --help lists what may be given", exit_usage};
}

// Names the flags that no setting has. Not their values: `--database-ur=…` may hold a password.
std::string unknown_arguments(const CLI::App& command) {
  std::string names;
  for (const std::string& argument : command.remaining(true)) {
    if (!argument.starts_with('-')) continue;
    names += (names.empty() ? "" : ", ") + argument.substr(0, argument.find('='));
  }
  return names.empty() ? "there is an argument that this command does not take"
                       : "unknown setting: " + names;
}

// A pod sees its cluster's services as variables; those of a service named oncepay are not
// settings.
bool is_kubernetes_link(const std::string& name) {
  static const std::regex link(
      "ONCEPAY_([A-Z0-9_]+_)?(SERVICE_HOST|SERVICE_PORT(_[A-Z0-9_]+)?|"
      "PORT(_[0-9]+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?)");
  return std::regex_match(name, link);
}

void refuse_unknown_variables(CommandTree& tree, const Environment& environment) {
  const auto known = tree.known_variables();
  for (const auto& [name, value] : environment) {
    if (known.contains(name) || is_kubernetes_link(name)) continue;
    throw OperatorError("unknown setting in the environment: " + name,
                        "oncepay COMMAND --help lists the variables", exit_usage);
  }
}

void apply_variable(CLI::Option& option, const std::string& variable, const std::string& value) {
  const bool is_flag = option.get_expected_min() == 0;
  if (is_flag && value != "on" && value != "off") {
    throw OperatorError(variable + ": must be on|off", "", exit_usage);
  }
  if (is_flag && value == "off") return;
  try {
    option.add_result(is_flag ? "true" : value);
    option.run_callback();
  } catch (const CLI::ParseError& error) {
    const std::string what = error.what();
    throw OperatorError(variable + what.substr(std::min(what.find(": "), what.size())), "",
                        exit_usage);
  }
}

// Whether a flag was given, before variables are looked at.
bool was_given(CLI::App& command, const std::string& flag) {
  const CLI::Option* option = command.get_option_no_throw(flag);
  return option != nullptr && option->count() > 0;
}

void apply_environment(CLI::App& command, const Environment& environment) {
  const bool url_is_given =
      was_given(command, "--database-url") || was_given(command, "--database-url-file");
  for (CLI::Option* option : command.get_options()) {
    const auto& names = option->get_lnames();
    if (names.empty() || option->count() > 0) continue;
    if (url_is_given && names[0].starts_with("database-url")) continue;
    const std::string variable = variable_of(names[0]);
    const auto found = environment.find(variable);
    if (found == environment.end() || found->second.empty()) continue;
    apply_variable(*option, variable, found->second);
  }
}

std::string read_url(const std::string& path) {
  std::ifstream file(path);
  std::string url;
  if (!std::getline(file, url)) {
    throw OperatorError("--database-url-file: cannot be read, or is empty",
                        "it holds the URL in its first line", exit_usage);
  }
  url.erase(std::find_if(url.rbegin(), url.rend(), [](char c) { return c > ' '; }).base(),
            url.end());
  return url;
}

void check_database_url(Config& config, const std::string& url_file) {
  if (!url_file.empty()) {
    if (!config.database_url.empty()) {
      throw OperatorError("--database-url and --database-url-file are both given",
                          "leave one of them out", exit_usage);
    }
    config.database_url = read_url(url_file);
  }
  if (config.database_url.empty()) {
    throw OperatorError("--database-url is missing",
                        "set ONCEPAY_DATABASE_URL to postgresql://user@host/name, or "
                        "--database-url-file to a file that holds it",
                        exit_usage);
  }
  if (!db::is_connection_url(config.database_url)) {
    throw OperatorError("--database-url: is no PostgreSQL URL",
                        "its form is postgresql://user:password@host:5432/name; characters such "
                        "as @ : / % in the password are percent-encoded",
                        exit_usage);
  }
}

void check(Config& config, const std::string& url_file) {
  if (config.command != Command::version) check_database_url(config, url_file);
  if (config.cleanup.window) config.cleanup.window->zone = config.cleanup.zone;
  if (config.tls_cert.empty() != config.tls_key.empty()) {
    throw OperatorError("--tls-cert and --tls-key belong together", "give both or none",
                        exit_usage);
  }
  if (config.command == Command::apikey_create &&
      (config.tenant_name.empty() || config.scopes.empty())) {
    throw OperatorError("--tenant and --scopes are needed",
                        "for example: oncepay apikey create --tenant demo --scopes read,write",
                        exit_usage);
  }
}

int dispatch(const Config& config) {
  switch (config.command) {
    case Command::serve:
      return run_serve(config);
    case Command::migrate_up:
      return run_migrate_up(config);
    case Command::migrate_status:
      return run_migrate_status(config);
    case Command::migrate_verify:
      return run_migrate_verify(config);
    case Command::migrate_partition_keys:
      return run_migrate_partition_keys(config);
    case Command::cleanup:
      return run_cleanup(config);
    case Command::tenant_create:
      return run_tenant_create(config);
    case Command::tenant_list:
      return run_tenant_list(config);
    case Command::apikey_create:
      return run_apikey_create(config);
    case Command::apikey_list:
      return run_apikey_list(config);
    case Command::apikey_revoke:
      return run_apikey_revoke(config);
    case Command::verify:
      return run_verify(config);
    case Command::status:
      return run_status(config);
    case Command::version:
      return run_version(config);
  }
  throw std::logic_error("a command without code");
}

// Names the word that is no command, unless it could be something that must not be shown.
std::string missing_command(const std::vector<std::string>& arguments) {
  const auto is_word = [](const std::string& text) {
    return !text.empty() && text.size() <= 32 && text.front() != '-' &&
           text.find_first_not_of("abcdefghijklmnopqrstuvwxyz-") == std::string::npos;
  };
  if (arguments.size() == 1 && is_word(arguments.front())) {
    return "unknown or incomplete command: " + arguments.front();
  }
  return "a command is missing";
}

}  // namespace

Environment read_environment() {
  Environment variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    if (!text.starts_with(variable_prefix)) continue;
    const auto equals = std::min(text.find('='), text.size() - 1);
    variables.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return variables;
}

std::variant<Config, Help> parse_command_line(const std::vector<std::string>& arguments,
                                              const Environment& environment) {
  Config config;
  CommandTree tree(config);
  try {
    // CLI11 takes them from the back.
    tree.root().parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::CallForHelp&) {
    return Help{tree.root().help()};
  } catch (const CLI::ExtrasError&) {
    throw usage_error(unknown_arguments(tree.root()), tree.given());
  } catch (const CLI::RequiredError&) {
    const bool complete = tree.command_of(tree.given()).has_value();
    throw usage_error(complete ? "an argument is missing" : missing_command(arguments),
                      tree.given());
  } catch (const CLI::ArgumentMismatch& error) {
    const std::string what = error.what();
    throw usage_error(what.substr(0, what.find(": ")) + ": takes exactly one value", tree.given());
  } catch (const CLI::ParseError& error) {
    throw usage_error(error.what(), tree.given());
  }
  config.command = tree.command_of(tree.given()).value();
  refuse_unknown_variables(tree, environment);
  apply_environment(tree.given(), environment);
  check(config, tree.url_file());
  return config;
}

int run(int argc, char** argv) {
  runtime::ignore_broken_pipes();
  runtime::keep_freed_memory();
  try {
    const std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
    const auto parsed = parse_command_line(arguments, read_environment());
    if (const auto* help = std::get_if<Help>(&parsed)) {
      std::fputs(help->text.c_str(), stdout);
      return 0;
    }
    return dispatch(std::get<Config>(parsed));
  } catch (const std::exception& error) {
    return report(error);
  }
}

}  // namespace oncepay::cli

#include "cli/command_tree.hpp"

#include <functional>
#include <memory>

#include "cli/settings.hpp"
#include "once/key_periods.hpp"

namespace oncepay::cli {
namespace {

constexpr std::size_t help_columns = 92;

void append_wrapped(std::string& out, const std::string& text, std::size_t indent) {
  std::string line(indent, ' ');
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    if (line.size() > indent && line.size() + 1 + end - begin > help_columns) {
      out += line + "\n";
      line.assign(indent, ' ');
    }
    if (line.size() > indent) line += ' ';
    line.append(text, begin, end - begin);
    begin = end + 1;
  }
  out += line + "\n";
}

// One setting: its flag and unit, default and variable, and below them what it means.
class HelpText final : public CLI::Formatter {
 public:
  std::string make_option(const CLI::Option* option, bool is_positional) const override {
    std::string head = "  " + option->get_name(is_positional);
    std::string out;
    if (is_positional || option->get_lnames().empty() || option->get_lnames()[0] == "help") {
      head.resize(std::max<std::size_t>(head.size() + 2, 30), ' ');
      return head + option->get_description() + "\n";
    }
    const std::string unit = option->get_option_text();
    if (!unit.empty()) head += " " + unit;
    head.resize(std::max<std::size_t>(head.size() + 2, 44), ' ');
    out = head + "default " + option->get_default_str() + "; " +
          variable_of(option->get_name(false, false)) + "\n";
    append_wrapped(out, option->get_description(), 6);
    return out;
  }
};

}  // namespace

CommandTree::CommandTree(Config& config) : config_(config) {
  root_.formatter(std::make_shared<HelpText>());
  root_.require_subcommand(1);
  root_.footer(
      "Each setting is also read from the environment variable named beside it; the flag wins.\n"
      "oncepay COMMAND --help lists the settings of a command.");

  CLI::App& serve = add(root_, "serve", "run the service", Command::serve);
  add_serve_settings(serve, config_);
  add_migrate();
  CLI::App& cleanup =
      add(root_, "cleanup", "remove expired idempotency keys once, for a timer", Command::cleanup);
  add_cleanup_settings(cleanup, config_);
  add_callers();
  CLI::App& verify =
      add(root_, "verify", "check that the books balance and the keys agree with them",
          Command::verify);
  Settings(verify).number("--sample-accounts", config_.sample_accounts, {0, 1'000'000'000},
                          "accounts",
                          "read the entries of so many only, chosen at random; 0 = everything");
  Settings(verify).text("--metrics-file", config_.metrics_file,
                        {"path", "none", "also write what was found there, as Prometheus text"});
  CLI::App& status =
      add(root_, "status", "show how the service and its database are", Command::status);
  Settings(status).flag("--json", config_.json, "one JSON object on one line, for programs");
  commands_[root_.add_subcommand("version", "print the versions of all parts")] = Command::version;
}

CLI::App& CommandTree::add_group(const std::string& name, const std::string& does) {
  CLI::App* group = root_.add_subcommand(name, does);
  group->require_subcommand(1);
  return *group;
}

CLI::App& CommandTree::add(CLI::App& parent, const std::string& name, const std::string& does,
                           Command command) {
  CLI::App* added = parent.add_subcommand(name, does);
  commands_[added] = command;
  add_database_settings(*added, config_, url_file_);
  return *added;
}

void CommandTree::add_migrate() {
  CLI::App& migrate = add_group("migrate", "bring the database's schema up to date, or look at it");
  CLI::App& up = add(migrate, "up", "apply pending migrations", Command::migrate_up);
  Settings(up).flag("--dry-run", config_.dry_run, "print the SQL, change nothing");
  add(migrate, "status", "list the migrations and what the database says of them",
      Command::migrate_status);
  add(migrate, "verify", "compare what was applied with what this release holds",
      Command::migrate_verify);
  CLI::App& partition = add(migrate, "partition-keys",
                            "keep idempotency keys in a partition for each period, while "
                            "payments go on; there is no way back",
                            Command::migrate_partition_keys);
  Settings(partition).duration("--key-period", config_.key_period,
                               {once::key_period_min.count(), once::key_period_max.count()},
                               "how long keys are claimed in one partition");
}

void CommandTree::add_callers() {
  CLI::App& tenant = add_group("tenant", "who may call");
  CLI::App& create = add(tenant, "create", "make a tenant", Command::tenant_create);
  create.add_option("NAME", config_.tenant_name, "1 to 100 characters, unique")->required();
  add(tenant, "list", "list the tenants", Command::tenant_list);

  CLI::App& apikey = add_group("apikey", "with which keys, and what they allow");
  CLI::App& make =
      add(apikey, "create", "make an API key; it is shown once", Command::apikey_create);
  Settings settings(make);
  settings.text("--tenant", config_.tenant_name, {"name", "none", "the tenant it belongs to"});
  settings.text("--scopes", config_.scopes, {"list", "none", "read, write, or read,write"});
  add(apikey, "list", "list the API keys, without the keys themselves", Command::apikey_list);
  CLI::App& revoke = add(apikey, "revoke", "end an API key", Command::apikey_revoke);
  revoke.add_option("ID", config_.api_key_id, "as `apikey list` shows it")->required();
}

CLI::App& CommandTree::given() {
  CLI::App* app = &root_;
  while (!app->get_subcommands().empty()) app = app->get_subcommands().front();
  return *app;
}

std::optional<Command> CommandTree::command_of(const CLI::App& app) const {
  const auto found = commands_.find(&app);
  if (found == commands_.end()) return std::nullopt;
  return found->second;
}

std::set<std::string> CommandTree::known_variables() {
  std::set<std::string> variables;
  const std::function<void(CLI::App&)> collect = [&](CLI::App& app) {
    for (const CLI::Option* option : app.get_options()) {
      const auto& names = option->get_lnames();
      if (!names.empty() && names[0] != "help") variables.insert(variable_of(names[0]));
    }
    for (CLI::App* child : app.get_subcommands(nullptr)) collect(*child);
  };
  collect(root_);
  return variables;
}

}  // namespace oncepay::cli

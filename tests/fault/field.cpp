#include "fault/field.hpp"

#include <stdexcept>

#include "support/names.hpp"

namespace fault {

using support::Payment;

namespace {

constexpr int accounts_count = 6;
constexpr std::int64_t funds = 20'000;

std::string url_through(const Gate& gate, const support::Database& database) {
  return "postgresql://" + std::string(support::runtime_role) +
         "@127.0.0.1:" + std::to_string(gate.port()) + "/" + database.name() +
         "?sslmode=disable&gssencmode=disable";
}

std::string url_of_both(const Field& field) {
  return "postgresql://" + std::string(support::runtime_role) +
         "@127.0.0.1:" + std::to_string(port_of(field.cluster.url())) +
         ",127.0.0.1:" + std::to_string(port_of(field.standby->url())) + "/" +
         field.database.name() + "?target_session_attrs=read-write";
}

std::vector<std::string> with_commit_times(std::vector<std::string> settings) {
  settings.emplace_back("track_commit_timestamp=on");
  return settings;
}

}  // namespace

std::uint16_t port_of(const std::string& database_url) {
  const std::size_t colon = database_url.rfind(':');
  return static_cast<std::uint16_t>(std::stoi(database_url.substr(colon + 1)));
}

Post::Post(std::string given_name, const support::Database& database, std::uint16_t database_port,
           support::Instance::Flags given_flags)
    : name(std::move(given_name)),
      to_database(Road::database, database_port),
      to_service(Road::clients, 0),
      database_url(url_through(to_database, database)),
      flags(std::move(given_flags)) {
  start();
}

Post::Post(std::string given_name, std::string url, support::Instance::Flags given_flags)
    : name(std::move(given_name)),
      to_database(Road::database, 0),
      to_service(Road::clients, 0),
      database_url(std::move(url)),
      flags(std::move(given_flags)) {
  start();
}

void Post::start(support::Environment environment) {
  instance = std::make_unique<support::Instance>(database_url, flags, std::move(environment));
  to_service.lead_to(instance->port());
}

Field::Field(const FieldSettings& settings, std::uint32_t seed)
    : disk(settings.standby ? nullptr : SmallDisk::mounted()),
      cluster(with_commit_times(settings.server)),
      database(support::Database::on(cluster.url())),
      tenant(support::create_tenant(database)),
      recorder(seed) {
  if (disk) disk->carry(database, cluster.url());
  static const std::vector<std::string> names{"north", "east", "south", "west"};
  const std::uint16_t port = port_of(cluster.url());
  if (settings.standby) make_standby(settings);
  for (std::size_t i = 0; i < settings.posts; ++i) {
    posts_.push_back(settings.standby
                         ? std::make_unique<Post>(names.at(i), url_of_both(*this), settings.flags)
                         : std::make_unique<Post>(names.at(i), database, port, settings.flags));
  }
  open_accounts();
}

void Field::make_standby(const FieldSettings& settings) {
  standby = std::make_unique<support::Cluster>(cluster, with_commit_times(settings.server));
  support::Sql& sql = database.sql();
  sql.run("ALTER SYSTEM SET synchronous_standby_names = '*'");
  sql.run("SELECT pg_reload_conf()");
  const bool synchronous = support::eventually([&sql] {
    return sql.number("SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'") == 1;
  });
  if (!synchronous) throw std::runtime_error("the standby does not follow");
}

Post& Field::any_post(Random& random) { return *posts_[random() % posts_.size()]; }

// One that stands for the outside world; the others hold little enough that some payments are
// declined, and one of them may overdraw a little.
void Field::open_accounts() {
  support::Caller caller(posts_[0]->to_service.port(), tenant.api_key);
  accounts_.push_back(caller.open_account("EUR", "null"));
  for (int i = 0; i < accounts_count; ++i) {
    accounts_.push_back(caller.open_account("EUR", i == 0 ? "500" : "0"));
    const Payment payment{funds, "EUR", accounts_[0], accounts_.back()};
    const std::string key = support::fresh_key();
    support::Client client(posts_[0]->to_service.port());
    const bool funded = support::eventually([&] {
      Call call{"the bank", key, payment, posts_[0]->name, 0, 0, std::nullopt, ""};
      const auto seen = pay_once(client, payment_request(tenant, key, payment), call, recorder);
      return seen && seen->status == 201;
    });
    if (!funded) throw std::runtime_error("an account was not funded");
  }
}

void Field::wait_for_database(std::chrono::milliseconds budget) {
  database.reconnect();
  const bool back = support::eventually(
      [this] {
        try {
          return database.connect().number("SELECT 1") == 1;
        } catch (const std::runtime_error&) {
          return false;
        }
      },
      budget, 20ms);
  if (!back) throw std::runtime_error("the database does not come back");
}

void Field::expect_recovered(std::chrono::milliseconds budget) {
  for (const auto& post : posts_) {
    const std::string key = support::fresh_key();
    const Payment payment{1, "EUR", accounts_[0], accounts_[1]};
    support::Client client(post->to_service.port(), 5s);
    std::string last;
    const bool paid = support::eventually(
        [&] {
          Call call{"recovery", key, payment, post->name, 0, 0, std::nullopt, ""};
          const auto seen = pay_once(client, payment_request(tenant, key, payment), call, recorder);
          last = seen ? std::to_string(seen->status) + " " + seen->body : "no answer";
          return seen && seen->status == 201;
        },
        budget, 50ms);
    if (!paid) {
      throw std::runtime_error("instance " + post->name + " takes no payment any more: " + last +
                               "\n" + post->instance->log());
    }
  }
}

support::Request payment_request(const support::Tenant& tenant, const std::string& key,
                                 const Payment& payment) {
  support::Request request{"POST", std::string(support::paths::payments), {}, payment.json()};
  return request.with(support::headers::authorization, "Bearer " + tenant.api_key)
      .with(support::headers::idempotency_key, key)
      .with(support::headers::content_type, "application/json");
}

std::optional<Seen> pay_once(support::Client& client, const support::Request& request, Call call,
                             Recorder& recorder) {
  call.sent_us = now_us();
  try {
    const support::Answer answer = client.send(request);
    call.received_us = now_us();
    const auto retry_after = answer.header(support::headers::retry_after);
    call.seen = Seen{answer.status,
                     answer.header(support::headers::content_type).value_or(""),
                     answer.header(support::headers::location).value_or(""),
                     answer.body,
                     answer.replayed(),
                     retry_after ? std::stoi(*retry_after) : 0};
  } catch (const std::runtime_error& error) {
    call.received_us = now_us();
    call.failure = error.what();
    client.close();
  }
  std::optional<Seen> seen = call.seen;
  recorder.add(std::move(call));
  return seen;
}

}  // namespace fault

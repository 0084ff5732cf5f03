// The field of a fault run: a durable PostgreSQL of its own, instances of the real binary, and a
// gate on each road: one between every instance and the database, one between its clients and it.
// Clients know the gates alone, so an instance that starts again on another port is where it was.
//
// From the test's main thread, except what says otherwise.
#pragma once

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "fault/gate.hpp"
#include "fault/history.hpp"
#include "fault/small_disk.hpp"
#include "support/cluster.hpp"
#include "support/shop.hpp"

namespace fault {

using Random = std::mt19937;

// One instance, where its clients find it, and how it finds its database.
struct Post {
  Post(std::string name, const support::Database& database, std::uint16_t database_port,
       support::Instance::Flags flags);
  // Without a gate on the road to the database.
  Post(std::string name, std::string database_url, support::Instance::Flags flags);

  void start(support::Environment environment = {});  // after its end too; returns when it is ready
  pid_t pid() const { return instance->pid(); }

  std::string name;
  Gate to_database;
  Gate to_service;
  std::string database_url;
  support::Instance::Flags flags;
  std::unique_ptr<support::Instance> instance;
};

struct FieldSettings {
  std::size_t posts = 3;
  // A synchronous standby. Instances know both servers then, and reach them without a gate.
  bool standby = false;
  support::Instance::Flags flags;   // for every instance
  std::vector<std::string> server;  // settings of PostgreSQL
};

class Field {
 public:
  explicit Field(const FieldSettings& settings, std::uint32_t seed);

  // Any thread.
  Post& post(std::size_t number) { return *posts_.at(number); }
  Post& any_post(Random& random);
  std::size_t posts() const { return posts_.size(); }
  const std::vector<std::string>& accounts() const { return accounts_; }

  // A fresh payment at each instance, within the budget, without starting anything: throws
  // std::runtime_error, with the log, when one of them does not take it.
  void expect_recovered(std::chrono::milliseconds budget = 30s);
  void wait_for_database(std::chrono::milliseconds budget = 30s);

  std::unique_ptr<SmallDisk> disk;  // null where the tests may not mount one
  support::Cluster cluster;
  std::unique_ptr<support::Cluster> standby;
  support::Database database;
  support::Tenant tenant;
  Recorder recorder;

 private:
  void make_standby(const FieldSettings& settings);
  void open_accounts();

  std::vector<std::unique_ptr<Post>> posts_;
  std::vector<std::string> accounts_;
};

// One call: sends a payment to a post and writes down what came of it. Any thread; `client` belongs
// to it.
std::optional<Seen> pay_once(support::Client& client, const support::Request& request, Call call,
                             Recorder& recorder);
support::Request payment_request(const support::Tenant& tenant, const std::string& key,
                                 const support::Payment& payment);

std::uint16_t port_of(const std::string& database_url);

}  // namespace fault

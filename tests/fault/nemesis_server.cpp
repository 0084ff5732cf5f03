#include <signal.h>

#include <stdexcept>

#include "fault/nemesis.hpp"

namespace fault {
namespace {

using support::Sql;

void crash(Field& field, Random& random) {
  field.cluster.stop_at_once();
  last(random, 0ms, 500ms);
  field.cluster.start();
  field.wait_for_database();
}

void stop_and_start(Field& field, Random& random) {
  field.cluster.stop();
  last(random, 0ms, 500ms);
  field.cluster.start();
  field.wait_for_database();
}

// One backend dies by a signal that it cannot handle: PostgreSQL ends all sessions and recovers.
void crash_of_a_backend(Field& field, Random&) {
  Sql sql = field.database.connect();
  const auto pids = sql.column(
      "SELECT pid FROM pg_stat_activity WHERE datname = current_database()"
      " AND backend_type = 'client backend' AND application_name <> $1 LIMIT 1",
      {support::test_session});
  if (pids.empty()) throw std::runtime_error("no session was there to be killed");
  ::kill(static_cast<pid_t>(std::stoi(pids[0])), SIGKILL);
  const bool crashed =
      support::eventually([&sql] { return sql.sqlstate_of("SELECT 1") != "00000"; });
  if (!crashed) throw std::runtime_error("PostgreSQL went on without its backend");
  field.wait_for_database();
}

void read_only(Field& field, Random& random) {
  field.database.sql().run("ALTER SYSTEM SET default_transaction_read_only = on");
  field.database.sql().run("SELECT pg_reload_conf()");
  const bool set = support::eventually(
      [&] { return field.database.connect().text("SHOW default_transaction_read_only") == "on"; });
  last(random, 500ms, 1500ms);
  Sql repair = field.database.connect();
  repair.run("SET default_transaction_read_only = off");
  repair.run("ALTER SYSTEM RESET default_transaction_read_only");
  repair.run("SELECT pg_reload_conf()");
  field.database.reconnect();
  const bool reset = support::eventually(
      [&] { return field.database.connect().text("SHOW default_transaction_read_only") == "off"; });
  if (!set || !reset) throw std::runtime_error("the server took no new setting");
}

// Every connection that the service loses is taken by somebody else at once.
void no_connection_left(Field& field, Random& random) {
  std::vector<Sql> crowd;
  Sql killer = field.database.connect();
  const auto take_every_slot = [&] {
    try {
      for (;;) crowd.emplace_back(field.database.url());
    } catch (const std::runtime_error&) {
      // The server is full.
    }
  };
  take_every_slot();
  for (int i = 0; i < 5; ++i) {
    killer.run(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE"
        " backend_type = 'client backend' AND application_name <> $1",
        {support::test_session});
    take_every_slot();
  }
  last(random, 300ms, 1000ms);
}

void disk_full(Field& field, Random& random) {
  if (!field.disk) return;  // the run says that this one is left out
  field.disk->fill();
  last(random, 700ms, 1500ms);
  field.disk->empty();
}

}  // namespace

std::vector<Nemesis> server_nemeses() {
  return {{"PostgreSQL crashes", crash},
          {"PostgreSQL is stopped and started", stop_and_start},
          {"a backend of PostgreSQL crashes", crash_of_a_backend},
          {"the primary is read-only", read_only},
          {"no connection is left", no_connection_left},
          {"the disk is full", disk_full}};
}

}  // namespace fault

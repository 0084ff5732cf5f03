#include "cli/instance_metrics.hpp"

#include "migrations/embedded.hpp"
#include "runtime/process.hpp"
#include "runtime/version.hpp"

namespace oncepay::cli {

void export_process(runtime::Metrics& metrics) {
  metrics
      .gauge("oncepay_build_info", "Which build this is; always 1",
             {{"version", std::string(runtime::release_version())},
              {"commit", std::string(runtime::release_commit())},
              {"schema", std::to_string(db::embedded_migrations.back().version)}})
      .set(1);
  const auto gauge = [&metrics](const std::string& name, const std::string& help) {
    return metrics.gauge("process_" + name, help);
  };
  auto processor = metrics.counter("process_cpu_seconds_total", "Processor time of all threads");
  auto resident = gauge("resident_memory_bytes", "Memory that is in use");
  auto virtual_memory = gauge("virtual_memory_bytes", "Address space that is in use");
  auto threads = gauge("threads", "Threads");
  auto open = gauge("open_fds", "File descriptors that are open");
  auto open_max = gauge("max_fds", "File descriptors that may be open");
  auto started = gauge("start_time_seconds", "When the process started");
  metrics.before_rendering([=]() mutable {
    const runtime::ProcessUse use = runtime::read_process_use();
    processor.add(use.processor_seconds - processor.value());
    resident.set(static_cast<double>(use.resident_bytes));
    virtual_memory.set(static_cast<double>(use.virtual_bytes));
    threads.set(static_cast<double>(use.threads));
    open.set(static_cast<double>(use.open_descriptors));
    open_max.set(static_cast<double>(use.descriptors_max));
    started.set(use.started_at_seconds);
  });
}

void export_pool(const std::string& name, const db::Pool& pool, runtime::Metrics& metrics) {
  const auto gauge = [&](const std::string& state) {
    return metrics.gauge("oncepay_pool_connections", "Connections for reads, by pool and state",
                         {{"pool", name}, {"state", state}});
  };
  metrics.before_rendering([&pool, idle = gauge("idle"), busy = gauge("busy")]() mutable {
    const db::Pool::Use use = pool.use();
    idle.set(static_cast<double>(use.idle));
    busy.set(static_cast<double>(use.busy));
  });
}

}  // namespace oncepay::cli

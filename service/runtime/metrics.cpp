#include "runtime/metrics.hpp"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <mutex>

namespace oncepay::runtime {

void Counter::add(double count) { counter_->Increment(count); }
double Counter::value() const { return counter_->Value(); }

void Gauge::set(double value) { gauge_->Set(value); }
void Gauge::set_to_now() { gauge_->SetToCurrentTime(); }
void Gauge::add(double difference) { gauge_->Increment(difference); }

void Histogram::observe(double value) { histogram_->Observe(value); }

struct Metrics::Registry {
  // Merge: asking again for a family gives the same one.
  prometheus::Registry families{prometheus::Registry::InsertBehavior::Merge};
  std::mutex mutex;  // guards refreshes, and lets one rendering run at a time
  std::vector<std::function<void()>> refreshes;
};

Metrics::Metrics() : registry_(std::make_unique<Registry>()) {}
Metrics::~Metrics() = default;

Counter Metrics::counter(const std::string& name, const std::string& help, const Labels& labels) {
  return Counter(
      prometheus::BuildCounter().Name(name).Help(help).Register(registry_->families).Add(labels));
}

Gauge Metrics::gauge(const std::string& name, const std::string& help, const Labels& labels) {
  return Gauge(
      prometheus::BuildGauge().Name(name).Help(help).Register(registry_->families).Add(labels));
}

Histogram Metrics::histogram(const std::string& name, const std::string& help,
                             const std::vector<double>& bounds, const Labels& labels) {
  return Histogram(prometheus::BuildHistogram()
                       .Name(name)
                       .Help(help)
                       .Register(registry_->families)
                       .Add(labels, bounds));
}

void Metrics::before_rendering(std::function<void()> refresh) {
  const std::lock_guard lock(registry_->mutex);
  registry_->refreshes.push_back(std::move(refresh));
}

std::string Metrics::text() const {
  const std::lock_guard lock(registry_->mutex);
  for (const auto& refresh : registry_->refreshes) refresh();
  return prometheus::TextSerializer().Serialize(registry_->families.Collect());
}

}  // namespace oncepay::runtime

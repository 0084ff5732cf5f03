// Counters, gauges and histograms, and their Prometheus text. The only home of prometheus-cpp.
//
// Label values come from fixed sets (problem types, step names), never from clients: cardinality is
// bounded.
// Threads: any. Handles live as long as Metrics does.
// Source: Prometheus "Metric and label naming", "Text-based format".
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace prometheus {
class Counter;
class Gauge;
class Histogram;
}  // namespace prometheus

namespace oncepay::runtime {

using Labels = std::map<std::string, std::string>;

class Counter {
 public:
  explicit Counter(prometheus::Counter& counter) : counter_(&counter) {}
  void add(double count = 1);
  [[nodiscard]] double value() const;

 private:
  prometheus::Counter* counter_;
};

class Gauge {
 public:
  explicit Gauge(prometheus::Gauge& gauge) : gauge_(&gauge) {}
  void set(double value);
  void set_to_now();  // seconds since 1970: when something last went well
  void add(double difference);

 private:
  prometheus::Gauge* gauge_;
};

class Histogram {
 public:
  explicit Histogram(prometheus::Histogram& histogram) : histogram_(&histogram) {}
  void observe(double value);

 private:
  prometheus::Histogram* histogram_;
};

class Metrics {
 public:
  Metrics();
  ~Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  // The same name and labels give the same metric.
  Counter counter(const std::string& name, const std::string& help, const Labels& labels = {});
  Gauge gauge(const std::string& name, const std::string& help, const Labels& labels = {});
  Histogram histogram(const std::string& name, const std::string& help,
                      const std::vector<double>& bounds, const Labels& labels = {});

  // Called before each rendering, for values that are read rather than counted.
  void before_rendering(std::function<void()> refresh);
  [[nodiscard]] std::string text() const;

 private:
  struct Registry;
  std::unique_ptr<Registry> registry_;
};

}  // namespace oncepay::runtime

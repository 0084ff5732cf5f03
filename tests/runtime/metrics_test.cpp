#include "runtime/metrics.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace oncepay::runtime;

TEST_CASE("metrics come out as Prometheus text") {
  Metrics metrics;
  metrics.counter("oncepay_payments_total", "Payments", {{"outcome", "succeeded"}}).add(3);
  metrics.gauge("oncepay_queue_operations", "Waiting").set(7);
  metrics.histogram("oncepay_batch_seconds", "Time", {0.1, 1}).observe(0.5);

  const std::string text = metrics.text();
  CAPTURE(text);
  CHECK(text.find("# TYPE oncepay_payments_total counter\n") != std::string::npos);
  CHECK(text.find("oncepay_payments_total{outcome=\"succeeded\"} 3\n") != std::string::npos);
  CHECK(text.find("oncepay_queue_operations 7\n") != std::string::npos);
  CHECK(text.find("oncepay_batch_seconds_bucket{le=\"0.1\"} 0\n") != std::string::npos);
  CHECK(text.find("oncepay_batch_seconds_bucket{le=\"1\"} 1\n") != std::string::npos);
  CHECK(text.find("oncepay_batch_seconds_count 1\n") != std::string::npos);
}

TEST_CASE("the same name and labels are the same metric") {
  Metrics metrics;
  Counter first = metrics.counter("oncepay_refused_total", "Refused", {{"why", "queue"}});
  Counter again = metrics.counter("oncepay_refused_total", "Refused", {{"why", "queue"}});
  Counter other = metrics.counter("oncepay_refused_total", "Refused", {{"why", "drain"}});
  first.add();
  again.add(2);
  CHECK(first.value() == 3);
  CHECK(other.value() == 0);
}

TEST_CASE("values that are read rather than counted are read before each rendering") {
  Metrics metrics;
  Gauge gauge = metrics.gauge("oncepay_age_seconds", "Age");
  int rendered = 0;
  metrics.before_rendering([&] { gauge.set(++rendered); });
  CHECK(metrics.text().find("oncepay_age_seconds 1\n") != std::string::npos);
  CHECK(metrics.text().find("oncepay_age_seconds 2\n") != std::string::npos);
}

// What /metrics says at one moment, as numbers by series and by name.
#pragma once

#include <map>
#include <set>
#include <string>

#include "support/instance.hpp"

namespace support {

class Scrape {
 public:
  explicit Scrape(const Instance& instance);
  explicit Scrape(const std::string& text);  // Prometheus text from elsewhere

  // `name` or `name{label="value",…}`, labels in alphabetical order; 0 when it is not there.
  double value(const std::string& series) const;
  bool has(const std::string& series) const { return values_.contains(series); }
  // Of families: a histogram is one name, without _bucket, _sum and _count.
  const std::set<std::string>& names() const { return names_; }
  std::set<std::string> series() const;

 private:
  void read(const std::string& text);

  std::map<std::string, double> values_;
  std::set<std::string> names_;
};

}  // namespace support

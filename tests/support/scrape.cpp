#include "support/scrape.hpp"

#include <sstream>

#include "support/client.hpp"

namespace support {

Scrape::Scrape(const Instance& instance) {
  read(Client(instance.port()).send({"GET", "/metrics", {}, ""}).body);
}

Scrape::Scrape(const std::string& text) { read(text); }

void Scrape::read(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("# TYPE ")) {
      std::istringstream words(line.substr(7));
      std::string name;
      words >> name;
      names_.insert(name);
    } else if (!line.empty() && line.front() != '#') {
      const auto space = line.rfind(' ');
      values_[line.substr(0, space)] = std::stod(line.substr(space + 1));
    }
  }
}

double Scrape::value(const std::string& series) const {
  const auto found = values_.find(series);
  return found == values_.end() ? 0 : found->second;
}

std::set<std::string> Scrape::series() const {
  std::set<std::string> all;
  for (const auto& [name, unused] : values_) all.insert(name);
  return all;
}

}  // namespace support

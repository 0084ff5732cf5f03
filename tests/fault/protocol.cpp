#include "fault/protocol.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

namespace fault {
namespace {

constexpr std::size_t length_bytes = 4;

std::uint32_t number_at(const std::string& bytes, std::size_t at) {
  std::uint32_t number = 0;
  for (std::size_t i = 0; i < length_bytes; ++i) {
    number = (number << 8U) | static_cast<unsigned char>(bytes[at + i]);
  }
  return number;
}

// The whole message at the front of `rest`, removed from it; nothing while it is not complete.
std::optional<std::string> take_front(std::string& rest, bool has_type) {
  const std::size_t head = has_type ? 1 : 0;
  if (rest.size() < head + length_bytes) {
    return std::nullopt;
  }
  const std::size_t size = head + number_at(rest, head);
  if (rest.size() < size) {
    return std::nullopt;
  }
  std::string message = rest.substr(0, size);
  rest.erase(0, size);
  return message;
}

std::string text_at(const std::string& message, std::size_t at) {
  return at < message.size() ? std::string(message.c_str() + at) : "";
}

// A semicolon inside a literal or a quoted name ends nothing; quotes inside them are doubled.
std::vector<std::string> statements_of(const std::string& text) {
  std::vector<std::string> statements(1);
  char quote = '\0';
  for (const char c : text) {
    if (quote == '\0' && c == ';') {
      statements.emplace_back();
      continue;
    }
    if (c == quote) {
      quote = '\0';
    } else if (quote == '\0' && (c == '\'' || c == '"')) {
      quote = c;
    }
    statements.back() += c;
  }
  return statements;
}

// BEGIN, COMMIT, ROLLBACK, or what EXECUTE names; of others nothing.
std::string name_of_statement(const std::string& statement) {
  const std::size_t from = statement.find_first_not_of(" \n");
  if (from == std::string::npos) return "";
  const std::string word = statement.substr(from, statement.find_first_of(" \n", from) - from);
  if (word == "BEGIN" || word == "COMMIT" || word == "ROLLBACK") return word;
  if (word != "EXECUTE") return "";
  const std::size_t name = statement.find('"', from) + 1;
  return statement.substr(name, statement.find('"', name) - name);
}

std::string joined(const std::string& names, const std::string& name) {
  return names.empty() || name.empty() ? names + name : names + " + " + name;
}

}  // namespace

bool Trip::holds(const std::string& statement) const {
  const std::string all = " + " + name + " + ";
  return all.find(" + " + statement + " + ") != std::string::npos;
}

void TripReader::take_message(const std::string& message) {
  trip_.bytes += message;
  constexpr std::size_t body = 1 + length_bytes;
  std::string name;
  switch (message[0]) {
    case 'Q':
      for (const std::string& statement : statements_of(text_at(message, body))) {
        name = joined(name, name_of_statement(statement));
      }
      break;
    case 'P':
      name = "prepare " + text_at(message, body);
      break;
    case 'B': {
      const std::string portal = text_at(message, body);
      name = text_at(message, body + portal.size() + 1);
      break;
    }
    default:
      break;
  }
  trip_.name = joined(trip_.name, name);
}

std::vector<Trip> TripReader::read(const std::string& bytes) {
  std::vector<Trip> trips;
  rest_ += bytes;
  while (auto message = take_front(rest_, started_)) {
    if (!started_) {
      started_ = true;
      trips.push_back({std::move(*message), "", true});
      continue;
    }
    take_message(*message);
    const char type = (*message)[0];
    // Terminate and the password end a trip too: the peer reads them at once.
    trip_.answered_by_ready = type == 'S' || type == 'Q';
    if (trip_.answered_by_ready || type == 'H' || type == 'X' || type == 'p') {
      trips.push_back(std::exchange(trip_, {}));
    }
  }
  return trips;
}

void AnswerReader::read(const std::string& bytes) {
  rest_ += bytes;
  while (const auto message = take_front(rest_, true)) {
    if ((*message)[0] == 'Z') {
      ++ready_;
    } else if ((*message)[0] == 'K') {
      backend_pid_ = static_cast<int>(number_at(*message, 1 + length_bytes));
    }
  }
}

}  // namespace fault

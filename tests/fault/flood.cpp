#include "fault/flood.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <utility>

#include "support/sockets.hpp"

namespace fault {

using namespace support;

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

namespace {

// The whole answer at the front of `bytes`: its status, or 0 while it is not complete.
int take_answer(std::string& bytes) {
  const std::size_t head = bytes.find("\r\n\r\n");
  if (head == std::string::npos || bytes.size() < 12) return 0;
  const std::size_t length = bytes.find("Content-Length: ");
  const std::size_t body =
      length < head ? static_cast<std::size_t>(std::atol(bytes.c_str() + length + 16)) : 0;
  if (bytes.size() < head + 4 + body) return 0;
  const int status = std::atoi(bytes.c_str() + 9);
  bytes.erase(0, head + 4 + body);
  return status;
}

class Flood {
 public:
  Flood(const FloodSettings& settings, const std::function<std::string(std::size_t)>& request)
      : settings_(settings), request_(request) {}
  Flood(const Flood&) = delete;
  Flood& operator=(const Flood&) = delete;
  ~Flood() {
    for (const Line& line : lines_) ::close(line.socket);
  }

  Flooded run() {
    const auto began = Clock::now();
    const auto total =
        static_cast<std::size_t>(settings_.per_second * settings_.duration.count() / 1000);
    const auto end = began + settings_.duration + settings_.patience;
    while ((result_.offered < total || busy_ > 0) && Clock::now() < end) {
      while (result_.offered < total && due(began, result_.offered) <= Clock::now()) {
        send_one(due(began, result_.offered));
      }
      read_answers();
    }
    result_.unanswered += busy_;
    return std::move(result_);
  }

 private:
  struct Line {
    int socket;
    bool busy = false;
    Clock::time_point due{};
    std::string bytes;
  };

  Clock::time_point due(Clock::time_point began, std::size_t number) const {
    return began + std::chrono::microseconds(1'000'000 * number /
                                             static_cast<std::size_t>(settings_.per_second));
  }

  Line* idle_line() {
    for (Line& line : lines_) {
      if (!line.busy) return &line;
    }
    if (lines_.size() >= settings_.connections_max) return nullptr;
    const int socket = connect_to_loopback(settings_.port);
    if (socket < 0) return nullptr;
    return &lines_.emplace_back(Line{socket, false, {}, ""});
  }

  void send_one(Clock::time_point due) {
    const std::string bytes = request_(result_.offered++);
    Line* const line = idle_line();
    if (line == nullptr || !send_all(line->socket, bytes)) {
      ++result_.unanswered;
      return;
    }
    line->busy = true;
    line->due = due;
    ++busy_;
  }

  void read_answers() {
    std::vector<pollfd> sockets;
    for (const Line& line : lines_) sockets.push_back({line.socket, POLLIN, 0});
    ::poll(sockets.data(), sockets.size(), 1);
    for (std::size_t i = 0; i < sockets.size(); ++i) {
      if (sockets[i].revents != 0) read_from(lines_[i]);
    }
    std::erase_if(lines_, [](const Line& line) { return line.socket < 0; });
  }

  void read_from(Line& line) {
    const std::string bytes = receive_some(line.socket);
    if (bytes.empty()) {
      ::close(std::exchange(line.socket, -1));
      if (!line.busy) return;
      --busy_;
      ++result_.unanswered;
      return;
    }
    line.bytes += bytes;
    const int status = take_answer(line.bytes);
    if (status == 0) return;
    line.busy = false;
    --busy_;
    result_.answers.push_back(
        {status, std::chrono::duration_cast<milliseconds>(Clock::now() - line.due)});
  }

  const FloodSettings& settings_;
  const std::function<std::string(std::size_t)>& request_;
  Flooded result_;
  std::deque<Line> lines_;
  std::size_t busy_ = 0;
};

}  // namespace

std::size_t Flooded::count(int status) const {
  return static_cast<std::size_t>(
      std::count_if(answers.begin(), answers.end(),
                    [status](const Answer& answer) { return answer.status == status; }));
}

milliseconds Flooded::percentile(int status, int percent) const {
  std::vector<milliseconds> latencies;
  for (const Answer& answer : answers) {
    if (answer.status == status) latencies.push_back(answer.latency);
  }
  if (latencies.empty()) return milliseconds(0);
  std::sort(latencies.begin(), latencies.end());
  return latencies[(latencies.size() - 1) * static_cast<std::size_t>(percent) / 100];
}

Flooded flood(const FloodSettings& settings,
              const std::function<std::string(std::size_t)>& request) {
  return Flood(settings, request).run();
}

}  // namespace fault

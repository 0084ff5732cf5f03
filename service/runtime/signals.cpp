#include "runtime/signals.hpp"

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <system_error>

namespace oncepay::runtime {

void ignore_broken_pipes() { std::signal(SIGPIPE, SIG_IGN); }

Signals::Signals() {
  ignore_broken_pipes();
  sigset_t set;
  sigemptyset(&set);
  for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGUSR1}) sigaddset(&set, number);
  if (const int error = pthread_sigmask(SIG_BLOCK, &set, nullptr); error != 0) {
    throw std::system_error(error, std::system_category(), "cannot block signals");
  }
  descriptor_ = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  if (descriptor_ < 0) {
    throw std::system_error(errno, std::system_category(), "cannot read signals");
  }
}

Signals::~Signals() { close(descriptor_); }

std::optional<Signal> Signals::wait(std::chrono::milliseconds timeout) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  for (;;) {
    signalfd_siginfo info{};
    if (read(descriptor_, &info, sizeof info) == sizeof info) {
      if (info.ssi_signo == SIGTERM) return Signal::terminate;
      if (info.ssi_signo == SIGUSR1) return Signal::user_1;
      return info.ssi_signo == SIGINT ? Signal::interrupt : Signal::hang_up;
    }
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) return std::nullopt;
    pollfd readable{descriptor_, POLLIN, 0};
    poll(&readable, 1, static_cast<int>(std::min<std::int64_t>(left.count(), INT_MAX)));
  }
}

}  // namespace oncepay::runtime

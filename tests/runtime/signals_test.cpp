#include "runtime/signals.hpp"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>

using namespace oncepay::runtime;
using namespace std::chrono_literals;

namespace {

// Blocked signals stay blocked for the process, so each case has one of its own.
bool in_a_process_of_its_own(const std::function<bool()>& holds) {
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) _exit(holds() ? 0 : 1);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

TEST_CASE("signals arrive as values, in any number, and nothing dies of them") {
  CHECK(in_a_process_of_its_own([] {
    Signals signals;
    kill(getpid(), SIGTERM);
    const bool first = signals.wait(5s) == Signal::terminate;
    kill(getpid(), SIGINT);
    const bool second = signals.wait(5s) == Signal::interrupt;
    kill(getpid(), SIGHUP);
    const bool third = signals.wait(5s) == Signal::hang_up;
    kill(getpid(), SIGUSR1);
    const bool fourth = signals.wait(5s) == Signal::user_1;
    return first && second && third && fourth;
  }));
}

TEST_CASE("without a signal the wait ends in time") {
  CHECK(in_a_process_of_its_own([] {
    Signals signals;
    return !signals.wait(1ms).has_value();
  }));
}

TEST_CASE("HTP-11 a peer who hung up is an error of that write, not the end of the process") {
  CHECK(in_a_process_of_its_own([] {
    Signals signals;
    int ends[2];
    if (pipe(ends) != 0) return false;
    close(ends[0]);
    return write(ends[1], "x", 1) < 0 && errno == EPIPE;
  }));
}

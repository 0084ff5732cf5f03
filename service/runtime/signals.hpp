// Signals as values to wait for, instead of code that runs at any instant.
//
// Construct it first thing in main, before any thread: SIGTERM, SIGINT, SIGHUP and SIGUSR1 are
// blocked in this thread and in all that it starts, and are read from a descriptor. SIGPIPE is
// ignored, so that a peer who hangs up is an error of that one write. Deliberately not here: what a
// signal means.
//
// Threads: wait() from one at a time. Errors: std::system_error when the kernel refuses a
// descriptor.
// Source: signalfd(2), signal-safety(7).
#pragma once

#include <chrono>
#include <optional>

namespace oncepay::runtime {

enum class Signal { terminate, interrupt, hang_up, user_1 };

// SIGPIPE alone, for programs that need no more. A library may have changed it: say it again after
// the libraries were set up.
void ignore_broken_pipes();

class Signals {
 public:
  Signals();
  ~Signals();  // the signals stay blocked: one that comes late must not kill what is ending
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  // The next signal, or nothing when `timeout` is over.
  std::optional<Signal> wait(std::chrono::milliseconds timeout);

  // Becomes readable when a signal is there; for a loop that waits for other things too.
  [[nodiscard]] int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

}  // namespace oncepay::runtime

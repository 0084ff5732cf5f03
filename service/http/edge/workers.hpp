// A fixed number of threads that hand whole requests to the handler, and the bounded queue before
// them.
//
// Deliberately not here: what happens to requests beyond the bound (the loop refuses them at once).
//
// Threads: room, submit, better_here and run_here by the loop alone; stop by the owner, once.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "http/edge/counters.hpp"
#include "http/message.hpp"

namespace oncepay::http::edge {

struct Task {
  Request request;
  Reply reply;
};

class Workers {
 public:
  Workers(Handler& handler, EdgeCounters& counters, std::size_t threads, std::size_t waiting_max);
  ~Workers() { stop(); }
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  // How many tasks can be submitted now. Only the submitter makes it smaller.
  [[nodiscard]] std::size_t room();

  // Takes all tasks, at most room() of them, and leaves the vector empty.
  void submit(std::vector<Task>& tasks);

  // Whether it is better done on the caller's thread: it is quick, and a worker would have to be
  // woken for it.
  [[nodiscard]] bool better_here(const Task& task);
  void run_here(Task task);

  // Drops what waits, lets what runs in Handler::handle return, ends the threads.
  void stop();

 private:
  void work();

  Handler& handler_;
  EdgeCounters& counters_;
  const std::size_t waiting_max_;
  std::mutex mutex_;
  std::condition_variable work_came_;
  std::deque<Task> waiting_;
  std::size_t sleeping_ = 0;
  bool stopping_ = false;
  std::vector<std::jthread> threads_;
};

}  // namespace oncepay::http::edge

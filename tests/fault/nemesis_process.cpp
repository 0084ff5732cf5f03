#include <signal.h>

#include <filesystem>
#include <stdexcept>

#include "fault/nemesis.hpp"

namespace fault {
namespace {

void kill_one(Field& field, Random& random) {
  Post& post = field.any_post(random);
  post.instance->kill_hard();
  last(random, 50ms, 600ms);
  post.start();
}

void kill_all(Field& field, Random& random) {
  for (std::size_t i = 0; i < field.posts(); ++i) field.post(i).instance->kill_hard();
  last(random, 50ms, 300ms);
  for (std::size_t i = 0; i < field.posts(); ++i) field.post(i).start();
}

void stand_still(Field& field, Random& random) {
  Post& post = field.any_post(random);
  post.instance->pause();
  last(random, 300ms, 1500ms);
  post.instance->resume();
}

void roll(Field& field, Random&) {
  for (std::size_t i = 0; i < field.posts(); ++i) {
    const auto exit_code = field.post(i).instance->terminate();
    if (exit_code != 0) {
      throw std::runtime_error("SIGTERM ended with exit code " +
                               (exit_code ? std::to_string(*exit_code) : "none"));
    }
    field.post(i).start();
  }
}

// Debian's libfaketime, wherever this machine's architecture has it; nothing when it is not there.
std::string faketime_library() {
  std::error_code ignored;
  for (const auto& folder : std::filesystem::directory_iterator("/usr/lib", ignored)) {
    const auto library = folder.path() / "faketime/libfaketimeMT.so.1";
    if (std::filesystem::exists(library, ignored)) return library;
  }
  return "";
}

// A clock that is 25 hours ahead, so that by it every key has expired, or behind, and a zone of its
// own. Without libfaketime the zone alone is wrong.
void wrong_clock(Field& field, Random& random) {
  Post& post = field.any_post(random);
  support::Environment environment{
      {"TZ", random() % 2 == 0 ? "Pacific/Kiritimati" : "America/St_Johns"}, {"LC_ALL", "C"}};
  if (const std::string library = faketime_library(); !library.empty()) {
    environment.insert(environment.end(), {{"LD_PRELOAD", library},
                                           {"FAKETIME", random() % 2 == 0 ? "+25h" : "-1h"},
                                           {"FAKETIME_DONT_FAKE_MONOTONIC", "1"}});
  }
  if (post.instance->terminate() != 0) throw std::runtime_error("SIGTERM did not end an instance");
  post.start(environment);
  last(random, 1000ms, 2000ms);
  field.expect_recovered();
  if (post.instance->terminate() != 0) throw std::runtime_error("SIGTERM did not end an instance");
  post.start();
}

}  // namespace

std::vector<Nemesis> process_nemeses() {
  return {{"kill -9 of an instance", kill_one},
          {"kill -9 of all instances", kill_all},
          {"SIGSTOP and SIGCONT of an instance", stand_still},
          {"SIGTERM and start of one instance after the other", roll},
          {"an instance with a wrong clock and zone", wrong_clock}};
}

}  // namespace fault

#include "fault/nemesis.hpp"

namespace fault {
namespace {

enum class Whose { one, all };

// The roads of one instance, or of all, have this weather for a moment.
class Spell {
 public:
  Spell(Field& field, Road road, Whose whose, Random& random, const Forecast& forecast) {
    const std::size_t chosen = random() % field.posts();
    for (std::size_t i = 0; i < field.posts(); ++i) {
      if (whose == Whose::one && i != chosen) continue;
      Post& post = field.post(i);
      gates_.push_back(road == Road::database ? &post.to_database : &post.to_service);
      gates_.back()->turn(forecast);
    }
  }
  Spell(const Spell&) = delete;
  Spell& operator=(const Spell&) = delete;
  ~Spell() {
    for (Gate* gate : gates_) gate->clear();
  }

 private:
  std::vector<Gate*> gates_;
};

std::function<void(Field&, Random&)> spell(Road road, Whose whose, const Forecast& forecast) {
  return [=](Field& field, Random& random) {
    const Spell over(field, road, whose, random, forecast);
    last(random, 500ms, 1500ms);
  };
}

// A proxy that sends each request to another instance as well.
void repeat_requests(Field& field, Random& random) {
  Forecast forecast{Weather::repeats};
  forecast.also_to = field.post(0).to_service.port();
  for (std::size_t i = 1; i < field.posts(); ++i) field.post(i).to_service.turn(forecast);
  last(random, 1000ms, 2000ms);
  for (std::size_t i = 1; i < field.posts(); ++i) field.post(i).to_service.clear();
}

std::function<void(Field&, Random&)> at_commit(Strike::When when, Weather then) {
  return [=](Field& field, Random& random) {
    Gate& gate = field.any_post(random).to_database;
    Strike strike{"COMMIT", when, Strike::Then::lose, nullptr};
    strike.act = [&gate, then](int) { gate.turn({then}); };
    gate.arm(strike);
    const bool struck = support::eventually([&] { return gate.struck(); }, 10s);
    last(random, 200ms, 1000ms);
    gate.clear();
    gate.disarm();
    if (!struck) throw std::runtime_error("no COMMIT passed the gate");
  };
}

}  // namespace

std::vector<Nemesis> network_nemeses() {
  using When = Strike::When;
  const auto often = [](Weather weather, int one_in) { return Forecast{weather, 0ms, one_in}; };
  const Forecast slow{Weather::slow, 50ms};
  return {
      {"one instance is cut off from the database",
       spell(Road::database, Whose::one, {Weather::cut})},
      {"all instances are cut off from the database",
       spell(Road::database, Whose::all, {Weather::cut})},
      {"nothing moves between an instance and the database",
       spell(Road::database, Whose::one, {Weather::stalled})},
      {"every statement takes 50 ms longer", spell(Road::database, Whose::all, slow)},
      {"statements are cut in half",
       spell(Road::database, Whose::all, often(Weather::halves_request, 8))},
      {"the database's answers are cut in half",
       spell(Road::database, Whose::all, often(Weather::halves_answer, 8))},
      {"the database's answers are lost",
       spell(Road::database, Whose::all, often(Weather::loses_answer, 8))},
      {"COMMIT is lost", at_commit(When::before, Weather::clear)},
      {"the answer of COMMIT is lost", at_commit(When::after, Weather::clear)},
      {"the answer of COMMIT is lost and the database cannot be reached",
       at_commit(When::after, Weather::cut)},
      {"COMMIT is lost and the database cannot be reached", at_commit(When::before, Weather::cut)},
      {"clients are cut off from an instance", spell(Road::clients, Whose::one, {Weather::cut})},
      {"nothing moves between clients and an instance",
       spell(Road::clients, Whose::one, {Weather::stalled})},
      {"requests and answers take 50 ms longer", spell(Road::clients, Whose::all, slow)},
      {"requests are cut in half",
       spell(Road::clients, Whose::all, often(Weather::halves_request, 3))},
      {"answers are cut in half",
       spell(Road::clients, Whose::all, often(Weather::halves_answer, 3))},
      {"answers are lost", spell(Road::clients, Whose::all, often(Weather::loses_answer, 3))},
      {"a proxy sends requests to a second instance too", repeat_requests},
  };
}

}  // namespace fault

// SPDX-License-Identifier: MIT
// Models of a stage that serves items in their order. The calls and their order are those of
// nopal/pipeline.h, where the items that have begun and not ended are no more than the places.
#include "harness.h"

#include "nopal/algorithms/turns.h"

namespace nopal::model {
namespace {

template <int Threads, unsigned Places, unsigned Items>
struct stage : scenario<stage<Threads, Places, Items>, Threads> {
  algorithms::turn_of_place turns[Places];
  base::handed_over<unsigned> places[Places];
  base::handed_over<unsigned> served{0}; // the stage's own state
  base::atomic<unsigned> ended{0};

  void before() { turns[0].begin(); }

  void thread(unsigned self) {
    for (unsigned item = self; item < Items; item += Threads) {
      for (unsigned tries = 1; item >= Places + ended.load(base::acquire); ++tries)
        base::wait_briefly(tries);
      run(item);
    }
  }
  void run(unsigned item) {
    algorithms::turn_of_place& own = turns[item % Places];
    if (!own.has_turn()) {
      places[item % Places] = item;
      if (!own.leave_item())
        return;
      check(places[item % Places] == item, "the item is not in its place");
    }
    while (serve(item)) {
      ended.fetch_add(1, base::acq_rel);
      ++item;
      check(places[item % Places] == item, "the next item is not in its place");
    }
    ended.fetch_add(1, base::acq_rel);
  }
  bool serve(unsigned item) {
    check(served == item, "an item was served out of its turn");
    served = item + 1;
    turns[item % Places].take_item();
    return turns[(item + 1) % Places].pass_turn();
  }
  void after() { check(served == Items, "an item was left in its place"); }
};

} // namespace
} // namespace nopal::model

int main(int argc, char** argv) {
  using namespace nopal::model;
  runner models{argc, argv};
  models.random<stage<2, 1, 3>>("one place");
  models.random<stage<2, 2, 4>>("two places, used twice");
  models.random<stage<3, 2, 4>>("three strands, two places");
  models.random<stage<3, 3, 3>>("three strands, three places");
  models.bounded<stage<2, 2, 3>>("two places", 2);
  return models.result();
}

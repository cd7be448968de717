// SPDX-License-Identifier: MIT
//
// Models of the deque variant `the`.
#include "owner_and_thieves.h"

#include "nopal/deque/the.h"

namespace nopal::model {
namespace {

using the_deque = deque::the<offer, fake_bounds>;

// Thieves that look at a frame, under the lock, before they take or leave it.
struct choosy : scenario<choosy, 3>, deque_state<the_deque, shape{1, 2}> {
  void before() { deque_state::before(); }
  void after() { deque_state::after(); }
  void thread(unsigned self) {
    if (self == 0)
      own();
    else
      for (int tries = 0; tries < 2; ++tries)
        steal_or_leave();
  }

  // A sleeper's last look leaves the frame in any case.
  void steal_or_leave() noexcept {
    entry<offer> taken{};
    bool leaves = false;
    const auto wanted = [&leaves](const strand* frame) {
      check(frame->is_prepared(), "a thief was shown a frame that it may not take");
      leaves = rl::rand(2) == 0;
      return !leaves;
    };
    if (rl::rand(2) == 0) {
      check(!deque.has_work(nullptr, wanted) || !leaves, "work that this thief does not want");
      return;
    }
    const outcome result = deque.steal(nullptr, taken, wanted);
    check(!leaves || result == outcome::foreign, "what a thief leaves is not its own");
    if (result == outcome::got)
      taken.frame->resume();
    else if (result == outcome::empty)
      deque.ask();
  }
};

} // namespace
} // namespace nopal::model

int main(int argc, char** argv) {
  using namespace nopal;
  model::runner models{argc, argv};
  model::run_deque_models<model::the_deque>(models);
  models.random<model::choosy>("nested forks, two thieves that choose", 3);
  return models.result();
}

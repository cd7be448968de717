// SPDX-License-Identifier: MIT
// Models of sleeping around the deques whose forks are public at once.
#include "tests/model/owner_and_sleepers.h"

#include "bench/baseline/chase_lev.h"
#include "bench/baseline/the.h"

namespace nopal::model {
namespace {

using the_deque = deque::the<fork_record, fake_bounds>;
using chase_lev_deque = deque::chase_lev<fork_record, fake_bounds, 1>;

// An owner whose only fork is looked at, and left, by a thief of another group, while a
// worker that may take it falls asleep.
template <class Deque> struct looked_at : scenario<looked_at<Deque>, 3>, pool_state<Deque, 1, 1> {
  int other_group = 0;
  void before() { pool_state<Deque, 1, 1>::before(); }
  void after() { pool_state<Deque, 1, 1>::after(); }
  void thread(unsigned self) {
    if (self == 0) {
      this->push(0, 0);
    } else if (self == 1) {
      this->search(self);
    } else {
      for (int tries = 0; tries < 4 && !look(); ++tries)
        base::spin_pause();
    }
  }

  bool look() noexcept {
    entry<fork_record> taken{};
    const outcome result = this->deque.steal(&other_group, taken);
    check(result != outcome::got, "another group's fork was taken");
    return result == outcome::foreign;
  }
};

template <class Deque> void run_classic_pool_models(runner& models) {
  run_pool_models<Deque>(models);
  models.random<looked_at<Deque>>("one fork, looked at by a stranger, one thief", 2);
  models.bounded<looked_at<Deque>>("one fork, looked at by a stranger, one thief", 1);
}

} // namespace
} // namespace nopal::model

int main(int argc, char** argv) {
  using namespace nopal::model;
  runner models{argc, argv};
  run_classic_pool_models<chase_lev_deque>(models);
  run_classic_pool_models<the_deque>(models);
  return models.result();
}

// SPDX-License-Identifier: MIT
// Models of alternatives, one of which gives the answer: exactly one does. The caller waits for the
// alternatives, or for an answer alone; it goes on once, and finds the answer or what they threw.
//
// The calls and their order are those of either.h (alternatives_cell, shared_cell, either) and
// future.h; a join is a count. The shared cell ends when nobody has a share in it any more: a
// thread that touches it after that fails the run.
#include "mortal.h"

#include "nopal/base/flag.h"
#include "nopal/join/cancelable.h"
#include "nopal/sync/choice.h"
#include "nopal/sync/once_event.h"
#include "nopal/sync/thread_waker.h"

namespace nopal::model {
namespace {

struct fiber {
  base::handed_over<fiber*> next_waiting{nullptr};
  base::handed_over<fiber*> before_waiting{nullptr};
  sync::choice waits;
  sync::thread_waker woken;

  bool claim() noexcept { return waits.claim(0); }
};

// What an alternative does; `moves_badly`: it has a value, but the move of that value throws.
enum class does { finds, fails, moves_badly };

template <int Count> struct cell {
  base::flag claimed;
  base::handed_over<int> answer{0};
  base::handed_over<int> thrown[Count];
  base::handed_over<int> prepared[Count]; // by each, before it takes the answer
  int winner = -1;                        // the model's own note

  template <class Then>
  void call(int which, does what, join::cancelable& region, Then answered) noexcept {
    if (region.marked())
      return;
    prepared[which] = 1;
    if (what == does::fails) {
      thrown[which] = 1;
      return;
    }
    if (!claimed.take()) {
      check(prepared[winner] == 1, "a late alternative does not see what was done before");
      return;
    }
    check(winner == -1, "two have taken the answer");
    winner = which;
    if (what == does::moves_badly) {
      thrown[which] = 1;
      return;
    }
    answer = 1 + which;
    answered();
    region.mark();
  }
  void check_result(const does (&what)[Count]) noexcept {
    bool any_finds = false;
    bool any_moves_badly = false;
    for (const does each : what) {
      any_finds |= each == does::finds;
      any_moves_badly |= each == does::moves_badly;
    }
    if (answer != 0)
      return check(what[answer - 1] == does::finds, "the answer came from nowhere");
    check(!any_finds || any_moves_badly, "the answer was lost");
    int failed = 0;
    for (const base::handed_over<int>& each : thrown)
      failed += each;
    check(failed != 0, "what was thrown was lost");
  }
};

// All alternatives are joined; the last one goes on.
template <const auto& Does> struct joined : scenario<joined<Does>, int{std::size(Does)}> {
  static constexpr int count = std::size(Does);
  cell<count> alternatives;
  join::cancelable region;
  base::atomic<int> left{count};
  bool over = false;

  void thread(unsigned self) {
    alternatives.call(static_cast<int>(self), Does[self], region, [] {});
    if (left.fetch_sub(1, base::acq_rel) != 1)
      return;
    alternatives.check_result(Does);
    over = true;
  }
  void after() { check(over, "nobody goes on"); }
};

// The caller waits for the answer alone, and perhaps is cancelled meanwhile.
template <int Count> struct shared_cell : cell<Count> {
  sync::once_event<fiber> settled;
  base::atomic<int> left{Count};
  base::atomic<int> shares{Count + 1};
};

enum class caller { waits, is_cancelled };

template <const auto& Does, caller Caller>
struct shared : scenario<shared<Does, Caller>,
                         int{std::size(Does)} + (Caller == caller::is_cancelled ? 2 : 1)> {
  static constexpr int count = std::size(Does);
  mortal<shared_cell<count>> alternatives;
  join::cancelable losers;
  fiber waiting;
  bool over = false;

  void before() { alternatives.begin(); }

  void give_share_up() noexcept {
    if (alternatives->shares.fetch_sub(1, base::acq_rel) != 1)
      return;
    if (alternatives->settled.happened())
      alternatives->settled.settle();
    alternatives.end();
  }
  void settle() noexcept {
    for (fiber* waiter = alternatives->settled.happen(); waiter != nullptr;) {
      fiber* const next = waiter->next_waiting;
      waiter->woken.wake();
      waiter = next;
    }
  }
  void run_alternative(int which) noexcept {
    alternatives->call(which, Does[which], losers, [this] { settle(); });
    if (alternatives->left.fetch_sub(1, base::acq_rel) == 1 && !alternatives->settled.happened())
      settle();
    give_share_up();
  }
  void call_either() noexcept {
    bool cancelled = false;
    if (!alternatives->settled.happened() && alternatives->settled.join(&waiting)) {
      waiting.woken.wait();
      cancelled = waiting.waits.taken() == sync::choice::cancelled;
    }
    if (cancelled)
      alternatives->settled.leave(&waiting);
    else
      alternatives->check_result(Does);
    over = true;
    give_share_up();
  }
  void thread(unsigned self) {
    if (self < count)
      run_alternative(static_cast<int>(self));
    else if (self == count)
      call_either();
    else if (waiting.waits.claim(sync::choice::cancelled))
      waiting.woken.wake();
  }
  void after() { check(over, "the caller does not go on"); }
};

// Any thread may ask whether the answer was taken.
struct looks : scenario<looks, 2> {
  base::flag claimed;
  base::handed_over<int> prepared{0};

  void thread(unsigned self) {
    if (self == 0) {
      prepared = 1;
      claimed.take();
    } else if (claimed.taken()) {
      check(prepared == 1, "a thread sees that it was taken, and not what was done before");
    }
  }
};

constexpr does single[] = {does::finds};
constexpr does two[] = {does::finds, does::finds};
constexpr does three[] = {does::finds, does::finds, does::finds};
constexpr does one_fails[] = {does::fails, does::finds};
constexpr does all_fail[] = {does::fails, does::fails};
constexpr does one_moves_badly[] = {does::moves_badly, does::finds};

} // namespace
} // namespace nopal::model

int main(int argc, char** argv) {
  using namespace nopal::model;
  constexpr auto waits = caller::waits;
  constexpr auto cancelled = caller::is_cancelled;
  runner models{argc, argv};
  models.random<looks>("a thread looks");
  models.full<looks>("a thread looks");
  models.section("all are joined");
  models.random<joined<two>>("two find");
  models.bounded<joined<two>>("two find", 4);
  models.random<joined<three>>("three find");
  models.random<joined<one_fails>>("one of two fails");
  models.random<joined<all_fail>>("both fail");
  models.random<joined<one_moves_badly>>("one has a value that cannot be moved");
  models.section("the caller waits for the answer");
  models.random<shared<single, waits>>("one finds");
  models.bounded<shared<single, waits>>("one finds", 2);
  models.random<shared<two, waits>>("two find");
  models.bounded<shared<two, waits>>("two find", 1);
  models.random<shared<three, waits>>("three find");
  models.random<shared<one_fails, waits>>("one of two fails");
  models.random<shared<all_fail, waits>>("both fail");
  models.random<shared<one_moves_badly, waits>>("one has a value that cannot be moved");
  models.random<shared<two, cancelled>>("two find, the caller is cancelled");
  models.random<shared<all_fail, cancelled>>("both fail, the caller is cancelled");
  return models.result();
}

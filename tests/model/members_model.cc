// SPDX-License-Identifier: MIT
// Models of the fibers of a cancelable, and of a strand that cancels it and waits for their end.
//
// The calls and their order are those of cancel/cancel_tree.cc (cancel, take_in, the destructor),
// sched/park.cc (park_or_stop) and fibers/fibers.cc (begin_fiber). A node ends as soon as a strand
// was told that it has no member: a thread that touches it after that fails the run.
#include "mortal.h"

#include "nopal/join/cancelable.h"
#include "nopal/sync/choice.h"
#include "nopal/sync/members.h"
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

struct node {
  explicit node(node* parent) noexcept
      : mark{parent != nullptr ? &parent->mark : nullptr},
        members{parent != nullptr ? &parent->members : nullptr} {}

  join::cancelable mark;
  sync::members<fiber> members;

  void end_member() noexcept {
    for (fiber* waiting = members.end_one(); waiting != nullptr;) {
      fiber* const next = waiting->next_waiting;
      waiting->woken.wake();
      waiting = next;
    }
  }
  // The member's body is skipped if the node is cancelled.
  void run_member(base::handed_over<int>& body) noexcept {
    if (!mark.cancelled())
      body = 1;
    end_member();
  }
  // False: the strand that waits was cancelled itself.
  bool cancel(fiber& caller) noexcept {
    mark.mark();
    if (members.join(&caller))
      caller.woken.wait();
    if (caller.waits.taken() != sync::choice::cancelled)
      return true;
    members.leave(&caller);
    return false;
  }
};

void end(mortal<node>& ended) noexcept {
  check(!ended->members.any(), "a cancelable ends that has members");
  ended.end();
}

// One thread or two cancel the node, and wait for its one member or two. A member may make another
// one. If a single thread cancels, it ends the node then.
enum class made_by { before, another };

template <int Members, int Cancelling, made_by By>
struct members_end : scenario<members_end<Members, Cancelling, By>, Members + Cancelling> {
  mortal<node> cancelled;
  fiber waiting[Cancelling];
  base::handed_over<int> body[Members];
  sync::thread_waker begins[Members];

  void begin(int member) noexcept {
    cancelled->members.begin_one();
    begins[member].wake();
  }
  void before() {
    cancelled.begin(nullptr);
    for (int i = 0; i < (By == made_by::before ? Members : 1); ++i)
      begin(i);
  }
  void thread(unsigned self) {
    if (self < Members) {
      begins[self].wait();
      if (By == made_by::another && self + 1 < Members)
        begin(int(self) + 1);
      return cancelled->run_member(body[self]);
    }
    cancelled->cancel(waiting[self - Members]);
    for (const base::handed_over<int>& each : body) // a race if a member is not over
      check(each <= 1, "a member ran twice");
    if (Cancelling == 1)
      end(cancelled);
  }
  void after() {
    if (Cancelling != 1)
      end(cancelled);
  }
};

// A fiber becomes a member while the node is cancelled: it sees that, or the canceller waits for
// it.
struct becomes_one : scenario<becomes_one, 2> {
  mortal<node> cancelled;
  fiber waiting;
  base::handed_over<int> body;

  void before() { cancelled.begin(nullptr); }
  void thread(unsigned self) {
    if (self == 0) {
      cancelled->members.begin_one();
      return cancelled->run_member(body);
    }
    cancelled->cancel(waiting);
    body = 2;
  }
  void after() {
    check(body == 2, "a member runs after the end of cancel");
    end(cancelled);
  }
};

// A member of a node below another one.
template <bool Upper> struct below : scenario<below<Upper>, Upper ? 3 : 2> {
  mortal<node> upper;
  mortal<node> lower;
  fiber waiting[2];
  base::handed_over<int> body;

  void before() {
    upper.begin(nullptr);
    lower.begin(&*upper);
    lower->members.begin_one();
  }
  void thread(unsigned self) {
    if (self == 0)
      return lower->run_member(body);
    if (self == 2)
      return static_cast<void>(upper->cancel(waiting[1]));
    lower->cancel(waiting[0]);
    check(body <= 1, "a member ran twice");
    end(lower);
    if (!Upper)
      end(upper);
  }
  void after() {
    if (Upper)
      end(upper);
  }
};

// A strand that waits is cancelled meanwhile. It goes on once, and waits anew before the node ends,
// as the destructor of a cancelable does.
struct is_cancelled : scenario<is_cancelled, 3> {
  mortal<node> cancelled;
  fiber waiting;
  fiber again;
  base::handed_over<int> body;

  void before() {
    cancelled.begin(nullptr);
    cancelled->members.begin_one();
  }
  void thread(unsigned self) {
    if (self == 0)
      return cancelled->run_member(body);
    if (self == 1) {
      if (waiting.waits.claim(sync::choice::cancelled))
        waiting.woken.wake();
      return;
    }
    if (!cancelled->cancel(waiting))
      cancelled->cancel(again);
    check(body <= 1, "a member ran twice");
    end(cancelled);
  }
};

} // namespace
} // namespace nopal::model

int main(int argc, char** argv) {
  using namespace nopal::model;
  constexpr auto before = made_by::before;
  constexpr auto another = made_by::another;
  runner models{argc, argv};
  models.random<members_end<1, 1, before>>("one member");
  models.bounded<members_end<1, 1, before>>("one member", 4);
  models.random<members_end<2, 1, before>>("two members");
  models.bounded<members_end<2, 1, before>>("two members", 1);
  models.random<members_end<2, 1, another>>("a member makes another");
  models.random<members_end<1, 2, before>>("two cancel");
  models.random<becomes_one>("a fiber becomes a member meanwhile");
  models.bounded<becomes_one>("a fiber becomes a member meanwhile", 4);
  models.random<below<false>>("both nodes end when the lower is cancelled");
  models.bounded<below<false>>("both nodes end when the lower is cancelled", 4);
  models.random<below<true>>("both nodes are cancelled");
  models.random<is_cancelled>("a strand that waits is cancelled");
  models.bounded<is_cancelled>("a strand that waits is cancelled", 2);
  return models.result();
}

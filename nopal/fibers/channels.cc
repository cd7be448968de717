// SPDX-License-Identifier: MIT
// Does one of several hand-overs, at once or with the next strand that comes.
#include "nopal/fibers/channels.h"

#include "nopal/base/atomic.h"
#include "nopal/base/check.h"
#include "nopal/base/random.h"
#include "nopal/base/sanitizer.h"
#include "nopal/fibers/ordered_strands.h"
#include "nopal/sched/park.h"
#include "nopal/sched/stop.h"
#include "nopal/vproc/ready.h"

#include <utility>
#include <vector>

namespace nopal::inline NOPAL_ABI::fibers {
namespace {

using offer = sync::offer<fiber>;

// What `transfer` moves for a strand.
struct values_of {
  alternative& mine;

  void give(const offer* receiver) const noexcept {
    base::happens_after(receiver);
    mine.move(mine.own.value, receiver->value);
  }
  void keep(std::size_t slot) const noexcept { mine.move(mine.own.value, mine.at->slot(slot)); }
  void take(std::size_t slot) const noexcept {
    mine.at->take_out(mine.at->slot(slot), mine.own.value);
  }
  void fill(std::size_t slot, const offer* sender) const noexcept {
    base::happens_after(sender);
    mine.move(sender->value, mine.at->slot(slot));
  }
};

// At a place that has slots, or is closed.
[[gnu::noinline]] bool meet_slots(alternative& mine) noexcept {
  using outcome = meeting_place::outcome;
  const ordered_strands meets{mine.at};
  const outcome done = mine.at->transfer(mine.wants, values_of{mine});
  if (done.woken != nullptr)
    vproc::make_ready(done.woken);
  mine.own.closed = done.what == outcome::kind::end;
  return done.what != outcome::kind::nothing;
}

// Hands over with a strand that waits there. The value moves before that strand may go on, since it
// lies in that strand's frame.
[[gnu::always_inline]] inline bool meet(alternative& mine) noexcept {
  if (!mine.at->is_plain()) [[unlikely]]
    return meet_slots(mine);
  NOPAL_IF_SEEN(const ordered_strands meets{mine.at});
  offer* const other = mine.at->take(sync::opposite(mine.wants));
  if (other == nullptr)
    return false;
  base::happens_after(other); // `take` has claimed that strand, so nobody else wakes it
  if (mine.wants == side::sending)
    mine.move(mine.own.value, other->value);
  else
    mine.move(other->value, mine.own.value);
  vproc::make_ready(other->strand);
  return true;
}

// The random numbers of one call by a thread that runs no strands, and so has no vproc's. To ask
// for the seed would decide the options.
base::random of_this_call() noexcept {
  static constinit base::atomic<std::uint64_t> calls{0};
  base::random numbers;
  numbers.reseed(0, calls.fetch_add(1, base::relaxed));
  return numbers;
}

// Tries the alternatives in a random order, each order as likely as any other: so each of those
// that are possible is as likely, however many stand between them that are not. The order is made
// as far as it is tried; `own.number` has what is left of it.
[[gnu::noinline]] std::size_t meet_one_of_several(alternative* choices, std::size_t count,
                                                  base::random& numbers) noexcept {
  for (std::size_t i = 0; i < count; ++i)
    choices[i].own.number = static_cast<std::uint32_t>(i);
  for (std::size_t left = count; left != 0; --left) {
    const std::size_t drawn = numbers.below(static_cast<std::uint32_t>(left));
    const std::size_t number =
        std::exchange(choices[drawn].own.number, choices[left - 1].own.number);
    if (meet(choices[number]))
      return number;
  }
  return none_possible;
}

[[gnu::always_inline]] inline std::size_t meet_any(alternative* choices,
                                                   std::size_t count) noexcept {
  if (count == 1)
    return meet(*choices) ? 0 : none_possible;
  if (const vproc::worker* const self = vproc::current(); vproc::is_worker(self))
    return meet_one_of_several(choices, count, self->host->random);
  base::random numbers = of_this_call();
  return meet_one_of_several(choices, count, numbers);
}

[[gnu::noinline]] std::size_t meet_again(alternative* choices, std::size_t count) noexcept {
  return meet_any(choices, count);
}

// Links the alternatives and returns the first. All strands lock places in this order, so no two
// wait for each other. Each half is in order, then they are merged: O(n log n) for n alternatives.
alternative* in_order_of_places(alternative* choices, std::size_t count) noexcept {
  if (count <= 1)
    return count == 0 ? nullptr : choices; // next_locked is null
  alternative* left = in_order_of_places(choices, count / 2);
  alternative* right = in_order_of_places(choices + count / 2, count - count / 2);
  alternative* first = nullptr;
  alternative** end = &first;
  while (left != nullptr && right != nullptr) {
    alternative*& lower = right->at < left->at ? right : left;
    *end = lower;
    end = &lower->next_locked;
    lower = *end;
  }
  *end = left != nullptr ? left : right;
  return first;
}

// Calls `f` for each place once; the list names each place's alternatives one after the other. It
// is not read after the last call: when the last place is unlocked, the strand may go on, and only
// its wait word keeps its frame.
template <class F> void for_each_place(const alternative* first, F f) noexcept {
  for (const alternative* each = first; each != nullptr;) {
    const alternative* const next = each->next_locked;
    if (next == nullptr || next->at != each->at)
      f(*each->at);
    each = next;
  }
}

// Publishes all offers at once, under the locks of all their places. False: an alternative has
// become possible, and no offer was published.
bool publish_all(alternative* first, fiber* strand) noexcept {
  bool possible = false;
  // All locks are held while it looks and publishes: two strands that would meet do not miss each
  // other, and nobody takes one offer before the others are there.
  for_each_place(first, [](meeting_place& at) { at.lock().lock(); });
  for (alternative* each = first; each != nullptr; each = each->next_locked)
    possible = possible || each->at->ready(each->wants);
  for (alternative* each = first; each != nullptr && !possible; each = each->next_locked) {
    each->own.strand = strand; // before `publish`, after which another strand may take the offer
    base::happens_before(&each->own);
    const ordered_strands meets{each->at};
    each->at->publish(each->wants, &each->own);
  }
  // A place whose lock is free may be gone soon, but not before its neighbours were unlocked: the
  // strand withdraws from all of them.
  for_each_place(first, [](meeting_place& at) { at.lock().unlock(); });
  return !possible;
}

// While it lives, the values of a strand that waits on a view are aside.
class set_aside {
public:
  explicit set_aside(alternative* choices) noexcept : choices_{choices} {}
  void begin(std::size_t count) {
    if (!stack::view::holds(reinterpret_cast<std::uintptr_t>(choices_)))
      return;
    places_.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
      alternative& each = choices_[i];
      void* const place = each.own.value;
      each.own.value = each.at->aside != nullptr ? each.at->aside->begin(each.wants, place)
                                                 : stack::seen(stack::no_stack, place);
      places_.push_back(place);
    }
  }
  ~set_aside() {
    for (std::size_t i = 0; i < places_.size(); ++i) {
      alternative& each = choices_[i];
      void* const aside = std::exchange(each.own.value, places_[i]);
      if (each.at->aside != nullptr)
        each.at->aside->end(each.wants, aside, places_[i], i == met_ && !each.own.closed);
    }
  }
  set_aside(const set_aside&) = delete;
  set_aside& operator=(const set_aside&) = delete;

  std::size_t met(std::size_t number) noexcept { return met_ = number; }

private:
  alternative* const choices_;
  std::vector<void*> places_; // the strand's own
  std::size_t met_ = none_possible;
};

// None was possible at once.
[[gnu::always_inline]] inline std::size_t wait_for_one(alternative* choices, std::size_t count,
                                                       time_point until) {
  timed own{until,
            count != 1                        ? sync::wanted::one_of_several
            : choices->wants == side::sending ? sync::wanted::to_send
                                              : sync::wanted::to_receive,
            count != 1 ? nullptr : choices->at};
  timed& waits = stack::seen(own);
  set_aside aside{choices};
  aside.begin(count);
  choices = stack::seen(stack::no_stack, choices);
  for (std::size_t i = 0; i < count; ++i) {
    choices[i].own.shared = &waits.decided();
    choices[i].own.number = static_cast<std::uint32_t>(i);
    choices[i].next_locked = nullptr; // it may have waited before
  }
  alternative* const first = in_order_of_places(choices, count);
  for (;;) {
    bool published = false;
    const auto publish = [&](fiber* strand) {
      published = true; // before another thread may resume the strand, whose frame this is
      if (publish_all(first, strand))
        return waits.begin(strand);
      published = false;
      return signal::enter(strand);
    };
    sched::park_or_stop(waits.decided(), publish, [](fiber*) {});
    if (published) // woken, cancelled or timed out; else one is possible now
      break;
    if (const std::size_t met = meet_again(choices, count); met != none_possible)
      return aside.met(met);
  }
  // The offers lie in this frame: those that were not taken leave their places before it ends.
  const std::size_t taken = waits.decided().taken();
  if (count == 1 && taken == 0)
    return aside.met(0); // the only offer was taken out by its taker
  for (std::size_t i = 0; i < count; ++i)
    if (i != taken)
      choices[i].at->withdraw(choices[i].wants, &choices[i].own);
  if (taken < count)
    return aside.met(taken);
  waits.end(); // throws if the strand was cancelled
  return none_possible;
}

} // namespace

std::size_t do_one(alternative* choices, std::size_t count, time_point until) {
  if (const vproc::worker* const self = vproc::current();
      vproc::is_worker(self) && self->host->signals.maybe_raised(sync::stop_requested))
    sched::stop_if_told(); // also where it need not wait
  const std::size_t met = meet_any(choices, count);
  if (met != none_possible || has_passed(until))
    return met;
  return wait_for_one(choices, count, until);
}

void close(meeting_place& at) noexcept {
  for (offer* waits = at.close(); waits != nullptr;) {
    offer* const next = waits->next; // its frame may end once its strand is ready
    base::happens_after(waits);
    waits->closed = true;
    vproc::make_ready(std::exchange(waits, next)->strand);
  }
}

void check_nobody_waits(const meeting_place& at) noexcept {
  NOPAL_ASSERT(at.empty(side::sending) && at.empty(side::receiving),
               "a nopal::channel was destroyed while a strand waits to send or to receive there; "
               "let it live until all have ended that use it");
}

} // namespace nopal::inline NOPAL_ABI::fibers

// SPDX-License-Identifier: MIT
// What models of strands that meet to hand over a value share.
//
// The calls and their order are those of fibers/channels.cc and sched/park.cc. A strand that waits
// goes on in the thread that took its offer, perhaps while the thread that published the offers has
// not unlocked all places. Its frame ends when it goes on, and a thread that touches it then fails.
#pragma once

#include "courses.h"
#include "mortal.h"

#include "nopal/base/count.h"
#include "nopal/sync/rendezvous.h"
#include "nopal/sync/wait_word.h"

#include <algorithm>
#include <iterator>

namespace nopal::model {
namespace {

struct strand;
inline constexpr unsigned places = 2;
inline constexpr unsigned most_slots = 2;

struct meeting_place : sync::rendezvous<strand> {
  explicit meeting_place(std::size_t count) noexcept : rendezvous{count} {}
  base::handed_over<int> slots[most_slots]{};
};
inline constexpr unsigned none_possible = most_alternatives;

struct alternative {
  base::handed_over<meeting_place*> at{nullptr};
  base::handed_over<int> value{0}; // the sender's, or the receiver's place for it
  sync::offer<strand> own;
  base::handed_over<alternative*> next_locked{nullptr};
  side wants = side::sending;

  // The strand writes over its frame, so that it is a race if somebody reads there meanwhile.
  ~alternative() {
    at = nullptr;
    value = 0;
    own.value = nullptr;
    own.shared = nullptr;
    own.number = 0;
    own.strand = nullptr;
    own.next = nullptr;
    own.before = nullptr;
    own.queued = false;
    own.closed = false;
    next_locked = nullptr;
  }
};

// The frame of do_one and its caller.
struct frame {
  alternative alternatives[most_alternatives];
  sync::choice any;
  base::handed_over<unsigned> count{0};
};

struct strand {
  const course* does = nullptr;
  int first_value = 0;
  base::handed_over<unsigned> calls{0}; // that have ended; for the thread that runs the strand
  sync::wait_word word;                 // of its stack
  bool stopped = false;                 // the model's own notes: it was cancelled,
  bool met_end = false;                 // or found a place closed
  int last[places][max_threads]{};      // received from each place, of each strand's values
  mortal<frame> frames[most_calls];     // each call its own, so that none lies where one has ended

  const call& now() const noexcept { return does->calls[calls]; }
  frame& current_frame() noexcept { return *frames[calls]; }
  bool ended() const noexcept { return stopped || calls == most_calls || now().count == 0; }

  // Values of one sender leave a place in the order in which they came.
  void check_order(unsigned place, int value) noexcept {
    int& before = last[place][(value - 1) / int{most_calls * most_alternatives}];
    check(before < value, "a value has overtaken an earlier one");
    before = value;
  }

  // Withdraws all offers but the one that was taken.
  void withdraw_all(unsigned taken = none_possible) noexcept {
    frame& call_frame = current_frame();
    for (unsigned i = 0; i < call_frame.count; ++i)
      if (i != taken)
        call_frame.alternatives[i].at->withdraw(call_frame.alternatives[i].wants,
                                                &call_frame.alternatives[i].own);
  }
};

// What was handed over: the models' own notes.
struct notes {
  static constexpr int most_values = max_threads * int{most_calls * most_alternatives} + 1;
  int sent[most_values]{};
  int received[most_values]{};

  void check_each_once() const noexcept {
    for (int value = 1; value < most_values; ++value) {
      check(sent[value] <= 1 && received[value] <= 1, "a value was handed over twice");
      check(sent[value] == received[value], "a value was lost, or came from nowhere");
    }
  }
};

alternative* in_order_of_places(frame& call_frame) noexcept {
  alternative* first = nullptr;
  for (alternative* each = call_frame.alternatives;
       each != call_frame.alternatives + call_frame.count; ++each) {
    base::handed_over<alternative*>* at = nullptr;
    alternative* before = first;
    while (before != nullptr && before->at < each->at) {
      at = &before->next_locked;
      before = *at;
    }
    each->next_locked = before;
    if (at == nullptr)
      first = each;
    else
      *at = each;
  }
  return first;
}

template <class F> void for_each_place(const alternative* first, F f) noexcept {
  for (const alternative* each = first; each != nullptr;) {
    const alternative* const next = each->next_locked;
    if (next == nullptr || next->at != each->at)
      f(*each->at);
    each = next;
  }
}

bool publish_all(alternative* first, strand* offering) noexcept {
  bool possible = false;
  for_each_place(first, [](meeting_place& at) { at.lock().lock(); });
  for (alternative* each = first; each != nullptr; each = each->next_locked)
    possible = possible || each->at->ready(each->wants);
  for (alternative* each = first; each != nullptr && !possible; each = each->next_locked) {
    each->own.strand = offering;
    each->at->publish(each->wants, &each->own);
  }
  for_each_place(first, [](meeting_place& at) { at.lock().unlock(); });
  return !possible;
}

// The value in the frame that an offer names.
base::handed_over<int>& value_of(sync::offer<strand>* from) noexcept {
  return *static_cast<base::handed_over<int>*>(static_cast<void*>(from->value));
}

// What `transfer` moves.
struct values_of {
  alternative& mine;

  void give(sync::offer<strand>* receiver) const noexcept {
    value_of(receiver) = static_cast<int>(mine.value);
  }
  void keep(std::size_t slot) const noexcept {
    mine.at->slots[slot] = static_cast<int>(mine.value);
  }
  void take(std::size_t slot) const noexcept {
    mine.value = static_cast<int>(mine.at->slots[slot]);
  }
  void fill(std::size_t slot, sync::offer<strand>* sender) const noexcept {
    mine.at->slots[slot] = static_cast<int>(value_of(sender));
  }
};

// A thread that runs strands.
class vproc_of_strands {
public:
  vproc_of_strands(mortal<meeting_place>* at, notes& to, base::count& stops) noexcept
      : places_{at}, notes_{to}, stops_{stops} {}

  void run(strand& running) noexcept {
    while (!running.ended()) {
      enter_call(running);
      if (running.now().closes) {
        close(*running.current_frame().alternatives[0].at);
        leave_call(running, none_possible);
        continue;
      }
      const unsigned met = meet_or_wait(running);
      if (met == none_possible)
        return;
      leave_call(running, met);
    }
  }
  void run_ready() noexcept {
    while (count_ != 0)
      go_on(*ready_[--count_]);
  }
  void wake_if_cancelled(strand& running) noexcept {
    auto* const held = static_cast<frame*>(running.word.hold());
    if (held == nullptr)
      return;
    do {
      if (running.does->is_cancelled && held->any.claim(sync::choice::cancelled))
        ready_[count_++] = &running;
    } while (!running.word.let_go(held));
  }

private:
  void enter_call(strand& running) noexcept {
    frame& call_frame = running.frames[running.calls].begin();
    const call& now = running.now();
    call_frame.count = now.count;
    for (unsigned i = 0; i < now.count; ++i) {
      alternative& each = call_frame.alternatives[i];
      each.at = &*places_[now.wishes[i].place];
      each.wants = now.wishes[i].wants;
      if (each.wants == side::sending)
        each.value = running.first_value + static_cast<int>(running.calls * most_alternatives + i);
      each.own.value = &each.value;
      each.own.shared = &call_frame.any;
      each.own.number = i;
    }
  }

  void leave_call(strand& running, unsigned did) noexcept {
    if (did != none_possible) {
      alternative& each = running.current_frame().alternatives[did];
      running.met_end = running.met_end || each.own.closed;
      if (!each.own.closed)
        ++(each.wants == side::sending ? notes_.sent : notes_.received)[each.value];
      if (!each.own.closed && each.wants == side::receiving)
        running.check_order(running.now().wishes[did].place, each.value);
    }
    running.frames[running.calls].end();
    running.calls += 1;
    if (running.ended() && running.does->ends_places)
      for (unsigned i = 0; i < places; ++i)
        places_[i].end();
  }

  // Returns none_possible if the strand waits, or has gone on already.
  unsigned meet_or_wait(strand& running) noexcept {
    frame& call_frame = running.current_frame();
    alternative* const first = in_order_of_places(call_frame);
    for (;;) {
      const unsigned met = meet_any(call_frame);
      if (met != none_possible)
        return met;
      running.word.begin(&call_frame);
      if (publish_all(first, &running))
        break;
      running.word.retract();
    }
    running.word.publish(&call_frame);
    if (stops_.any())
      wake_if_cancelled(running);
    return none_possible;
  }

  unsigned meet_any(frame& call_frame) noexcept {
    const unsigned first = call_frame.count > 1 ? rl::rand(call_frame.count) : 0;
    for (unsigned i = 0; i < call_frame.count; ++i) {
      const unsigned number = (first + i) % call_frame.count;
      if (meet_one(call_frame.alternatives[number]))
        return number;
    }
    return none_possible;
  }

  void close(meeting_place& at) noexcept {
    for (sync::offer<strand>* waits = at.close(); waits != nullptr;) {
      sync::offer<strand>* const next = waits->next;
      waits->closed = true;
      make_ready(waits->strand);
      waits = next;
    }
  }

  bool meet_slots(alternative& mine) noexcept {
    using outcome = meeting_place::outcome;
    const outcome done = mine.at->transfer(mine.wants, values_of{mine});
    if (done.woken != nullptr)
      make_ready(done.woken);
    mine.own.closed = done.what == outcome::kind::end;
    return done.what != outcome::kind::nothing;
  }

  bool meet_one(alternative& mine) noexcept {
    if (!mine.at->is_plain())
      return meet_slots(mine);
    sync::offer<strand>* const other = mine.at->take(sync::opposite(mine.wants));
    if (other == nullptr)
      return false;
    auto& theirs = value_of(other);
    if (mine.wants == side::sending)
      theirs = static_cast<int>(mine.value);
    else
      mine.value = static_cast<int>(theirs);
    make_ready(other->strand);
    return true;
  }

  void make_ready(strand* woken) noexcept {
    if (rl::rand(2) == 0)
      go_on(*woken);
    else
      ready_[count_++] = woken;
  }

  void go_on(strand& running) noexcept {
    const frame& call_frame = running.current_frame();
    running.word.end(&call_frame);
    const unsigned taken = call_frame.any.taken();
    running.stopped = taken == sync::choice::cancelled;
    check(running.stopped || taken < call_frame.count, "a strand goes on without a choice");
    running.withdraw_all(taken);
    if (running.stopped)
      return running.frames[running.calls].end();
    leave_call(running, taken);
    run(running);
  }

  mortal<meeting_place>* const places_;
  notes& notes_;
  base::count& stops_;
  strand* ready_[max_threads]{};
  unsigned count_ = 0;
};

// Thread i begins with strand i, or cancels. `Waiting` strands have nobody to meet, and wait for
// ever, and one more for each that stops. Each place has so many slots.
template <const auto& Courses, unsigned Waiting = 0, unsigned Slots = 0>
struct meeting : scenario<meeting<Courses, Waiting, Slots>, int{std::size(Courses)}> {
  static constexpr unsigned count = std::size(Courses);
  mortal<meeting_place> at[places];
  strand strands[count];
  notes handed_over;
  base::count stops;

  void before() {
    for (mortal<meeting_place>& each : at)
      each.begin(std::size_t{Slots});
    for (unsigned i = 0; i < count; ++i) {
      strands[i].does = &Courses[i];
      strands[i].first_value = 1 + static_cast<int>(i * most_calls * most_alternatives);
    }
  }
  void thread(unsigned self) {
    vproc_of_strands vproc{at, handed_over, stops};
    if (Courses[self].cancels) {
      stops.add();
      base::full_fence();
      for (strand& each : strands)
        vproc.wake_if_cancelled(each);
    }
    vproc.run(strands[self]);
    vproc.run_ready();
  }
  void receive_all_kept(meeting_place& from) noexcept {
    using outcome = meeting_place::outcome;
    alternative mine;
    mine.at = &from;
    while (from.transfer(side::receiving, values_of{mine}).what == outcome::kind::value)
      ++handed_over.received[mine.value];
  }
  void after() {
    unsigned waiting = 0;
    for (strand& each : strands) {
      waiting -= each.stopped && each.does->is_missed ? 1 : 0;
      if (each.ended())
        continue;
      ++waiting;
      each.withdraw_all();
      each.frames[each.calls].end();
    }
    check(waiting == Waiting, "a strand waits for ever that somebody could have met");
    if (std::ranges::any_of(Courses, &course::ends_places))
      return handed_over.check_each_once();
    for (mortal<meeting_place>& each : at)
      receive_all_kept(*each);
    handed_over.check_each_once();
    for (mortal<meeting_place>& each : at) {
      check(each->empty(side::sending) && each->empty(side::receiving), "an offer was left");
      each.end();
    }
  }
};

} // namespace
} // namespace nopal::model

// SPDX-License-Identifier: MIT
// A computation: all fibers of one call of nopal::run, which waits for them.
//
//   running   fibers that have begun or are to begin, and have not ended; the function that `run`
//             is given is one of them; and units that vprocs hold (held_units)
//
// Contract:  the thread for which end_one returns true sees what all fibers of the computation did.
// Invariant: running >= 1 as long as a strand of the computation exists; only such a strand spawns.
//            running = fibers + units held, and a vproc holds units only while an instance of the
//            computation's scheduler is on top of its actions and runs a fiber.
// Ownership: `group`, `waiting`, `policy` and `meter` are written before the first fiber begins;
//            `first` by the first fiber that fails. docs/nouns.md tells more.
// Orders:
//   E  end_one: fetch_sub acq_rel. Partner: E. The last fiber acquires what all others released. A
//      fiber that ended as a unit was on the thread that gives the unit back.
//      `begin_one` is relaxed: the fiber that spawns has not ended, so the count cannot reach 0.
//   The count of failures is relaxed: what it guards is read after E.
#pragma once

#include "nopal/base/atomic.h"
#include "nopal/config.h"
#include "nopal/join/cancelable.h"
#include "nopal/join/partials.h"
#include "nopal/sync/provision.h"
#include "nopal/vproc/failure_keeper.h"

#include <cstdint>
#include <exception>
#include <utility>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::vproc {

struct action;
struct fiber;
struct group;
class meter;
struct vproc;

inline constexpr std::size_t most_places = 1024; // as many workers as options may ask for

// A policy receives the fibers of a computation when they become ready.
struct policy {
  // `number` is the calling vproc's; 0 on a thread that runs no strand.
  using receiver = void (*)(policy*, fiber*, std::uint32_t number) noexcept;

  explicit policy(receiver receive) noexcept : give{receive} {}

  const receiver give; // called by any thread, as code of no strand
};

class computation {
public:
  struct group* group = nullptr;   // the group of the caller of `run` and of all the fibers
  fiber* waiting = nullptr;        // the caller
  struct policy* policy = nullptr; // null: ready fibers are for any vproc
  class meter* meter = nullptr;    // of the innermost engine around it; null: none
  sync::provisions<vproc, most_places> provisioned; // vprocs that the computation was given
  base::handed_over<std::exception_ptr> first;      // the exception of the fiber that failed first

  // What its fibers have added to reducers, that of the function that `run` was given first.
  join::partials_list partial;
  // Written by its first fiber before others: nobody waits for the end of the computation, so each
  // fiber gives reducers themselves what it has added.
  bool delivers = false;

  // Marked when the function that `run` was given has thrown: what else runs is to stop.
  join::cancelable failed;

  // Failures of its fibers, as long as nobody was given them.
  kept_failures kept;

  // The node that the caller of `run` is below; null: not known yet (sched/descent.cc).
  base::atomic<join::ancestor*> below{nullptr};

  void begin_one(std::uint64_t number = 1) noexcept { running_.fetch_add(number, base::relaxed); }
  // True: this was the last fiber, and from now on only the waiting caller uses the computation.
  bool end_one(std::uint64_t number = 1) noexcept {
    return running_.fetch_sub(number, base::acq_rel) == number; // E
  }

  // Asked by a fiber of it, whether there are others.
  bool has_others() const noexcept { return running_.load(base::relaxed) > 1; }

  // A fiber that fails calls it in the handler, before end_one.
  void fail(std::exception_ptr thrown) noexcept {
    kept.keep();
    if (failures_.fetch_add(1, base::relaxed) == 0)
      first = std::move(thrown);
  }
  // Final after the last fiber has ended.
  std::uint64_t failures() const noexcept { return failures_.load(base::relaxed); }

private:
  // Not on the line of the fields above, which every spawn reads.
  alignas(64) base::atomic<std::uint64_t> running_{1};
  base::atomic<std::uint64_t> failures_{0};
};

// What a vproc holds of a computation's count, so that fibers which begin and end there write
// nothing that vprocs share. Its thread uses it.
class held_units {
public:
  // This action, of the computation's scheduler, is about to run a fiber.
  void hold(computation* counted, const action* holder) noexcept {
    counted_ = counted;
    holder_ = holder;
  }
  bool held_for(const action* asked) const noexcept {
    return holder_ == asked || counted_ == nullptr;
  }

  // A fiber begins, or ends. False: it is to be counted there.
  bool begin_one(computation* joined) noexcept {
    if (counted_ != joined)
      return false;
    if (number_ == 0)
      joined->begin_one(number_ = together);
    --number_;
    return true;
  }
  bool end_one(const computation* ended_in) noexcept {
    if (counted_ != ended_in)
      return false;
    ++number_;
    return true;
  }

  // Returns the computation if this ends it, else null.
  computation* give_back() noexcept {
    computation* const counted = std::exchange(counted_, nullptr);
    holder_ = nullptr;
    const std::uint64_t number = std::exchange(number_, 0);
    return number != 0 && counted->end_one(number) ? counted : nullptr;
  }

private:
  static constexpr std::uint64_t together = 64;

  computation* counted_ = nullptr; // null: it holds none
  const action* holder_ = nullptr; // null, too, then
  std::uint64_t number_ = 0;
};

} // namespace nopal::inline NOPAL_ABI::vproc
NOPAL_HIDDEN_END

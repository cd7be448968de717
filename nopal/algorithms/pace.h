// SPDX-License-Identifier: MIT
// How long the pieces of a lazy loop are, and how long what is left of it will take.
//
// A piece begins with one iteration, or with what took half a microsecond in the last loops with
// such work, if that is an eighth of the loop or less. It grows up to a part of the loop, while
// pieces take less than a few microseconds by the processor's clock, or as long as shorter ones: by
// factors of two or eight, or at once where a piece has taken what is known. So a thief waits for a
// few microseconds, or for the longest iteration, or twice what a piece takes at least.
//
// What is left is taken to last as long for each iteration as what the strand has measured lately,
// or else the other strands, or the last loops with such work. If nothing is known, a loop of few
// iterations is split at once, since the first may be dear, and one of many is measured first.
// Paper: Acar, Chargueraud and Rainey (OOPSLA 2011) predict from measurements what is worth a fork;
// theirs asks the program for a cost of each call.
#pragma once

#include "nopal/config.h"

#include <cstddef>

#if !defined(NOPAL_SERIAL)
#include "nopal/base/atomic.h"
#include "nopal/base/os.h"
#include "nopal/sched/preemption.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#endif

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::algorithms {

#if defined(NOPAL_SERIAL)
struct past_cost {};
#else
// What an element took when loops of one kind last ran, in 256ths of a cycle; 0: none has.
class past_cost {
public:
  constexpr past_cost() noexcept = default;

  std::uint64_t get() const noexcept { return cost_.load(base::relaxed); }
  // Seldom writes, for all strands read it. What was dear once is forgotten slowly. `took`: the
  // cycles that were measured; of few the clock itself and cold caches are a large part.
  void note(std::uint64_t cost, std::uint64_t took) noexcept {
    constexpr std::uint64_t few = 1 << 12;
    const std::uint64_t old = get();
    if (cost == 0 || (took < few && old != 0 && cost > old))
      return;
    if (cost > 2 * old || cost < old / 2)
      cost_.store(std::max(cost, old / 4), base::relaxed);
  }

  static constexpr std::uint64_t unit = 256;

private:
  base::atomic<std::uint64_t> cost_{0};
};

// How long the pieces of a loop are, which rests may be split, and what its iterations take. Any
// strand of the loop writes.
struct pace {
  // The longest piece bounds what a thief waits for where cheap iterations come before dear ones.
  pace(std::size_t number, std::size_t length, std::uint64_t past) noexcept
      : count(number), elements(count * length),
        longest(std::max({count / 512, std::min<std::size_t>(count / 32, 1024), std::size_t{1}})),
        unasked(count / 16), smallest(count / 512 + (count % 512 != 0 ? 1 : 0)),
        cost(past * length) {}

  // Of an element, on average; 0: nothing was measured.
  std::uint64_t average() const noexcept {
    const std::uint64_t done = measured.load(base::relaxed) * (elements / count);
    return done == 0 ? 0 : cycles.load(base::relaxed) * past_cost::unit / done + 1;
  }

  const std::size_t count;
  const std::size_t elements;
  const std::size_t longest;
  const std::size_t unasked;  // for longer rests a fork is opened though nobody has asked
  const std::size_t smallest; // only longer rests are split
  bool shared = false;        // set before the first fork: other strands may have parts of the loop
  bool unmeasured = false;    // the last piece was run without the clock
  // The last one wins: the next strand's first piece, and what an iteration took lately.
  base::atomic<std::size_t> piece{0};
  base::atomic<std::uint64_t> cost;
  // All iterations that were measured, and their cycles.
  base::atomic<std::size_t> measured{0};
  base::atomic<std::uint64_t> cycles{0};
};

// What one strand sees of it. It is destroyed before the loop ends.
class own_pace {
public:
  explicit own_pace(pace& all) noexcept
      : all_(all), longest_(all.longest), cost_(all.cost.load(base::relaxed)) {
    bound_pieces();
    if (const std::size_t chosen = all.piece.load(base::relaxed); chosen != 0)
      // Chosen elsewhere, where iterations may be cheaper.
      piece_ = std::min({chosen, longest_, may_take(4 * long_time)});
    else
      piece_ = std::clamp(brief_, std::size_t{1}, std::max(all.longest, all.count / 8));
  }
  ~own_pace() {
    if (measured_ == 0)
      return;
    if (all_.shared) {
      all_.measured.fetch_add(measured_, base::relaxed);
      all_.cycles.fetch_add(cycles_, base::relaxed);
    } else {
      all_.measured.store(all_.measured.load(base::relaxed) + measured_, base::relaxed);
      all_.cycles.store(all_.cycles.load(base::relaxed) + cycles_, base::relaxed);
    }
  }
  own_pace(const own_pace&) = delete;
  own_pace& operator=(const own_pace&) = delete;

  // A little that would be left is run along: the end of a piece interrupts bodies that overlap.
  std::size_t piece(std::size_t rest) const noexcept {
    return rest <= piece_ + piece_ / 2 ? rest : piece_;
  }
  // The next piece, where a request is not heeded: it looks again soon, but not at once. What takes
  // two microseconds is not halved, for each reading of the clock takes a tenth of one.
  std::size_t unheeded(std::size_t rest) const noexcept {
    return std::min(piece(rest), std::max(rest - rest / 2, 4 * brief_));
  }

  // Whether half of the rest is worth a steal. `asked`: the fork will be public, and may wake one.
  bool pays(std::size_t rest, bool asked) const noexcept {
    std::uint64_t cycles = 0;
    if (cost_ == 0)
      return !asked || sched::worth_a_steal_unseen(all_.elements);
    return __builtin_mul_overflow(cost_, rest, &cycles) ||
           sched::worth_a_steal(cycles / past_cost::unit) ||
           (cost_ >= may_wait * past_cost::unit && sched::worth_a_steal_unseen(all_.elements));
  }

  // Before and behind a piece. The clock waits for what runs, so it is read where lengths change,
  // where `now` says so, or behind a few pieces; where they are longest, behind the first alone, or
  // what was interrupted once would seem dear in all loops with such work. Behind a short loop it
  // is read once in eight times, if the piece before the last one took what is known.
  void begin(bool now) noexcept {
    if (now)
      unread_ = 0;
    if (last_ == 0 && (now || piece_ < longest_ || measured_ == 0))
      last_ = base::cycles();
  }
  // `rest`: what is left of the loop behind it.
  void end(std::size_t count, std::size_t rest) noexcept {
    if (last_ == 0)
      return;
    if (rest == 0 && as_expected_ && !all_.shared) {
      all_.unmeasured = true;
      return;
    }
    run_ += count;
    ++pieces_;
    if (unread_ != 0)
      --unread_;
    else
      read_clock();
  }

private:
  // In cycles of the processor's clock: half a microsecond, a few, and more than that.
  static constexpr std::uint64_t short_time = 1 << 10;
  static constexpr std::uint64_t fair_time = 1 << 13;
  static constexpr std::uint64_t long_time = 1 << 15;
  // Less than an iteration takes that waits for another one to begin elsewhere. Of few iterations
  // each may wait for all.
  static constexpr std::uint64_t may_wait = 512;

  void read_clock() noexcept {
    const std::uint64_t now = base::cycles();
    const std::uint64_t took = now > last_ ? now - last_ : 0; // the clocks of two processors
    measured_ += run_;
    cycles_ += took;
    const std::uint64_t each = pieces_ == 1 ? took : took / pieces_;
    if (run_ == pieces_ * piece_)
      choose_piece(each);
    as_expected_ = takes_what_is_known(each) && all_.count <= 4 * brief_ && !is_chosen(now);
    if (cycles_ - seen_cycles_ >= fair_time / 2) // else the clock would count for too much
      note_cost();
    last_ = piece_ < longest_ ? now : 0;
    run_ = pieces_ = 0;
  }

  void choose_piece(std::uint64_t took) noexcept {
    std::size_t next = piece_;
    if (took < short_time)
      next *= 8;
    else if (took < fair_time || is_mostly_fixed(took))
      next = std::max(2 * next, takes_what_is_known(took) ? fair_time / short_time * brief_ : 0);
    else if (took > long_time || tried_longer())
      next = next / 2 + next % 2;
    if (next != piece_)
      all_.piece.store(next, base::relaxed);
    next = std::min(next, longest_);
    unread_ = next == piece_ || next == other_ ? 7 : 0;
    if (next != piece_) {
      other_ = piece_;
      other_took_ = took;
    }
    piece_ = next;
  }

  // Whether the iterations of a piece are at most twice as dear as they were lately.
  bool takes_what_is_known(std::uint64_t took) const noexcept {
    constexpr std::uint64_t clock = 64; // what reading it takes, and more
    return cost_ != 0 && took < fair_time &&
           (took < clock || took / 2 * past_cost::unit <= cost_ * piece_);
  }
  // One of eight, by the clock's digits, so that none falls into step with the program.
  static bool is_chosen(std::uint64_t now) noexcept {
    return (now * 0x9e3779b97f4a7c15) >> 61 == 0;
  }
  bool tried_longer() const noexcept { return piece_ > other_ && other_took_ >= fair_time; }
  // Whether a piece takes about as long as one of another length. So most of its time is what each
  // piece takes (scratch memory, a loop within it), and shorter ones would take more in all. Where
  // only one length was measured, or the other was interrupted, a longer one tells, if it is short
  // beside the loop.
  bool is_mostly_fixed(std::uint64_t took) const noexcept {
    if (other_ == 0 || (piece_ < other_ && took < other_took_ / 8 * 3))
      return longest_ >= 8;
    return piece_ > other_ ? took <= other_took_ + other_took_ / 4
                           : took >= other_took_ - other_took_ / 4;
  }

  // Of what was measured first only what is long counts: caches were cold.
  void note_cost() noexcept {
    const std::uint64_t took = cycles_ - std::exchange(seen_cycles_, cycles_);
    const std::size_t number = measured_ - std::exchange(seen_, measured_);
    if (seen_ == number && took < long_time)
      return;
    cost_ = took * past_cost::unit / number + 1;
    all_.cost.store(cost_, base::relaxed);
    bound_pieces();
  }

  // So many iterations, as far as is known.
  std::size_t may_take(std::uint64_t time) const noexcept {
    return cost_ == 0 ? all_.count : time * past_cost::unit / cost_ + 1;
  }

  // A piece that takes a few microseconds is no longer than a thief can wait.
  void bound_pieces() noexcept {
    if (cost_ == 0)
      return;
    constexpr auto brief = static_cast<std::uint32_t>(short_time * past_cost::unit);
    brief_ = cost_ > brief ? 0 : brief / static_cast<std::uint32_t>(cost_);
    longest_ = std::max(all_.longest, fair_time / short_time * brief_);
  }

  pace& all_;
  std::size_t longest_;
  std::size_t brief_ = 0; // half a microsecond's iterations
  std::size_t piece_ = 1;
  std::size_t other_ = 0; // the length before this one, and what a piece of it took
  std::uint64_t other_took_ = 0;
  std::uint64_t cost_;       // of an iteration, lately
  std::size_t measured_ = 0; // iterations
  std::uint64_t cycles_ = 0; // what these took
  std::size_t seen_ = 0;     // those of them that the cost was taken from, or ones before
  std::uint64_t seen_cycles_ = 0;
  std::uint64_t last_ = 0; // when the clock was read; 0: it need not
  std::size_t run_ = 0;    // iterations since then, in so many pieces
  std::size_t pieces_ = 0;
  unsigned unread_ = 0;      // so many pieces more are run before it is read again
  bool as_expected_ = false; // the last piece of a short loop need not be measured
};
#endif

// Of loops with this type of work.
template <class Work> inline constinit past_cost past_cost_of{};

} // namespace nopal::inline NOPAL_ABI::algorithms
NOPAL_HIDDEN_END

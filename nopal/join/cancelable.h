// SPDX-License-Identifier: MIT
// What can be cancelled: a node of the cancellation tree (nopal/cancel.h).
//
// Contract:  a node is cancelled from its `mark` on, or from that of a node above it; for ever. Who
//            finds it so, by a `mark` that comes too late, too, sees what was done before it was.
// Ownership: any thread marks.
// Orders:
//   K  mark: exchange acq_rel. Partner: itself, and the acquire of `marked`. That strands are told
//      in time is the order S of signal_word.h.
//   M  verdict: store release. Partner: the acquire of its load, as with K.
//   B  tally: fetch_add, then a load of how many vprocs there are (vproc/table.cc). A vproc that is
//      made: the store of that, then the load of the number. All seq_cst: one of the two sees the
//      other.
// Paper: manticore-icfp08, section 6.1.
#pragma once

#include "nopal/base/atomic.h"
#include "nopal/config.h"

#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::join {

class cancelable {
public:
  explicit cancelable(const cancelable* above = nullptr) noexcept : above_{above} {}
  cancelable(const cancelable&) = delete;
  cancelable& operator=(const cancelable&) = delete;

  // True: it was not marked before.
  bool mark() noexcept { return marked_.exchange(1, base::acq_rel) == 0; }  // K
  bool marked() const noexcept { return marked_.load(base::acquire) != 0; } // K
  bool cancelled() const noexcept {
    const cancelable* at = this;
    while (at != nullptr && !at->marked())
      at = at->above_;
    return at != nullptr;
  }

private:
  const cancelable* const above_;
  base::atomic<std::uint32_t> marked_{0};
};

// What a strand has found out, for others that stop because it does.
class verdict {
public:
  void set(bool stops) noexcept { stops_.store(stops, base::release); } // M
  bool get() const noexcept { return stops_.load(base::acquire); }      // M

private:
  base::atomic<bool> stops_{false};
};

// A number of things that there are now.
class tally {
public:
  void add(std::uint32_t times) noexcept { number_.fetch_add(times, base::seq_cst); } // B
  void subtract(std::uint32_t times) noexcept { number_.fetch_sub(times, base::relaxed); }
  std::uint32_t count() const noexcept { return number_.load(base::seq_cst); } // B

private:
  base::atomic<std::uint32_t> number_{0};
};

} // namespace nopal::inline NOPAL_ABI::join
NOPAL_HIDDEN_END

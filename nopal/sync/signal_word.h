// SPDX-License-Identifier: MIT
// Other threads ask something of a vproc by bits, which stay until the vproc has taken them.
//
//   teller   any thread: `tell` sets bits, then lowers the limit of the worker that the vproc runs
//   owner    the vproc's thread: restores the limit, then looks at the word; and looks at it when
//            it runs another worker, since the teller may have lowered the limit of the one before
//
// Contract:  after `tell` the owner sees the bits at its next fork or poll at the latest, whatever
//            others do to the limit meanwhile. Bits that stand when the owner changes workers are
//            seen at the new one's next fork or poll.
// Orders:
//   S  tell: fetch_or, then the store in Worker::interrupt, both seq_cst. Owner: the exchange in
//      limit::attend, then the load in `raised`, both seq_cst. If the exchange comes after the
//      store, the load sees the bits; if before, the limit stays lowered. A thief that asks
//      meanwhile may overwrite the store with its own, so acquire and release would not do.
//   T  take: fetch_and acquire. Partner: the fetch_or of tell, which releases. The owner, when it
//      has taken a bit, sees what was written before the `tell`.
//   V  owner: store of running_, then the load in `raised`. tell: fetch_or, then the load of
//      running_. All seq_cst: the owner sees the bits, or the teller sees the new worker.
// Paper: manticore-icfp08, section 4.1 (signals of a vproc), where the heap limit is lowered.
#pragma once

#include "nopal/base/atomic.h"
#include "nopal/config.h"

#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::sync {

enum : std::uint32_t {
  preempt_requested = 1, // by the timer
  stop_requested = 2,    // something is cancelled: perhaps the strand that the vproc runs
};

template <class Worker> class signal_word {
public:
  // Any thread.
  void tell(std::uint32_t bits) noexcept {
    word_.fetch_or(bits, base::seq_cst);                      // S, V
    if (Worker* const running = running_.load(base::seq_cst)) // V
      running->interrupt();                                   // S
  }

  // Whether one of these bits is set.
  bool raised(std::uint32_t bits) const noexcept {
    return (word_.load(base::seq_cst) & bits) != 0; // S, V
  }
  // The same, but the answer may be late.
  bool maybe_raised(std::uint32_t bits) const noexcept {
    return (word_.load(base::relaxed) & bits) != 0;
  }

  // Owner.
  void take(std::uint32_t bits) noexcept { word_.fetch_and(~bits, base::acquire); } // T
  void run_with(Worker* worker) noexcept {
    running_.store(worker, base::seq_cst); // V
    if (worker != nullptr && raised(~0u))
      worker->interrupt();
  }

private:
  base::atomic<std::uint32_t> word_{0};
  base::atomic<Worker*> running_{nullptr};
};

} // namespace nopal::inline NOPAL_ABI::sync
NOPAL_HIDDEN_END

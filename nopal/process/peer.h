// SPDX-License-Identifier: MIT
// A victim's queue and region, as a thief reaches them, and the time that each step takes.
#pragma once

#include "nopal/base/os.h"
#include "nopal/config.h"
#include "nopal/process/transport.h"
#include "nopal/process/worker.h"

#include <cstdint>

namespace nopal::inline NOPAL_ABI::process {

// Adds the cycles since it was made, or since the step before, to a step.
class timed {
public:
  explicit timed(step what) noexcept : what_{what} {}
  void end() noexcept { end(what_); }
  void end(step what) noexcept {
    const std::uint64_t now = base::cycles();
    here.done.cycles[static_cast<unsigned>(what)] += now - since_;
    since_ = now;
  }

private:
  step what_;
  std::uint64_t since_ = base::cycles();
};

// For steal (queue.h).
class peer {
public:
  peer(transport& by, unsigned victim) noexcept : by_{by}, victim_{victim} {}

  std::uint64_t read_ends() {
    ++here.done.tries;
    std::uint64_t ends = 0;
    by_.get(victim_, &ends, &control().queue.head, sizeof ends);
    return ends;
  }
  bool take(std::uint32_t head, std::uint64_t& entry) {
    return by_.compare_swap_and_get(victim_, control().queue.head, head, head + 1, &entry,
                                    &control().queue.entry(head), sizeof entry) == head;
  }
  void copy(segment one) {
    void* const at = reinterpret_cast<void*>(here.region + one.lower);
    by_.get(victim_, at, at, one.size());
    ++here.done.steals;
    here.done.stolen_bytes += one.size();
  }
  void acknowledge() { by_.post_add(victim_, control().queue.acknowledged, 1); }

  auto steps() noexcept {
    return [clock = timed{step::look}](int number) mutable {
      clock.end(static_cast<step>(number - 1));
    };
  }

private:
  transport& by_;
  const unsigned victim_;
};

} // namespace nopal::inline NOPAL_ABI::process

// SPDX-License-Identifier: MIT
// A victim's queue and region, as a thief reaches them, and the time that each step takes.
#pragma once

#include "nopal/base/os.h"
#include "nopal/config.h"
#include "nopal/process/run/worker.h"
#include "nopal/process/transport/transport.h"

#include <cstdint>
#include <optional>

NOPAL_HIDDEN_BEGIN
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

// For steal, of whichever queue. Names of Memory's parts that its steal does not use are not
// instantiated.
template <class Memory> class peer {
public:
  peer(transport& by, unsigned victim) noexcept : by_{by}, victim_{victim} {}

  std::uint64_t read_ends() { return read(&queue().head); }
  bool take(std::uint32_t head, std::uint64_t& entry) {
    return by_.compare_swap_and_get(victim_, queue().head, head, head + 1, &entry,
                                    &queue().entry(head), sizeof entry) == head;
  }
  void copy(segment one) {
    void* const at = reinterpret_cast<void*>(here.region + one.lower);
    by_.get(victim_, at, at, one.size());
    count(one);
  }
  void acknowledge() { by_.post_add(victim_, queue().acknowledged, 1); }

  // All of it by one message, which counts as `take`, or as `look` if nothing was open.
  std::optional<segment> request() {
    ++here.done.tries;
    timed all{step::look};
    const std::optional<segment> got = by_.request_steal(victim_);
    all.end(got ? step::take : step::look);
    if (got)
      count(*got);
    return got;
  }

  // Of a queue with a lock.
  bool try_lock() { return by_.add(victim_, queue().lock, 1) == 0; }
  void unlock() { put(queue().lock, 0); }
  void put_head(std::uint32_t head) { put(queue().head, head); }
  std::uint64_t read_entry(std::uint32_t number) { return read(&queue().entry(number)); }

  auto steps() noexcept {
    ++here.done.tries;
    return [clock = timed{step::look}](int number) mutable {
      clock.end(static_cast<step>(number - 1));
    };
  }

private:
  static void count(segment one) noexcept {
    ++here.done.steals;
    here.done.stolen_bytes += one.size();
  }
  static Memory& queue() noexcept { return control().queue; }
  std::uint64_t read(const void* from) {
    std::uint64_t value = 0;
    by_.get(victim_, &value, from, sizeof value);
    return value;
  }
  void put(word& at, std::uint32_t value) { by_.put(victim_, &at, &value, sizeof value); }

  transport& by_;
  const unsigned victim_;
};

} // namespace nopal::inline NOPAL_ABI::process
NOPAL_HIDDEN_END

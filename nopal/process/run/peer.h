// SPDX-License-Identifier: MIT
// A victim's queue and region, as a thief reaches them; the time that each step takes, and the
// pause after a message.
#pragma once

#include "nopal/base/clock.h"
#include "nopal/base/os.h"
#include "nopal/config.h"
#include "nopal/process/run/worker.h"
#include "nopal/process/transport/shared_memory.h"

#include <algorithm>
#include <cstdint>
#include <optional>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::process {

// Adds the cycles since it was made, or since the step before, to a step.
class timed {
public:
  void end(step ended) noexcept {
    const std::uint64_t now = base::cycles();
    this_worker.done.cycles[static_cast<unsigned>(ended)] += now - since_;
    since_ = now;
  }

private:
  std::uint64_t since_ = base::cycles();
};

// What `steal` needs of a victim (queue.h), for whichever queue: functions that a queue's steal
// does not call are not instantiated.
template <class Memory> class peer {
public:
  peer(transport& engine, unsigned victim) noexcept : engine_{engine}, victim_{victim} {}

  std::uint64_t read_ends() { return read(&queue().head); }
  bool take(std::uint32_t head, std::uint64_t& entry) {
    const direct_block& block = engine_.reach(victim_);
    if (block.compare_swap(queue().head, head, head + 1) != head)
      return false;
    block.get(&entry, &queue().entry(head), sizeof entry);
    return true;
  }
  void copy(segment stolen) {
    void* const at = reinterpret_cast<void*>(this_worker.region + stolen.lower);
    engine_.get(victim_, at, at, stolen.size()); // to the same address
    count(stolen);
  }
  void acknowledge() { engine_.near(victim_).add(queue().acknowledged, 1); }

  // The whole steal by one message, which counts as `take`, or as `look` if nothing was open.
  std::optional<segment> request() {
    ++this_worker.done.tries;
    timed all;
    const std::optional<segment> stolen = engine_.request_steal(victim_);
    all.end(stolen ? step::take : step::look);
    if (stolen)
      count(*stolen);
    return stolen;
  }

  // Of a queue with a lock.
  bool try_lock() { return engine_.reach(victim_).add(queue().lock, 1) == 0; }
  void unlock() { put(queue().lock, 0); }
  void put_head(std::uint32_t head) { put(queue().head, head); }
  std::uint64_t read_entry(std::uint32_t number) { return read(&queue().entry(number)); }

  // What steal calls after each of its steps.
  auto steps() noexcept {
    ++this_worker.done.tries;
    return [clock = timed{}](int number) mutable { clock.end(static_cast<step>(number - 1)); };
  }

private:
  static void count(segment stolen) noexcept {
    ++this_worker.done.steals;
    this_worker.done.stolen_bytes += stolen.size();
  }
  static Memory& queue() noexcept { return control().queue; }
  std::uint64_t read(const void* from) {
    std::uint64_t value = 0;
    engine_.get(victim_, &value, from, sizeof value);
    return value;
  }
  void put(word& at, std::uint32_t value) { engine_.put(victim_, &at, &value, sizeof value); }

  transport& engine_;
  const unsigned victim_;
};

// A message takes time of the processor on which another process computes. So a thief whose request
// was in vain makes the next one only after a while, which doubles each time up to a millisecond,
// then grows with the time that it has been idle. It looks at its own machine meanwhile.
template <class Clock> class pause_by {
public:
  bool is_over() const noexcept { return Clock::now() >= until_; }
  void begin_longer() noexcept {
    using us = std::chrono::microseconds;
    const auto now = Clock::now();
    const us by_idleness = std::chrono::duration_cast<us>(now - idle_since_) / 16;
    length_ = std::min(2 * length_, std::clamp(by_idleness, us{1000}, us{10'000}));
    until_ = now + length_;
  }

private:
  std::chrono::microseconds length_{50}; // before the first
  Clock::time_point idle_since_ = Clock::now();
  Clock::time_point until_ = Clock::time_point::min();
};
using pause_of_messages = pause_by<std::chrono::steady_clock>; // a test has a clock of its own

} // namespace nopal::inline NOPAL_ABI::process
NOPAL_HIDDEN_END

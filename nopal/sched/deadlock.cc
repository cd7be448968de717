// SPDX-License-Identifier: MIT
// The look at all threads, and the walk through all stacks for the report.
#include "nopal/sched/deadlock.h"

#include "nopal/base/atomic.h"
#include "nopal/base/die.h"
#include "nopal/base/flag.h"
#include "nopal/base/limits.h"
#include "nopal/base/per_process.h"
#include "nopal/sched/stop.h"
#include "nopal/sync/choice.h"
#include "nopal/sync/linked_queue.h"
#include "nopal/vproc/kept_failures.h"
#include "nopal/vproc/table.h"
#include "nopal/vproc/wake.h"

#include <algorithm>
#include <chrono>
#include <compare>
#include <cstdio>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

namespace nopal::inline NOPAL_ABI::sched {
namespace {

using sync::wanted;

constexpr std::int64_t kFirst_ns = 20'000'000;
constexpr std::int64_t kLongest_ns = 60'000'000'000;
constexpr std::size_t kMostLines = 20;

base::flag reported;
base::atomic<std::uint64_t> looks{0};

// Never destroyed: threads wait as late as in static destructors.
struct outside {
  std::mutex lock;
  sync::linked_queue<thread_that_waits, sync::by_next_and_before> threads;
};
base::per_process<outside> outside_here;
outside& all_outside() { return outside_here.get(); }

NOPAL_IN_CHILD([]() noexcept { reported.reset(); });

// Whether no thread runs strands or looks for work, and one waits for its group.
bool nobody_runs() noexcept {
  bool runs = vproc::idle.searching.load(base::relaxed) != 0;
  bool waits = false;
  vproc::for_each_live_vproc([&](const vproc::vproc* each) {
    runs = runs || each->runs.get();
    waits = waits || (!each->in_pool && each->bound.get() != nullptr);
  });
  return waits && !runs;
}

// Called by a thread that counts as waiting, though it makes this look.
bool nobody_will_wake_any() noexcept {
  looks.fetch_add(1, base::relaxed);
  const sync::waiting_threads::state all = vproc::idle.waiting.look();
  if (all.number() != base::threads_now() || base::handles_signals())
    return false;
  const sync::watch* const events = vproc::idle.events.load(base::acquire);
  if (events != nullptr && events->call.awaited())
    return false;
  return vproc::idle.waiting.look() == all;
}

struct object {
  wanted kind;
  const void* at;
  bool by_thread;

  auto operator<=>(const object&) const = default;
};
using counts = std::map<object, std::size_t>;

counts all_waits() {
  counts found;
  {
    outside& all = all_outside();
    const std::scoped_lock guard{all.lock};
    for (const thread_that_waits* at = all.threads.first(); at != nullptr; at = at->next)
      found[at->waits != nullptr ? object{at->waits->wants, at->waits->where, true}
                                 : object{wanted::something, nullptr, true}] += 1;
  }
  const auto add = [](const sync::choice& seen, void* into) {
    (*static_cast<counts*>(into))[{seen.wants, seen.where, false}] += 1;
  };
  wake_all_cancelled({.see = add, .argument = &found});
  return found;
}

// What follows "waits" or "wait"; an address follows that if there is one.
const char* aim(wanted kind) noexcept {
  switch (kind) {
  case wanted::mutex:
    return "for the nopal::mutex at";
  case wanted::condition:
    return "for the nopal::condition_variable at";
  case wanted::semaphore:
    return "for a permit of the nopal::semaphore at";
  case wanted::blocking:
    return "to call nopal::blocking, in which as many strands are as may be (NOPAL_MAX_BLOCKING)";
  case wanted::to_send:
    return "to send to the nopal::channel at";
  case wanted::to_receive:
    return "to receive from the nopal::channel at";
  case wanted::one_of_several:
    return "for one of several channels (nopal::select)";
  case wanted::value:
    return "for the value of the nopal::ivar or nopal::future1 at";
  case wanted::result:
    return "for the result of the nopal::future at";
  case wanted::engine:
    return "for the end of the turn that it has given a nopal::engine by its run, at";
  case wanted::alternative:
    return "for an answer of the nopal::either at";
  case wanted::end_of_fibers:
    return "for the end of the fibers of the nopal::cancelable, fiber_group or task at";
  case wanted::event:
    return "for a descriptor (nopal::io)";
  case wanted::time:
    return "for a time (nopal::sleep_until)";
  case wanted::something:
    break;
  }
  return "for another";
}

void print(const counts& waits) {
  std::vector<std::pair<object, std::size_t>> lines(waits.begin(), waits.end());
  std::ranges::sort(lines, [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  std::size_t others = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto& [what, number] = lines[i];
    if (i >= kMostLines) {
      others += number;
      continue;
    }
    const char* const who = what.by_thread ? "thread outside" : "strand";
    char at[32] = "";
    if (what.at != nullptr)
      std::snprintf(at, sizeof at, " %p", what.at);
    base::say("%zu %s%s %s%s", number, who, number == 1 ? " waits" : "s wait", aim(what.kind), at);
  }
  if (others != 0)
    base::say("%zu others wait for %zu more objects", others, lines.size() - kMostLines);
  if (lines.empty())
    base::say("no strand waits for an object");
}

} // namespace

std::int64_t deadlock_watch::next() noexcept {
  const bool first = pause_ns_ == 0;
  if (first && !nobody_runs()) {
    pause_ns_ = kFirst_ns;
    return kNever;
  }
  const std::int64_t now = std::chrono::duration_cast<std::chrono::nanoseconds>(
                               std::chrono::steady_clock::now().time_since_epoch())
                               .count();
  if (!first && (due_ == kNever || now < due_))
    return due_;
  if (!first && nobody_will_wake_any() && reported.take()) {
    const counts waits = all_waits();
    print(waits);
    vproc::tell_kept_failures();
    base::die("deadlock: no strand can go on, and no thread, time, signal handler or descriptor is "
              "left that could wake one; %s",
              !waits.empty() ? "what each waits for is told above"
                             : "a fiber was not started, a scheduler keeps one that it does not "
                               "run, or a nopal::spawner was not destroyed");
  }
  pause_ns_ = first ? kFirst_ns : std::min(2 * pause_ns_, kLongest_ns);
  return due_ = now + pause_ns_;
}

thread_that_waits::thread_that_waits(const sync::choice* for_what) : waits{for_what} {
  outside& all = all_outside();
  {
    const std::scoped_lock guard{all.lock};
    all.threads.append(this);
  }
  vproc::idle.waiting.count_in();
}

thread_that_waits::~thread_that_waits() {
  outside& all = all_outside();
  const std::scoped_lock guard{all.lock};
  all.threads.remove(this);
}

std::uint64_t deadlock_looks() noexcept { return looks.load(base::relaxed); }

void report_waits() { print(all_waits()); }

} // namespace nopal::inline NOPAL_ABI::sched

// SPDX-License-Identifier: MIT
// What a process runs next: tasks on its region, and between them the loop of `look_for_work`.
//
// The loop runs on the stack of the thread that called `run`, the tasks on the region. Whoever
// leaves a task for the loop begins it anew (leave_task); nothing in it has to be kept.
//
//      task  --- finish_detached, join_slow --->  look_for_work  --- resume --->  task
//                                                      |
//                                                 run's caller, when the result is there
//
// No memory order is named here; the protocols are those of queue.h, heap.h and ends.h.
#include "nopal/process/run/runtime.h"

#include "nopal/arch/uni_address.h"
#include "nopal/base/die.h"
#include "nopal/base/os.h"
#include "nopal/base/random.h"
#include "nopal/base/sanitizer.h"
#include "nopal/config/options.h"
#include "nopal/process/launch/addresses.h"
#include "nopal/process/remote_error.h"
#include "nopal/process/run/ends.h"
#include "nopal/process/run/guard.h"
#include "nopal/process/run/isolation.h"
#include "nopal/process/run/peer.h"
#include "nopal/process/run/statistics.h"
#include "nopal/process/transport/waiting.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <list>
#include <memory>
#include <optional>
#include <unistd.h>
#include <utility>
#include <vector>

namespace nopal::inline NOPAL_ABI::process {

worker here;

namespace {

// A task that waits for another one; its frames are in `frames`.
struct waiting {
  segment at;
  cell* frames;
  cell_reference until;
  join::exception_state exceptions;
};

// A message takes time of the processor on which another process computes (transport::handles_steals). So
// who has asked in vain asks again only after a while, which is doubled each time. Looks at
// processes of this machine go on meanwhile.
class pause_of_messages {
  using clock = std::chrono::steady_clock;

public:
  bool is_over() const noexcept { return clock::now() >= until_; }
  void begin_longer() noexcept {
    constexpr std::chrono::microseconds most{1000};
    length_ = std::min(2 * length_, most);
    until_ = clock::now() + length_;
  }

private:
  std::chrono::microseconds length_{50}; // before the first
  clock::time_point until_ = clock::time_point::min();
};

// A run, as this process sees it.
struct state {
  std::unique_ptr<launch> with;
  std::unique_ptr<transport> by;
  layout as;
  resolved_options options;
  ends run;
  base::random random;
  pause_of_messages pause;
  std::list<waiting> all_waiting;
  std::uintptr_t stack = 0;          // where look_for_work runs
  base::stack_bounds own_stack = {}; // for sanitizers, as are these two
  void* thread = base::this_fiber();
  void* calls = nullptr;
  std::uint64_t own_canary = 0;
  std::uint64_t canary = 0; // of all processes, for frames that may move
  std::optional<progress_lines> progress;
};
// Made by `begin`, gone after `end`. Not destroyed at exit: a task may call exit, and runs on memory
// that the transport has mapped.
state* now = nullptr;

void* address_of(std::uint32_t distance) noexcept {
  return reinterpret_cast<void*>(here.region + distance);
}

// AddressSanitizer keeps the bounds of the running stack, and what is poisoned in frames, which is
// not copied with them.
void note_own_stack() noexcept {
  const auto [low, high] = now->own_stack;
  base::enter_stack(low, high, nullptr);
  now->calls = base::enter_moved_calls(now->calls, 0);
  constexpr std::uintptr_t deepest = std::uintptr_t{64} << 10; // what the loop left behind
  base::forget_frames(now->stack - deepest, now->stack);
}
// No frame lies on the region below this.
void note_region(std::uintptr_t end_of_free) noexcept {
  base::enter_stack(here.region, now->as.region_end(), nullptr);
  base::forget_frames(here.region, end_of_free);
}

[[noreturn]] NOPAL_SWITCHES void resume(segment at) noexcept {
  constexpr std::size_t least_frame = 16;
  note_region(here.region + at.lower);
  now->calls = base::enter_moved_calls(now->calls, at.size() / least_frame);
  here.upper = here.region + at.upper;
  arch::set_stack_canary(now->canary);
  arch::nopal_arch_resume_task(static_cast<arch::task_context*>(address_of(at.lower)));
}

// Of a cell that may be elsewhere.
cell_state state_of(cell_reference of) {
  if (cell* const own = here.if_here(of))
    return state_of_own(*own);
  std::uint32_t seen = 0;
  now->by->get(process_of(of), &seen, &cell_of(of)->state, sizeof seen);
  return static_cast<cell_state>(seen);
}

void take_from(cell_reference of, void* to, std::size_t size) {
  if (cell* const own = here.if_here(of)) {
    std::memcpy(to, own->payload(), size);
    return here.cells.free(own);
  }
  now->by->get(process_of(of), to, cell_of(of)->payload(), size);
  now->by->post_store(process_of(of), cell_of(of)->state, cell_freed);
}

[[noreturn]] void throw_error(cell_reference of) {
  error_text at{};
  take_from(of, &at, sizeof at);
  std::string text(at.size, '\0');
  take_from(at.at, text.data(), text.size());
  throw_remote_error(text);
}

[[noreturn]] void resume_waiting(std::list<waiting>::iterator one) noexcept {
  const waiting ready = *one;
  now->all_waiting.erase(one);
  timed of{step::resume};
  std::memcpy(address_of(ready.at.lower), ready.frames->payload(), ready.at.size());
  here.cells.free(ready.frames);
  join::put_exception_state(ready.exceptions);
  of.end();
  resume(ready.at);
}

void resume_if_ready(bool may_ask) {
  for (auto one = now->all_waiting.begin(); one != now->all_waiting.end(); ++one)
    if ((may_ask || !now->by->handles_steals(process_of(one->until))) &&
        state_of(one->until) != cell_pending)
      resume_waiting(one);
}

void steal_and_resume(bool may_ask) {
  const unsigned others = now->with->size() - 1;
  if (others == 0)
    return;
  unsigned victim = now->random.below(others);
  victim += victim >= now->with->rank() ? 1 : 0;
  const bool handles_steals = now->by->handles_steals(victim);
  if (handles_steals && !may_ask)
    return;
  peer<queue_type> from{*now->by, victim};
  if (const std::optional<segment> one =
          handles_steals ? from.request() : steal(from, from.steps())) {
    NOPAL_IF_CHECKED(check_isolation(now->as, *one));
    resume(*one);
  }
  if (handles_steals)
    now->pause.begin_longer();
}

// Returns to run's caller when the result is there, and no task waits here that nobody has joined,
// because an exception has passed by.
[[noreturn]] void look_for_work() {
  base::forget_frames(here.region, now->as.region_end());
  now->pause = {};
  for (unsigned tries = 1; !now->run.has_ended() || !now->all_waiting.empty(); ++tries) {
    if (here.queue.is_settled()) {
      const bool may_ask = now->pause.is_over();
      resume_if_ready(may_ask);
      steal_and_resume(may_ask);
    }
    now->by->progress();
    idle_for_a_while(tries);
  }
  arch::nopal_arch_exit(&now->stack);
}

[[noreturn]] NOPAL_SWITCHES void look_for_work_anew(void*) noexcept {
  note_own_stack();
  arch::set_stack_canary(now->own_canary);
  look_for_work();
}

[[noreturn]] void leave_task() noexcept {
  arch::nopal_arch_leave(look_for_work_anew, nullptr, now->stack);
}

// On the stack of the loop: the task waits for the one that `until` names.
[[noreturn]] NOPAL_SWITCHES void suspend(arch::task_context* context, void* until) noexcept {
  note_own_stack();
  arch::set_stack_canary(now->own_canary);
  timed of{step::suspend};
  const segment at = here.open_segment(context);
  base::forget_frames(here.region, here.upper);
  cell* const frames = here.cells.allocate(class_of(at.size()));
  std::memcpy(frames->payload(), context, at.size());
  now->all_waiting.push_back(
      {at, frames, *static_cast<const cell_reference*>(until), join::take_exception_state()});
  ++here.done.suspended;
  here.done.suspended_bytes += at.size();
  of.end();
  if (const std::optional<segment> parent = here.queue.pop_newest())
    resume(*parent);
  look_for_work();
}

struct root_task {
  void (*call)(void*);
  const void* closure;
  std::size_t size;
};

NOPAL_SWITCHES void enter_run(void* given) {
  if (now->with->rank() != 0)
    look_for_work();
  auto* const root = static_cast<root_task*>(given);
  here.upper = now->as.region_end_of(0);
  // A copy of the closure goes with the first task's frames.
  const std::uintptr_t begin = now->as.region_end_of(0) - (root->size + 15) / 16 * 16;
  note_region(now->as.region_end());
  std::memcpy(reinterpret_cast<void*>(begin), root->closure, root->size);
  arch::set_stack_canary(now->canary);
  arch::nopal_arch_begin_task(root->call, reinterpret_cast<void*>(begin), begin);
}

} // namespace

void finish(cell_reference of, cell_state how, const void* bytes, std::size_t size) noexcept {
  if (cell* const own = here.if_here(of)) {
    std::memcpy(own->payload(), bytes, size);
    return set_state(*own, how);
  }
  now->by->put(process_of(of), cell_of(of)->payload(), bytes, size);
  now->by->post_store(process_of(of), cell_of(of)->state, how);
}

void finish_detached(cell_reference of, cell_state how, const void* bytes,
                     std::size_t size) noexcept {
  finish(of, how, bytes, size);
  leave_task();
}

error_text keep_error() noexcept {
  const std::string text = text_of_current_exception();
  cell* const kept = here.cells.allocate(class_of(text.size()));
  std::memcpy(kept->payload(), text.data(), text.size());
  return {here.reference_to(kept), text.size()};
}

void join_slow(cell_reference of, void* result, std::size_t size) {
  cell_state how;
  while ((how = state_of(of)) == cell_pending)
    arch::nopal_arch_suspend_task(suspend, &of, now->stack);
  if (how == cell_error)
    throw_error(of);
  take_from(of, result, size);
}

void finish_run(bool failed, const void* bytes, std::size_t size) noexcept {
  now->run.end_here(failed, bytes, size);
  leave_task();
}

void fail_run() noexcept {
  const std::string text = text_of_current_exception();
  finish_run(true, text.data(), text.size());
}

void run(void (*root)(void*), const void* closure, std::size_t closure_size, void* result,
         std::size_t size) {
  now->own_canary = arch::stack_canary();
  now->own_stack = base::enter_stack(0, 0, nullptr);
  base::enter_stack(now->own_stack.low, now->own_stack.high, nullptr);
  now->run.begin();
  root_task task{root, closure, closure_size};
  const auto kept = reinterpret_cast<std::uintptr_t>(&task);
  base::add_roots(kept, now->own_stack.high); // the caller's frames, while tasks run elsewhere
  arch::nopal_arch_enter(&now->stack, enter_run, &task);
  base::leave_moved_calls(std::exchange(now->calls, nullptr), now->thread);
  base::remove_roots(kept, now->own_stack.high);
  std::string error;
  const bool well = now->run.take_result(result, size, error);
  now->run.meet(); // nobody begins the next run before all have come so far
  here.cells.open(now->as.heap_at(), now->as.heap_size); // with it goes what was not joined
  if (!well)
    throw_remote_error(error);
}

namespace {
void say_what_is_in_force() {
  for (const std::string& warning : config::unknown_variables(environ))
    base::say("%s", warning.c_str());
  if (now->options.verbose)
    base::say("%u processes by %s, each with a region of %zu bytes and a heap of %zu bytes; seed "
              "%llu",
              size(), now->with->engine_name(), now->as.region_size, now->as.heap_size,
              static_cast<unsigned long long>(now->options.seed));
}
} // namespace

void begin(std::unique_ptr<launch> with, const resolved_options& options) {
  now = new state;
  now->options = options;
  now->with = std::move(with);
  now->as = {options.heap_size, options.region_size, layout::regions_of(now->with->size())};
  compare_addresses(*now->with);
  now->by = now->with->connect(now->as);
  std::destroy_at(&here);
  std::construct_at(&here);
  here.region = now->as.region_at();
  const std::uintptr_t own_end = now->as.region_end_of(now->with->rank());
  arch::nopal_own_region[0] = own_end - now->as.region_size;
  arch::nopal_own_region[1] = own_end;
  here.home = std::uint64_t{now->with->rank()} << address_bits;
  here.exceptions = join::this_threads_exceptions();
  here.cells.open(now->as.heap_at(), now->as.heap_size);
  now->run.open(*now->by, now->with->rank(), now->with->size());
  now->random.reseed(options.seed, now->with->rank());
  std::vector<std::uint64_t> canaries(now->with->size());
  const std::uint64_t own = arch::stack_canary();
  now->with->all_gather(&own, canaries.data(), sizeof own);
  now->canary = canaries[0];
  guard_region(now->as);
  if (rank() != 0)
    return;
  say_what_is_in_force();
  now->progress.emplace(options.progress, size());
}

int end() noexcept {
  now->progress.reset();
  now->run.meet();
  if (now->options.stats)
    print_statistics(*now->with, now->as);
  unguard_region();
  now->by->flush();
  const int status = now->with->finish();
  delete std::exchange(now, nullptr);
  return status;
}

unsigned rank() noexcept { return now != nullptr ? now->with->rank() : 0; }
unsigned size() noexcept { return now != nullptr ? now->with->size() : 1; }

} // namespace nopal::inline NOPAL_ABI::process

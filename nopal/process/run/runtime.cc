// SPDX-License-Identifier: MIT
// What a process runs next: tasks on its region, and between them the loop of `look_for_work`.
//
// The loop runs on the stack of the thread that called `run`, the tasks on the region. A task that
// is left begins the loop anew (leave_task): nothing in the loop has to be kept.
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
#include "nopal/config/environment.h"
#include "nopal/config/options.h"
#include "nopal/process/launch/launch.h"
#include "nopal/process/launch/watch.h"
#include "nopal/process/remote_error.h"
#include "nopal/process/run/ends.h"
#include "nopal/process/run/forked.h"
#include "nopal/process/run/guard.h"
#include "nopal/process/run/isolation.h"
#include "nopal/process/run/libraries.h"
#include "nopal/process/run/peer.h"
#include "nopal/process/run/statistics.h"
#include "nopal/process/run/waiting.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <unistd.h>
#include <utility>
#include <vector>

namespace nopal::inline NOPAL_ABI::process {

worker this_worker;

namespace {

// The session, and the run that is under way, as this process sees them.
struct state {
  options settings;
  std::unique_ptr<launch> processes;
  std::unique_ptr<transport> engine; // gone before `processes`
  layout memory;
  ends ending;
  base::random random;
  pause_of_messages pause;
  waiting_tasks waiting;
  std::uintptr_t stack = 0; // where look_for_work begins, on the stack of run's caller
  // For sanitizers: that stack, and the calls that a checker of threads believes to be open.
  base::stack_bounds own_stack = {};
  void* thread = base::this_fiber();
  void* calls = nullptr;
  // Of the stack protector: this process's own, and the one that all have while tasks run.
  std::uint64_t own_canary = 0;
  std::uint64_t canary = 0;
  pid_t process = 0;          // of this process: one that the program forks has all this too
  loaded_libraries libraries; // from when the session has begun
  watch progress;             // says from time to time what process 0 has done
};
// Made by `begin`, gone after `end`; the session's thread alone writes the pointer and, but for
// what the transport's threads keep, all that it leads to. Not destroyed at exit: a task may call
// exit, and it runs on memory that the transport has mapped.
state* now = nullptr;

void* address_of(std::uint32_t distance) noexcept {
  return reinterpret_cast<void*>(this_worker.region + distance);
}

// AddressSanitizer keeps the bounds of the running stack, and which bytes of frames are poisoned.
// The second does not move with the frames, so it is cleared.
void note_own_stack() noexcept {
  const auto [low, high] = now->own_stack;
  base::enter_stack(low, high, nullptr);
  now->calls = base::enter_moved_calls(now->calls, 0);
  constexpr std::uintptr_t deepest = std::uintptr_t{64} << 10; // what the loop left behind
  base::forget_frames(now->stack - deepest, now->stack);
}
// No frame lies on the region below this.
void note_region(std::uintptr_t end_of_free) noexcept {
  base::enter_stack(this_worker.region, now->memory.region_end(), nullptr);
  base::forget_frames(this_worker.region, end_of_free);
}

// Goes on with the task whose frames are this segment. Its context is at the lower end.
[[noreturn]] NOPAL_SWITCHES void resume(segment task) noexcept {
  constexpr std::size_t least_frame = 16;
  note_region(this_worker.region + task.lower);
  now->calls = base::enter_moved_calls(now->calls, task.size() / least_frame);
  this_worker.upper = task.upper;
  arch::set_stack_canary(now->canary);
  auto* const context = static_cast<arch::task_context*>(address_of(task.lower));
  arch::control_words{context->vector, context->x87}.use();
  arch::nopal_arch_resume_task(context);
}

// These two take a cell of any process.
cell_state state_of(cell_reference ref) {
  std::uint32_t seen = 0;
  now->engine->get(process_of(ref), &seen, &cell_of(ref)->state, sizeof seen);
  return static_cast<cell_state>(seen);
}

void take_from(cell_reference ref, void* to, std::size_t size) {
  now->engine->get(process_of(ref), to, cell_of(ref)->payload(), size);
  if (cell* const own = this_worker.if_own(ref))
    return this_worker.cells.free(own);
  // Only the owner touches its lists of free cells, so it collects this one (heap.h).
  now->engine->post_store(process_of(ref), cell_of(ref)->state, cell_freed);
}

[[noreturn]] void throw_error(cell_reference ref) {
  error_text error{};
  take_from(ref, &error, sizeof error);
  std::string text(error.size, '\0');
  take_from(error.at, text.data(), text.size());
  throw_remote_error(text);
}

// Asks about the newest suspended task and at most so many others. `may_send`: also about those
// whose cell only a message reaches.
void resume_if_ready(bool may_send, std::size_t most) {
  const auto is_ready = [may_send](const suspended& each) {
    return (may_send || now->engine->near(process_of(each.until))) &&
           state_of(each.until) != cell_pending;
  };
  const std::optional<suspended> ready = now->waiting.take_ready(most, is_ready);
  if (!ready)
    return;
  timed clock;
  std::memcpy(address_of(ready->where.lower), ready->frames->payload(), ready->where.size());
  this_worker.cells.free(ready->frames);
  join::put_exception_state(ready->exceptions);
  clock.end(step::resume);
  resume(ready->where);
}

// One try, at a random victim.
void steal_and_resume(bool may_send) {
  const unsigned others = size() - 1;
  if (others == 0)
    return;
  unsigned victim = now->random.below(others);
  victim += victim >= rank() ? 1 : 0; // any process but this one
  const bool by_message = !now->engine->near(victim);
  if (by_message && !may_send)
    return;
  peer<queue_type> from{*now->engine, victim};
  if (const std::optional<segment> stolen =
          by_message ? from.request() : steal(from, from.steps())) {
    NOPAL_IF_CHECKED(check_isolation(now->memory, *stolen));
    resume(*stolen);
  }
  if (by_message)
    now->pause.begin_longer();
}

// Returns to run's caller when the result is there and no task is suspended here. (A suspended task
// may be one that nobody will join, because an exception has passed by: it runs to its end.)
//
// Invariant: a task is put on the region only if the queue is settled (queue.h): no entry is open,
//            and no thief still copies frames. Then nothing on the region is needed any more.
[[noreturn]] void look_for_work() {
  base::forget_frames(this_worker.region, now->memory.region_end());
  now->pause = {};
  for (unsigned tries = 1; !now->ending.has_ended() || !now->waiting.empty(); ++tries) {
    if (this_worker.queue.is_settled()) {
      const bool may_send = now->pause.is_over();
      resume_if_ready(may_send,
                      std::size_t{16} << std::min(tries, 30u)); // an idle one asks about all
      steal_and_resume(may_send);
    }
    now->engine->progress();
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

// On the stack of the loop. The task with this context waits for the one that `until` names.
[[noreturn]] NOPAL_SWITCHES void suspend(arch::task_context* context, void* until) noexcept {
  note_own_stack();
  arch::set_stack_canary(now->own_canary);
  timed clock;
  const segment task = this_worker.open_segment(this_worker.above_region(context));
  base::forget_frames(this_worker.region, this_worker.region + this_worker.upper);
  context->keep_control_words();
  cell* const frames = this_worker.cells.allocate(class_of(task.size()));
  std::memcpy(frames->payload(), context, task.size());
  // `until` points into the task's frames, which are overwritten as soon as another task is
  // resumed.
  now->waiting.add(
      {task, frames, *static_cast<const cell_reference*>(until), join::take_exception_state()});
  ++this_worker.done.suspended;
  this_worker.done.suspended_bytes += task.size();
  clock.end(step::suspend);
  // The newest entry is the parent. Its frames are the next ones above, and are still there.
  if (const std::optional<segment> parent = this_worker.queue.pop_newest())
    resume(*parent);
  look_for_work();
}

struct root_task {
  void (*call)(void*);
  const void* closure;
  std::size_t size;
};

NOPAL_SWITCHES void enter_run(void* given) {
  if (rank() != 0)
    look_for_work();
  const auto* const root = static_cast<const root_task*>(given);
  const std::uintptr_t upper = now->memory.region_end_of(0);
  this_worker.upper = this_worker.distance(upper);
  // The closure is copied to the upper end, so that it moves with the first task's frames.
  const std::uintptr_t begin = upper - (root->size + 15) / 16 * 16;
  note_region(now->memory.region_end());
  std::memcpy(reinterpret_cast<void*>(begin), root->closure, root->size);
  arch::set_stack_canary(now->canary);
  arch::nopal_arch_begin_task(root->call, reinterpret_cast<void*>(begin), begin);
}

void say_what_is_in_force() {
  for (const std::string& warning : config::unknown_variables(config::all_variables()))
    base::say("%s", warning.c_str());
  if (*now->settings.verbose)
    base::say("%u processes by %s, each with a region of %zu bytes and a heap of %zu bytes; seed "
              "%lu",
              size(), now->processes->engine_name(), now->memory.region_size, now->memory.heap_size,
              *now->settings.seed);
}

// The program exits amid a session, perhaps in a task. What libraries destroy then, no other thread
// of this process may use any more. The other processes notice the end.
void stop_threads_at_exit() {
  if (is_in_session())
    now->engine->stop_thread();
}

// In a child of fork(), which has no part in the session.
void leave_session() {
  this_worker.cells.close(came_to_a_spawn);
  this_worker.home = no_run; // so a join takes the slow path
  now->processes->leave_in_child();
}

} // namespace

void finish(cell_reference ref, cell_state reached, const void* bytes, std::size_t size) noexcept {
  refuse_in_child();
  if (cell* const own = this_worker.if_own(ref)) // a put has a fence, which nobody needs here
    std::memcpy(own->payload(), bytes, size);
  else
    now->engine->put(process_of(ref), cell_of(ref)->payload(), bytes, size);
  // The put is done: a joiner that sees the state finds the result (transport.h).
  now->engine->post_store(process_of(ref), cell_of(ref)->state, reached);
}

void finish_detached(cell_reference ref, cell_state reached, const void* bytes,
                     std::size_t size) noexcept {
  finish(ref, reached, bytes, size);
  leave_task();
}

error_text keep_error() noexcept {
  const std::string text = text_of_current_exception();
  cell* const kept = this_worker.cells.allocate(class_of(text.size()));
  std::memcpy(kept->payload(), text.data(), text.size());
  return {this_worker.reference_to(kept), text.size()};
}

void join_slow(cell_reference ref, void* result, std::size_t size) {
  require_region("join");
  cell_state reached;
  while ((reached = state_of(ref)) == cell_pending)
    arch::nopal_arch_suspend_task(suspend, &ref, now->stack);
  if (reached == cell_error)
    throw_error(ref);
  if (reached != cell_value)
    base::die("a task was joined a second time; each is joined once");
  take_from(ref, result, size);
}

void finish_run(bool failed, const void* bytes, std::size_t size) noexcept {
  refuse_in_child();
  now->ending.end_run(failed, bytes, size);
  leave_task();
}

void fail_run() noexcept {
  const std::string text = text_of_current_exception();
  finish_run(true, text.data(), text.size());
}

void run(void (*root)(void*), const void* closure, std::size_t closure_size, void* result,
         std::size_t size) {
  if (now->process != getpid())
    base::die("process::session::run was called in a process that the program has forked from one "
              "of the session's");
  if (this_worker.home != no_run)
    base::die("process::session::run was called in a task, which spawns and joins instead");
  now->libraries.warn_of_new();
  const arch::control_words control = arch::control_words::now();
  note_run(true);
  this_worker.home = std::uint64_t{rank()} << address_bits;
  this_worker.cells.open(now->memory.heap_at(), now->memory.heap_size);
  now->own_canary = arch::stack_canary();
  now->own_stack = base::enter_stack(0, 0, nullptr);
  base::enter_stack(now->own_stack.low, now->own_stack.high, nullptr);
  now->ending.begin(reinterpret_cast<std::uintptr_t>(root));
  root_task task{root, closure, closure_size};
  const auto kept = reinterpret_cast<std::uintptr_t>(&task);
  base::add_roots(kept, now->own_stack.high); // the caller's frames, while tasks run elsewhere
  arch::nopal_arch_enter(&now->stack, enter_run, &task);
  base::leave_moved_calls(std::exchange(now->calls, nullptr), now->thread);
  base::remove_roots(kept, now->own_stack.high);
  control.use(); // those of the last task are its own
  std::string error;
  const bool well = now->ending.take_result(result, size, error);
  now->ending.meet(); // no process begins the next run before all have come so far
  // All cells go, also those that no task has joined. No other process reads one any more.
  this_worker.cells.close();
  this_worker.home = no_run;
  note_run(false);
  if (!well)
    throw_remote_error(error);
}

void begin(std::unique_ptr<launch> processes, const options& settings) {
  now = new state;
  now->settings = settings;
  now->processes = std::move(processes);
  now->memory = {settings.heap_size, settings.region_size, layout::regions_of(size())};
  now->engine = now->processes->connect(now->memory);
  std::destroy_at(&this_worker); // what an earlier session has left
  std::construct_at(&this_worker);
  this_worker.region = now->memory.region_at();
  this_worker.region_bytes = now->memory.region_end() - this_worker.region;
  const std::uintptr_t own_end = now->memory.region_end_of(rank());
  arch::nopal_own_region[0] = own_end - now->memory.region_size;
  arch::nopal_own_region[1] = own_end;
  this_worker.exceptions = join::this_threads_exceptions();
  now->ending.open(*now->engine, rank(), size());
  now->random.reseed(*settings.seed, rank());
  now->canary = common_canary(*now->processes);
  guard_region(now->memory);
  now->libraries = {};
  now->process = getpid();
  prepare_forks(now->memory, leave_session);
  static const int registered = std::atexit(stop_threads_at_exit); // once
  static_cast<void>(registered);
  if (rank() != 0)
    return;
  say_what_is_in_force();
  if (*settings.progress != 0)
    now->progress.start({}, static_cast<int>(1000 * *settings.progress),
                        [each = *settings.progress, seconds = 0u]() mutable {
                          print_progress(seconds += each, size());
                        });
}

void end() noexcept {
  now->progress.stop();
  now->ending.meet(
      ends::of_session); // no process needs anything of another one for a task any more
  if (*now->settings.stats)
    print_statistics(*now->processes, now->processes->engine_name(), now->memory);
  leave_forks_alone();
  unguard_region();
  now->engine->flush();
  now->processes->finish();
  delete std::exchange(now, nullptr);
}

bool is_in_session() noexcept { return now != nullptr && now->process == getpid(); }
bool is_in_run() noexcept { return this_worker.home != no_run; }

unsigned rank() noexcept { return now != nullptr ? now->processes->rank() : 0; }
unsigned size() noexcept { return now != nullptr ? now->processes->size() : 1; }

} // namespace nopal::inline NOPAL_ABI::process

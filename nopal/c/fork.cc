// SPDX-License-Identifier: MIT
// What a fork in C calls when it is not a plain call (fork.h). C and assembly call these functions,
// so they have no namespace.
#include "nopal/arch/arch.h"
#include "nopal/arch/offsets_c.h"
#include "nopal/base/check.h"
#include "nopal/base/sanitizer.h"
#include "nopal/config.h"
#include "nopal/join/failure.h"
#include "nopal/join/join.h"
#include "nopal/sched/forks.h"
#include "nopal/stack/marks.h"
#include "nopal/vproc/worker_deque.h"

#include <cxxabi.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

using namespace nopal;
using join::fork_record;
using join::scope_frame;

namespace {

// A call of a child, in memory.
struct arguments {
  std::uintptr_t child;
  std::uintptr_t result;
  std::uint32_t result_class;
  std::uint32_t words;
  std::uint64_t general[6];
  const std::uint64_t* on_the_stack;
  alignas(16) std::uint64_t vectors[8][2];
};

// The numbers of assembly and of C (arch/offsets_c.h).
static_assert(offsetof(arguments, child) == 0 &&
              offsetof(arguments, result) == NOPAL_BLOCK_RESULT &&
              offsetof(arguments, result_class) == NOPAL_BLOCK_CLASS &&
              offsetof(arguments, words) == NOPAL_BLOCK_WORDS &&
              NOPAL_BLOCK_WORDS == NOPAL_BLOCK_CLASS + 4 &&
              offsetof(arguments, general) == NOPAL_BLOCK_GENERAL &&
              offsetof(arguments, on_the_stack) == NOPAL_BLOCK_STACK &&
              offsetof(arguments, vectors) == NOPAL_BLOCK_VECTORS &&
              sizeof(arguments) == NOPAL_BLOCK_BYTES);
static_assert(sizeof(scope_frame) == NOPAL_AT_RESULT);
static_assert(offsetof(fork_record, mark) == 0 &&
              offsetof(fork_record, scope_and_kind) == NOPAL_AT_SCOPE &&
              offsetof(fork_record, failed) == NOPAL_AT_FAILED &&
              sizeof(fork_record) == NOPAL_RECORD_BYTES);
static_assert(static_cast<int>(join::fork_kind::plain) == 0 &&
              static_cast<int>(join::fork_kind::into_place) == NOPAL_INTO_PLACE);
static_assert(offsetof(join::exception_state, caught) == NOPAL_AT_CAUGHT &&
              offsetof(join::exception_state, uncaught) == NOPAL_AT_UNCAUGHT);
static_assert(stack::marks::distance == NOPAL_MARK_DISTANCE);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winvalid-offsetof"
static_assert(offsetof(vproc::worker_deque, exceptions) == NOPAL_AT_EXCEPTIONS &&
              offsetof(vproc::worker_deque, deque) + vproc::deque_type::limit_at() ==
                  NOPAL_AT_LIMIT);
#pragma GCC diagnostic pop

extern "C" void nopal_c_call(arguments* block);

void run(void* block) { nopal_c_call(static_cast<arguments*>(block)); }
void drop(void*) {}

} // namespace

extern "C" {

// The record, which assembly writes, will lie below the stack pointer of the call that this one
// precedes: at the lower end of a frame behind the return address, or also behind the frame pointer
// and those words that the call pushes, at most so many. Not inlined, so that the stack pointer is
// the caller's.
NOPAL_OWN [[gnu::noinline]] void nopal_c_note_fork(scope_frame* frame,
                                                   std::uintptr_t words) noexcept {
  const std::uintptr_t caller = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) + 16;
  constexpr std::uintptr_t least = 8 + NOPAL_FORK_FRAME;
  constexpr std::uintptr_t with_words = 16 + NOPAL_FORK_FRAME_OF_WORDS;
  static_assert((with_words - least) % 16 == 0);
  for (std::uintptr_t below = least; below <= with_words + 8 * words; below += 16)
    base::happens_before(reinterpret_cast<const void*>(caller - below));
  base::happens_before(frame);
}

NOPAL_OWN bool nopal_c_fork_slow(fork_record* fork, arguments* block) noexcept {
  static constexpr sched::body_calls calls{run, drop};
  return sched::fork_slow(fork, calls, block);
}

// Returns if the caller is to store the result, which has so many bytes.
NOPAL_OWN void nopal_c_child_returned(fork_record* fork, std::uint32_t bytes) noexcept {
  if (sched::take_back(fork))
    return;
  std::memcpy(*reinterpret_cast<void**>(fork + 1), &fork->failed, bytes);
  sched::detach(fork);
}

NOPAL_OWN void nopal_c_child_threw(void* thrown, fork_record* fork) noexcept {
  abi::__cxa_begin_catch(thrown);
  join::capture_failure(fork);
  abi::__cxa_end_catch();
  sched::child_threw(fork);
}

NOPAL_OWN int nopal_c_may_fork_slowly(scope_frame* frame, std::uintptr_t caller) noexcept {
  if (!frame->is_of(caller))
    sched::scope_misused();
  return !frame->overtaken();
}

// Returns the function to be given to nopal_arch_suspend; null: the main path need not wait.
NOPAL_OWN auto nopal_c_before_join(scope_frame* frame, std::uintptr_t caller) noexcept
    -> decltype(&sched::main_path_waits) {
  if (!frame->is_of(caller))
    sched::scope_misused();
  return frame->steals() != 0 ? sched::main_path_waits : nullptr;
}

NOPAL_OWN void nopal_c_finish_join(scope_frame* frame) { sched::finish_join(frame); }

NOPAL_OWN void nopal_c_finish_join_at_end(scope_frame* frame) {
  sched::finish_join_in_destructor(frame);
}

NOPAL_OWN void nopal_c_left_unjoined() noexcept {
  base::die("a frame of a function in C was left with children that it had not joined; join before "
            "each return");
}
}

// SPDX-License-Identifier: MIT
// task, spawn and join (nopal/process.h), and the thunks that run children.
//
// A spawn calls a stub, which pushes what the caller needs to go on, and calls the thunk. The
// function and its arguments travel in registers if they take at most four. A larger closure goes
// by address, and the thunk copies it before it offers the continuation: after that a thief may
// have taken the frame that holds it.
//
// The thunk's frame belongs to the child. When the child ends, in whichever process, the thunk pops
// its parent's continuation from the queue and returns to it. If the parent was stolen, the thunk
// puts the result into the cell and leaves the region.
//
// Paper: uni-address-hpdc15, section 5.2, Figure 4.
#pragma once

#include "nopal/arch/uni_address.h"
#include "nopal/config.h"
#include "nopal/process/isolated.h"
#include "nopal/process/run/guard.h"
#include "nopal/process/run/isolation.h"
#include "nopal/process/run/runtime.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <type_traits>
#include <utility>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::process {

template <class T> class task;

namespace detail {

template <class T>
inline constexpr std::uint32_t class_of_result = class_of(std::max(sizeof(T), sizeof(error_text)));

// Runs the child without offering the continuation: the caller is amid exceptions, or the queue has
// no room. Or the caller is no task, and the program ends. When the child ends, both may be in
// another process than the cell.
template <class Body>
[[gnu::noinline, gnu::cold]] void run_closed(cell_reference ref, Body body) noexcept {
  require_region("spawn");
  try {
    const result_of_body<Body> result = call(body);
    finish(ref, cell_value, &result, sizeof result);
  } catch (...) {
    const error_text text = keep_error();
    finish(ref, cell_error, &text, sizeof text);
  }
}

template <class T>
[[gnu::always_inline]] inline void end_child(arch::task_context* context, cell_reference ref,
                                             cell_state reached, const T& result) noexcept {
  if (!this_worker.queue.pop()) [[unlikely]]
    finish_detached(ref, reached, &result, sizeof result);
  cell* const own = cell_of(ref); // of this process, since the parent is still here
  std::memcpy(own->payload(), &result, sizeof result);
  own->state.store(reached,
                   base::relaxed); // read by this thread, or by one that steals the parent (T)
  this_worker.upper = context->upper;
}

template <class Body>
[[gnu::always_inline]] inline void run_child(arch::task_context* context, cell_reference ref,
                                             Body& body) noexcept {
  error_text text;
  context->upper = this_worker.upper; // moves with the frames, as the control words do
  context->keep_control_words();
  const std::uintptr_t lower = this_worker.above_region(context);
  if (this_worker.exceptions->alive() || lower >= this_worker.region_bytes ||
      !this_worker.queue.push(this_worker.open_segment(lower))) [[unlikely]]
    return run_closed(ref, body);
  this_worker.upper = this_worker.upper_of_child(context, lower);
  ++this_worker.done.tasks;
  try {
    return end_child(context, ref, cell_value, call(body));
  } catch (...) {
    text = keep_error();
    goto failed; // end_child may not return, and a handler that is left so would stay open
  }
failed:
  end_child(context, ref, cell_error, text);
}

// Check builds: looks at the function and the arguments; its own name tells their types.
template <class... Given> void check_given(const Given&... given) noexcept {
  (process::check_given(&given, sizeof given, __PRETTY_FUNCTION__), ...);
}

// How many registers an argument takes; an empty object takes none. A call has six, of which two
// are the context's and the cell's; 5 means that the argument does not travel in registers.
template <class T>
inline constexpr std::size_t registers_of =
    std::is_empty_v<T>                   ? 0
    : sizeof(T) <= 16 && alignof(T) <= 8 ? (sizeof(T) + 7) / 8
                                         : 5;
template <class... T> inline constexpr bool travel_in_registers = (registers_of<T> + ... + 0) <= 4;

// The parts one by one: were they stored as a closure, and its words loaded, the loads of words
// that are made of several parts would wait for the stores.
template <class F, class... Args>
[[gnu::noinline, gnu::visibility("hidden")]] void
parts_thunk(arch::task_context* context, cell_reference ref, F f, Args... args) noexcept {
  auto body = isolated_closure(f, args...);
  run_child(context, ref, body);
}

template <class Body>
[[gnu::noinline, gnu::visibility("hidden")]] void
copy_thunk(arch::task_context* context, cell_reference ref, const Body* given) noexcept {
  Body own = *given; // a thief of the continuation may change the original
  run_child(context, ref, own);
}

template <auto Thunk, class... Args>
NOPAL_FORK_STUB void stub(NOPAL_STUB_PARAMETERS(arch::task_context*, cell_reference, Args...)) {
  NOPAL_PUSH_CALLER_AND_CALL(Thunk);
}
template <auto Thunk, class... Args>
[[gnu::always_inline]] inline void through_stub(cell_reference ref, Args... args) {
  reinterpret_cast<void (*)(arch::task_context*, cell_reference, Args...)>(&stub<Thunk, Args...>)(
      nullptr, ref, args...);
}

template <class Body> void root_thunk(void* given) noexcept {
  Body own = *static_cast<const Body*>(given);
  try {
    const result_of_body<Body> result = call(own);
    finish_run(false, &result, sizeof result);
  } catch (...) {
    fail_run();
  }
}

} // namespace detail

/// A task that was spawned and not yet joined. It may be copied, and given to other tasks.
/// @par Threads
/// The thread that made the session, in a task.
template <class T> class [[nodiscard]] NOPAL_TYPE task {
  using kept = detail::kept_of<T>;

public:
  /// For `spawn`.
  template <class F, class... Args>
  [[gnu::always_inline]] inline explicit task(std::in_place_t, F f, Args... args) {
    detail::check_isolated<F, Args...>();
    cell* const own = this_worker.cells.allocate(detail::class_of_result<kept>);
    at_ = this_worker.reference_to(own);
    NOPAL_IF_CHECKED(clear_stack_below());
    NOPAL_IF_CHECKED((detail::check_given(f, args...)));
    if constexpr (detail::travel_in_registers<F, Args...>) {
      detail::through_stub<detail::parts_thunk<F, Args...>>(at_, f, args...);
    } else {
      const auto body = detail::isolated_closure(f, args...);
      using body_type = std::remove_const_t<decltype(body)>;
      detail::through_stub<detail::copy_thunk<body_type>>(at_, &body);
    }
  }

  /// For the function `join`.
  [[gnu::always_inline]] inline T join() {
    if (arch::stack_pointer() - this_worker.region >= this_worker.region_bytes) [[unlikely]]
      require_region("join");
    std::array<unsigned char, sizeof(kept)> result; // a T need not have a default
    const std::uint64_t own_at = at_ ^ this_worker.home;
    cell* const own = reinterpret_cast<cell*>(own_at);
    if (own_at >> address_bits == 0 && own->state.load(base::acquire) == cell_value) [[likely]] {
      std::memcpy(&result, own->payload(), sizeof result);
      this_worker.cells.free(own, detail::class_of_result<kept>);
    } else {
      join_slow(at_, &result, sizeof result);
    }
    if constexpr (!std::is_void_v<T>)
      return std::bit_cast<T>(result);
  }

private:
  cell_reference at_;
};

/// Runs f(args...) as a child, now. The rest of the caller may go on in another process meanwhile.
/// What the child throws, the join of its task throws. A program that outgrows the region or the
/// heap ends with a sentence.
/// @pre The caller is a task. The function, the arguments and the result are trivially copyable,
/// which is checked, and lead to nothing that one process alone has.
/// @par Threads
/// The thread that made the session.
/// @par Cost
/// A call, a cell of the heap, and one full fence at the child's end, as long as no thief takes the
/// caller. A thief copies the caller's frames.
/// @par Paper
/// uni-address-hpdc15, section 5.2, Figure 4.
template <class F, class... Args>
[[gnu::always_inline]] inline task<detail::result_of<F, Args...>> spawn(F&& f, Args&&... args) {
  return task<detail::result_of<F, Args...>>{std::in_place, std::forward<F>(f),
                                             std::forward<Args>(args)...};
}

/// Waits until the task has ended, and returns its result. The process runs other tasks meanwhile.
/// @pre The caller is a task, and no other call joins this task.
/// @throws remote_error if the task has thrown.
/// @par Threads
/// The thread that made the session.
/// @par Cost
/// Two copies of the result if the task has ended. Else the caller's frames are copied to the heap,
/// and back when the result is there.
/// @par Paper
/// uni-address-hpdc15, sections 5.2 and 5.4.
template <class T> [[gnu::always_inline]] inline T join(task<T>& spawned) { return spawned.join(); }

} // namespace nopal::inline NOPAL_ABI::process
NOPAL_HIDDEN_END

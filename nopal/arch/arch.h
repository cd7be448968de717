// SPDX-License-Identifier: MIT
//
// Saving, resuming and switching: everything that depends on the processor, for x86-64 (x86_64.S).
//
// A `context` is what a suspended strand needs to go on: where, on which stack, the registers and
// the floating-point control that a call must preserve. It lies in the frame that declares a scope.
// Stack and frame pointer are recorded once, when the scope is constructed: a later fork may run on
// a thief's stack, and the join has to come back to this one. The rest is recorded by the call that
// suspends (a fork or a join). A fork records where its return address lies, rather than load it
// for a steal that hardly ever comes; whoever offers the continuation does that.
//
// Paper: fibril-spaa16, section 4.2.
#pragma once

#include "nopal/base/refused.h"
#include "nopal/config.h"

#include <cstddef>
#include <cstdint>

namespace nopal::arch {

struct context {
  void* resume_at; // at first, by a fork: where its return address lies
  std::uintptr_t stack_pointer;
  std::uintptr_t frame_pointer; // its low bits, frame_flags, are others' to use
  std::uintptr_t preserved[5];  // rbx, r12, r13, r14, r15
  std::uint32_t vector_control; // mxcsr, with its status flags
  std::uint16_t x87_control;
};

inline constexpr std::uintptr_t frame_flags = 3;

static_assert(offsetof(context, resume_at) == 0);
static_assert(offsetof(context, frame_pointer) == 16);
static_assert(offsetof(context, preserved) == 24);
static_assert(offsetof(context, vector_control) == 64 && offsetof(context, x87_control) == 68);

// Rounds of stack alignment that a new stack pointer keeps in step with the old one: the frame may
// have aligned itself for vector registers.
inline constexpr std::uintptr_t alignment = 256;

// What this layer knows of a worker (vproc/worker.h): the stack pointer with which to enter its
// scheduler.
struct runner {
  std::uintptr_t scheduler_stack = 0;
};

// The worker that runs on this thread. It is read through `current` only: a strand changes threads
// at forks and joins, and a compiler that remembered where the variable lies would go on reading
// the old thread's. Defined in vproc/worker.cc, which knows the value that it begins with.
extern "C" {
extern constinit thread_local runner* nopal_self __attribute__((tls_model("initial-exec")));
}

[[gnu::always_inline]] inline runner* current() noexcept {
  runner* self;
  asm volatile("movq nopal_self@gottpoff(%%rip), %0\n\tmovq %%fs:(%0), %0" : "=r"(self));
  return self;
}

// In the constructor of a scope: makes the compiler address the function's locals through a
// register that survives a change of the stack pointer, also where it realigns the frame for vector
// registers. The clobber does it. (GCC calls it deprecated, and honours it.) GCC would then also
// distrust the stack pointer in the epilogue, and every return would wait for a load, 1.5 ns a
// fork; so for GCC the clobber stands in a branch that it can tell is never taken only after it has
// decided how to lay out a realigned frame. The second clobber is to the same end: a function that
// saves one register alone would take the stack pointer from the frame pointer, itself just loaded.
// Last, GCC knows that an alloca's address is the stack pointer, and might use one for the other
// after a fork; it forgets that where two paths meet.
// clang-format off
#if defined(__clang__)
#define NOPAL_PIN_FRAME                                                                            \
  _Pragma("clang diagnostic push")                                                                 \
  _Pragma("clang diagnostic ignored \"-Wstack-protector\"") /* it moves no stack pointer */        \
  asm volatile("" ::: "rsp");                                                                      \
  _Pragma("clang diagnostic pop")
#define NOPAL_STORE_STACK_POINTER(word) asm volatile("movq %%rsp, %0" : "=m"(word))
#else
#define NOPAL_PIN_FRAME                                                                            \
  _Pragma("GCC diagnostic push")                                                                   \
  _Pragma("GCC diagnostic ignored \"-Wdeprecated\"")                                               \
  if (__builtin_frame_address(0) == nullptr)                                                       \
    asm volatile("" ::: "rsp");                                                                    \
  _Pragma("GCC diagnostic pop")                                                                    \
  asm volatile("" ::: "r12");                                                                      \
  asm goto("" : : : : nopal_stack_pointer_changed);                                                \
  asm volatile("");                                                                                \
  nopal_stack_pointer_changed:
// With -maccumulate-outgoing-args GCC addresses a realigned frame through the stack pointer all the
// same. Then the assembler refuses: no other register has an s followed by a p.
#define NOPAL_REFUSE_STACK_POINTER(operand)                                                        \
  "\n\t.set .Lnopal_s, 0"                                                                          \
  "\n\t.irpc c, " operand                                                                          \
  "\n\t.ifc \\c, p\n\t.if .Lnopal_s"                                                               \
  "\n\t.error \"nopal: a function with a scope addresses its over-aligned frame through the stack" \
  " pointer; compile it with -mno-accumulate-outgoing-args\""                                      \
  "\n\t.endif\n\t.endif"                                                                           \
  "\n\t.set .Lnopal_s, 0"                                                                          \
  "\n\t.ifc \\c, s\n\t.set .Lnopal_s, 1\n\t.endif"                                                 \
  "\n\t.endr"
// The stack pointer is an operand, or GCC would move pushes for a later call in front of this.
#define NOPAL_STORE_STACK_POINTER(word)                                                            \
  {                                                                                                \
    register std::uintptr_t nopal_stack_pointer asm("rsp");                                        \
    asm volatile inline("movq %1, %0" NOPAL_REFUSE_STACK_POINTER("%0")                             \
                        : "=m"(word) : "r"(nopal_stack_pointer));                                  \
  }
// clang-format on
#endif

// The floating-point control words of a strand that forks, for a thief. What Nopal is compared with
// leaves them out (config.h).
#define NOPAL_RECORD_CONTROL NOPAL_FORK_RECORDS_CONTROL("stmxcsr 64(%%rdi)\n\tfnstcw 68(%%rdi)\n\t")

// This thread's, as a fork would have recorded them.
inline void record_control(context& at) noexcept {
  asm volatile("stmxcsr %0\n\tfnstcw %1" : "=m"(at.vector_control), "=m"(at.x87_control));
}

// A fork's stub: a function marked so, whose one statement is NOPAL_RECORD_CALLER_AND_GO_TO. It
// records its caller in the context that is its first argument and goes on in the thunk with all
// arguments as they are; the thunk returns to the caller. It leaves no frame behind, so exceptions
// may pass. Compilers must conclude nothing from its body: what the thunk does, it does. That may
// be to throw before the child begins, when a closure cannot be moved.
//
// Its parameters (NOPAL_STUB_PARAMETERS) are those of the thunk: Clang before 19 passes only what a
// function declares that it sees, and with -fsanitize=cfi calls a function only as what it is. For
// GCC it has none, or GCC would move them about first.
#if defined(__clang__)
#define NOPAL_MAY_THROW , "unwind"
#define NOPAL_CANNOT_BE_SEEN_NOT_TO_THROW
#define NOPAL_FORK_STUB                                                                            \
  __attribute__((naked, noinline, visibility("hidden"), no_instrument_function,                    \
                 no_profile_instrument_function, no_stack_protector, no_sanitize("function")))
#define NOPAL_STUB_PARAMETERS(...) __VA_ARGS__
#else
#define NOPAL_MAY_THROW
#define NOPAL_CANNOT_BE_SEEN_NOT_TO_THROW                                                          \
  if (false)                                                                                       \
    throw 0;
#define NOPAL_FORK_STUB                                                                            \
  __attribute__((naked, noipa, visibility("hidden"), no_instrument_function,                       \
                 no_profile_instrument_function, no_stack_protector))
#define NOPAL_STUB_PARAMETERS(...)
#endif
// In the large code model GCC holds no address for near enough, and takes this one for "any" only.
#if defined(__code_model_large__) && !defined(__clang__)
#define NOPAL_ADDRESS "X"
#else
#define NOPAL_ADDRESS "i"
#endif
#define NOPAL_RECORD_CALLER_AND_GO_TO(thunk)                                                       \
  NOPAL_CANNOT_BE_SEEN_NOT_TO_THROW                                                                \
  asm volatile("movq %%rsp, 0(%%rdi)\n\t"                                                          \
               "movq %%rbx, 24(%%rdi)\n\t"                                                         \
               "movq %%r12, 32(%%rdi)\n\t"                                                         \
               "movq %%r13, 40(%%rdi)\n\t"                                                         \
               "movq %%r14, 48(%%rdi)\n\t"                                                         \
               "movq %%r15, 56(%%rdi)\n\t" NOPAL_RECORD_CONTROL "jmp %P0"                          \
               :                                                                                   \
               : NOPAL_ADDRESS(thunk)                                                              \
               : "memory" NOPAL_MAY_THROW)

// Whether the stack has grown below the address that `word` holds. One instruction: compilers do
// not fold an atomic load into a comparison.
template <class Word> [[gnu::always_inline]] inline bool stack_below(const Word& word) noexcept {
  static_assert(sizeof(Word) == 8);
  bool result;
  asm volatile("cmpq %1, %%rsp" : "=@ccb"(result) : "m"(word));
  return result;
}

// word -= amount, as one instruction but not atomically: an interrupt finds it done or not begun,
// another processor may write in between. True: the result is zero.
template <class Word>
[[gnu::always_inline]] inline bool subtract_at_once(Word& word, std::uintptr_t amount) noexcept {
  static_assert(sizeof(Word) == 8);
  bool zero;
  asm volatile("subq %2, %1" : "=@ccz"(zero), "+m"(word) : "r"(amount) : "memory");
  return zero;
}

// The address of a local variable, computed where it is needed: a compiler would keep it in a
// register that must be saved for it.
template <class T> [[gnu::always_inline]] inline T* address_of(T& local) noexcept {
  T* address;
  asm volatile("leaq %1, %0" : "=r"(address) : "m"(local));
  return address;
}

[[gnu::always_inline]] inline std::uintptr_t stack_pointer() noexcept {
  std::uintptr_t value;
  asm volatile("movq %%rsp, %0" : "=r"(value));
  return value;
}

// Whether the processor keeps a second stack of return addresses for this thread (CET). The
// instruction does nothing where there is none.
inline bool shadow_stack_is_on() noexcept {
  std::uintptr_t top = 0;
  asm volatile("rdsspq %0" : "+r"(top));
  return top != 0;
}

extern "C" {
// Records the caller in `at`, changes to this worker's scheduler stack and calls `then` with the
// context and the stack pointer that was left. Returns when somebody resumes the context.
void nopal_arch_suspend(context* at, void (*then)(context*, std::uintptr_t));

// The same for a strand that stops anywhere: the context's stack and frame pointer are recorded
// too.
void nopal_arch_park(context* at, void (*then)(context*, std::uintptr_t));

// Goes on where the context was recorded, on the stack given.
[[noreturn]] void nopal_arch_resume(const context* at, std::uintptr_t stack_pointer) noexcept;

// Leaves the current stack for good and calls `f(argument)`, which must not return.
[[noreturn]] void nopal_arch_leave(void (*f)(void*), void* argument,
                                   std::uintptr_t stack_pointer) noexcept;

// Calls `f(argument)` on another stack and comes back; no exception may leave `f`.
void nopal_arch_call_on(void (*f)(void*), void* argument, std::uintptr_t stack_pointer) noexcept;
}

} // namespace nopal::arch

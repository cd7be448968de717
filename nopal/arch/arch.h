// SPDX-License-Identifier: MIT
// All that depends on the processor: saving a strand, resuming it, changing stacks (x86_64.S).
//
// A `context` is what a suspended strand needs to continue: an address, a stack, and the registers
// and floating-point control that a call must preserve. It lies in the frame that declares a scope,
// or that waits. The scope's constructor records the frame pointer; the call that suspends (a fork
// or a join) records the rest. A fork records where its return address lies, just below the stack
// pointer; only the thread that publishes the fork loads it, and few forks are published.
//
// Paper: fibril-spaa16, section 4.2.
#pragma once

#include "nopal/arch/names.h"
#include "nopal/arch/offsets.h"
#include "nopal/arch/pin_frame.h"
#include "nopal/base/refused.h"
#include "nopal/config.h"

#include <cstddef>
#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::arch {

// What a thread computes floating-point numbers with: rounding, precision, masks, flush to zero.
struct control_words {
  std::uint32_t vector; // mxcsr, with its status flags
  std::uint16_t x87;

  static control_words now() noexcept {
    control_words words;
    asm volatile("stmxcsr %0\n\tfnstcw %1" : "=m"(words.vector), "=m"(words.x87));
    return words;
  }
  // Makes the thread compute with these. Its status flags, which tell of past results, stay.
  void use() const noexcept {
    const control_words before = now();
    if (before == *this)
      return;
    const std::uint32_t both = (vector & ~status_flags) | (before.vector & status_flags);
    asm volatile("ldmxcsr %0\n\tfldcw %1" : : "m"(both), "m"(x87));
  }
  bool operator==(const control_words& other) const noexcept {
    return ((vector ^ other.vector) & ~status_flags) == 0 && x87 == other.x87;
  }

private:
  static constexpr std::uint32_t status_flags = 0x3f;
};

struct context {
  void* resume_at; // after a fork that is not yet published: where its return address lies
  std::uintptr_t stack_pointer;
  std::uintptr_t frame_pointer; // the layer join uses its low bits, frame_flags
  std::uintptr_t preserved[5];  // rbx, r12, r13, r14, r15
};

inline constexpr std::uintptr_t frame_flags = NOPAL_FRAME_FLAGS;

static_assert(offsetof(context, resume_at) == NOPAL_AT_RESUME &&
              offsetof(context, stack_pointer) == NOPAL_AT_STACK_POINTER &&
              offsetof(context, frame_pointer) == NOPAL_AT_FRAME_POINTER &&
              offsetof(context, preserved) == NOPAL_AT_PRESERVED);

// A thief's stack pointer and the one it replaces are equal modulo this, since the frame may have
// aligned itself for vector registers.
inline constexpr std::uintptr_t alignment = 256;

// What this layer knows of a worker (vproc/worker.h): the stack pointer with which its scheduler
// starts.
struct runner {
  std::uintptr_t scheduler_stack = 0;
};
static_assert(offsetof(runner, scheduler_stack) == NOPAL_AT_SCHEDULER_STACK);

// The worker that runs on this thread. Only `current` and x86_64.S read it: a strand changes
// threads at forks and joins, and a compiler that kept the variable's address would then read the
// old thread's. vproc/worker.cc defines it, with its initial value.
extern "C" constinit thread_local runner* nopal_self __attribute__((tls_model("initial-exec")));

[[gnu::always_inline]] inline runner* current() noexcept {
  runner* self;
  asm volatile("movq " NOPAL_TEXT(nopal_self) "@gottpoff(%%rip), %0\n\tmovq %%fs:(%0), %0"
               : "=r"(self));
  return self;
}

// A fork's stub is a NOPAL_FORK_STUB whose one statement is NOPAL_RECORD_CALLER_AND_GO_TO. It
// records its caller in the context that is its first argument, and jumps to the thunk with all
// arguments unchanged; the thunk returns to the stub's caller. The stub has no frame, so exceptions
// may pass. Compilers must conclude nothing from its body, since all effects are the thunk's. It
// may even throw before the child begins, if moving a closure throws.
//
// For Clang the stub has the thunk's parameters: Clang before 19 passes only those arguments that
// the stub declares, and -fsanitize=cfi checks the type of each function that is called. For GCC
// the stub has none, or GCC would move them about before the statement.
#if defined(__clang__)
#define NOPAL_MAY_THROW , "unwind"
#define NOPAL_CANNOT_BE_SEEN_NOT_TO_THROW
#define NOPAL_OPAQUE noinline, no_sanitize("function")
#define NOPAL_STUB_PARAMETERS(...) __VA_ARGS__
#else
#define NOPAL_MAY_THROW
#define NOPAL_CANNOT_BE_SEEN_NOT_TO_THROW                                                          \
  if (false)                                                                                       \
    throw 0;
#if __has_attribute(                                                                               \
    no_sanitize_coverage) // else -fsanitize-coverage puts a call before the statement
#define NOPAL_OPAQUE noipa, no_sanitize_coverage
#else
#define NOPAL_OPAQUE noipa
#endif
#define NOPAL_STUB_PARAMETERS(...)
#endif
#define NOPAL_FORK_STUB                                                                            \
  __attribute__((naked, NOPAL_OPAQUE, visibility("hidden"), no_instrument_function,                \
                 no_profile_instrument_function, no_stack_protector))
// In the large code model GCC takes each address for a far one and accepts the operand as "X" only.
#if defined(__code_model_large__) && !defined(__clang__)
#define NOPAL_ADDRESS "X"
#else
#define NOPAL_ADDRESS "i"
#endif
#define NOPAL_RECORD_RETURN "movq %%rsp, 0(%%rdi)\n\t" // some baselines define another one
#define NOPAL_RECORD_CALLER_AND_GO_TO(thunk)                                                       \
  NOPAL_CANNOT_BE_SEEN_NOT_TO_THROW                                                                \
  asm volatile(NOPAL_RECORD_RETURN "movq %%rbx, %c1(%%rdi)\n\tmovq %%r12, 8+%c1(%%rdi)\n\t"        \
                                   "movq %%r13, 16+%c1(%%rdi)\n\tmovq %%r14, 24+%c1(%%rdi)\n\t"    \
                                   "movq %%r15, 32+%c1(%%rdi)\n\tjmp %P0"                          \
               :                                                                                   \
               : NOPAL_ADDRESS(thunk), "i"(NOPAL_AT_PRESERVED)                                     \
               : "memory" NOPAL_MAY_THROW)

// A hint that this thread writes this cache line soon, which another thread's processor may have.
// (Without -mprfchw, compilers turn __builtin_prefetch for writing into one for reading.)
[[gnu::always_inline]] inline void will_write(const void* at) noexcept {
  asm volatile("prefetchw %0" : : "m"(*static_cast<const char*>(at)));
}

// Whether the stack pointer is below the address in `word`. This is one instruction; compilers
// would make two of an atomic load and a comparison.
template <class Word> [[gnu::always_inline]] inline bool stack_below(const Word& word) noexcept {
  static_assert(sizeof(Word) == 8);
  bool result;
  asm volatile("cmpq %1, %%rsp" : "=@ccb"(result) : "m"(word));
  return result;
}

// word = its own address + Distance. No register keeps the value: a function may push any register
// to align the stack, and so write the value back to where this word was (stack/marks.h).
template <std::ptrdiff_t Distance>
[[gnu::always_inline]] inline void store_own_address(std::uintptr_t& word) noexcept {
  std::uintptr_t gone;
  asm volatile("leaq %c2+%H1, %0\n\tmovq %0, %1\n\txorl %k0, %k0" // %H: the operand plus 8
               : "=&r"(gone), "=m"(word)
               : "i"(Distance - 8)
               : "memory");
}

// word >>= 1, in one instruction that is not atomic: an interrupt comes before or after it, but
// another processor may write between its read and its write. True: the word was odd.
[[gnu::always_inline]] inline bool halve_at_once(std::uintptr_t& word) noexcept {
  bool odd;
  asm volatile("shrq %1" : "=@ccc"(odd), "+m"(word) : : "memory");
  return odd;
}

// Clears the registers that calls may change, so that none keeps a value that was computed before.
[[gnu::always_inline]] inline void forget_registers() noexcept {
  asm volatile(".irp r, eax, ecx, edx, esi, edi, r8d, r9d, r10d, r11d\n\txorl %%\\r, %%\\r\n\t.endr"
               :
               :
               : "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11");
}

// The address of a local variable, computed anew at each call. A compiler would keep it in a
// register that the function would have to save.
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

// Whether this thread has a shadow stack, a second stack of return addresses (CET). A processor
// without such stacks ignores the instruction.
inline bool shadow_stack_is_on() noexcept {
  std::uintptr_t top = 0;
  asm volatile("rdsspq %0" : "+r"(top));
  return top != 0;
}

extern "C" {
// Records the caller in `at`, changes to the scheduler's stack of this thread's worker, and calls
// `then` with the context and the stack pointer that was left; `then` must not return. Returns when
// a thread resumes the context. For joins: `at` has the stack and the frame pointer of its scope.
void nopal_arch_suspend(context* at, void (*then)(context*, std::uintptr_t));

// The same for a strand that stops elsewhere: records the stack and the frame pointer, too.
void nopal_arch_park(context* at, void (*then)(context*, std::uintptr_t));

// Records its caller in `from` as nopal_arch_park does, and continues where `to` was recorded, on
// the stack that `to` was recorded on. Returns when a thread resumes `from`.
void nopal_arch_switch(context* from, const context* to);

// Continues on the given stack where the context was recorded.
[[noreturn]] void nopal_arch_resume(const context* at, std::uintptr_t stack_pointer) noexcept;

// Leaves the current stack for good and calls `f(argument)`, which must not return.
[[noreturn]] void nopal_arch_leave(void (*f)(void*), void* argument,
                                   std::uintptr_t stack_pointer) noexcept;

// Calls `f(argument)` on another stack and returns. No exception may leave `f`.
void nopal_arch_call_on(void (*f)(void*), void* argument, std::uintptr_t stack_pointer) noexcept;
}

// How a header calls the first of these. From libnopal.so its address comes from the global offset
// table: around a call through the procedure linkage table an auditor (LD_AUDIT) has a frame.
[[gnu::always_inline]] inline void suspend(context* at, void (*then)(context*, std::uintptr_t)) {
#if defined(NOPAL_SHARED)
  decltype(&nopal_arch_suspend) function;
  asm volatile("movq " NOPAL_TEXT(nopal_arch_suspend) "@GOTPCREL(%%rip), %0" : "=r"(function));
  function(at, then);
#else
  nopal_arch_suspend(at, then);
#endif
}

} // namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::arch
NOPAL_HIDDEN_END

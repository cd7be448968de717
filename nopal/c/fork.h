// SPDX-License-Identifier: MIT
// Fork and join for C: what the C interfaces are made of (fibril.h). For GCC and Clang, C11 and
// later; a C++ program uses nopal::scope.
//
//     struct nopal_c_frame frame;
//     nopal_c_begin(&frame);
//     NOPAL_C_FORK_INTO(&frame, &x, fib, (n - 1));   // x = fib(n - 1); or x in the place of &x
//     NOPAL_C_FORK(&frame, update, (a, n));          // update(a, n)
//     nopal_c_join(&frame);
//
// The rules are those of nopal/fork.h: a frame is a local variable, and only the function that
// declares it begins, forks and joins it. C has no destructors, so the function joins before it
// returns. An exception of C++ that passes a function in C leaves its children unjoined, unless
// the frame has a cleanup function (nopal_c_end) and the file is compiled with -fexceptions.
//
// A fork calls an assembly function (nopal/arch/x86_64_c.S) in the place of the child, as a
// function of the child's type. So the compiler converts the arguments and puts them where the
// child expects them. The frame's address comes in the register of the static chain, which
// functions in C do not use. Six arguments, each a scalar of at most eight bytes, are in registers.
// Of any others some may be on the stack, and the function copies as many words as they take at
// most. One case is not noticed: a parameter of type long double or __int128 to which an argument
// of another type is converted.
#pragma once
#if !defined(__cplusplus)
#pragma GCC system_header // its macros use what ISO C lacks

#include "nopal/arch/c.h"
#include "nopal/arch/offsets_c.h"
#include "nopal/base/refused.h"
#include "nopal/config.h"

#include <stddef.h>
#include <stdint.h>

// What the function has written until now, it has written before its child and its continuation.
#define NOPAL_C_TELL(frame, words) nopal_c_note_fork(frame, words)
#if !defined(__SANITIZE_THREAD__)
#if !defined(__has_feature)
#undef NOPAL_C_TELL
#define NOPAL_C_TELL(frame, words) ((void)0)
#elif !__has_feature(thread_sanitizer)
#undef NOPAL_C_TELL
#define NOPAL_C_TELL(frame, words) ((void)0)
#endif
#endif

// What join::scope_frame is, and one word more. `child` becomes the place of the return address
// when the fork begins; `result` is read when the child has returned.
struct nopal_c_frame {
  uintptr_t child;
  uintptr_t stack_pointer;
  uintptr_t frame_pointer; // its low bits are flags
  uintptr_t preserved[5];
  void* state;
  uintptr_t result;
};
_Static_assert(offsetof(struct nopal_c_frame, child) == NOPAL_AT_RESUME &&
                   offsetof(struct nopal_c_frame, stack_pointer) == NOPAL_AT_STACK_POINTER &&
                   offsetof(struct nopal_c_frame, frame_pointer) == NOPAL_AT_FRAME_POINTER &&
                   offsetof(struct nopal_c_frame, preserved) == NOPAL_AT_PRESERVED &&
                   offsetof(struct nopal_c_frame, result) == NOPAL_AT_RESULT,
               "a frame in C is not what a scope is in C++");

typedef void nopal_c_then(struct nopal_c_frame*, uintptr_t);

NOPAL_HIDDEN_BEGIN
// Assembly that is called as functions of other types: compilers see objects, of no type of call.
#define NOPAL_C_STUBS(name) extern const char nopal_c_fork_##name[], nopal_c_fork_words_##name[]
NOPAL_C_STUBS(0);
NOPAL_C_STUBS(1);
NOPAL_C_STUBS(2);
NOPAL_C_STUBS(4);
NOPAL_C_STUBS(8);
NOPAL_C_STUBS(float);
NOPAL_C_STUBS(double);

// Called by that assembly, with the record of the fork.
_Bool nopal_c_fork_slow(void* fork, void* block);
void nopal_c_child_returned(void* fork, uint32_t bytes);
void nopal_c_child_threw(void* thrown, void* fork);

void nopal_c_note_fork(const struct nopal_c_frame* frame, uintptr_t words); // ThreadSanitizer
int nopal_c_may_fork_slowly(struct nopal_c_frame* frame, uintptr_t caller);
nopal_c_then* nopal_c_before_join(struct nopal_c_frame* frame, uintptr_t caller);
void nopal_c_finish_join(struct nopal_c_frame* frame);
void nopal_c_finish_join_at_end(struct nopal_c_frame* frame);
__attribute__((noreturn, cold)) void nopal_c_left_unjoined(void);
void nopal_arch_suspend(struct nopal_c_frame* frame, nopal_c_then* then);
NOPAL_HIDDEN_END

#define NOPAL_C_INLINE static inline __attribute__((always_inline, unused))
#define NOPAL_C_HERE ((uintptr_t)__builtin_frame_address(0))

NOPAL_C_INLINE void nopal_c_begin(struct nopal_c_frame* frame) {
  NOPAL_APART_FROM_BASE_CASE
  NOPAL_PIN_FRAME
  frame->frame_pointer = NOPAL_C_HERE;
  NOPAL_CHECK_ADDRESS(frame->stack_pointer);
  NOPAL_IF_CHECKED(frame->result = 0);
}

// False: a child has failed or was cancelled, so the next one is not run.
NOPAL_C_INLINE int nopal_c_may_fork(struct nopal_c_frame* frame) {
  return __builtin_expect(frame->frame_pointer == NOPAL_C_HERE, 1) ||
         nopal_c_may_fork_slowly(frame, NOPAL_C_HERE);
}

// Waits for all children; throws what nopal::scope::join throws.
NOPAL_C_INLINE void nopal_c_join(struct nopal_c_frame* frame) {
  if (__builtin_expect((frame->frame_pointer & NOPAL_FRAME_FLAGS) != 0, 0)) {
    nopal_c_then* const then = nopal_c_before_join(frame, NOPAL_C_HERE);
    if (then != 0)
      nopal_arch_suspend(frame, then);
    nopal_c_finish_join(frame);
  }
  NOPAL_IF_CHECKED(frame->result = 0);
}

// The same for the attribute cleanup: while an exception unwinds the function it throws nothing.
NOPAL_C_INLINE void nopal_c_end(struct nopal_c_frame* frame) {
  if (__builtin_expect((frame->frame_pointer & NOPAL_FRAME_FLAGS) != 0, 0)) {
    nopal_c_then* const then = nopal_c_before_join(frame, NOPAL_C_HERE);
    if (then != 0)
      nopal_arch_suspend(frame, then);
    nopal_c_finish_join_at_end(frame);
  }
}

// In check builds, for the attribute cleanup.
NOPAL_C_INLINE void nopal_c_check_joined(const struct nopal_c_frame* frame) {
  if (frame->result != 0)
    nopal_c_left_unjoined();
}
#define NOPAL_C_UNJOINED ((uintptr_t)1)

// An argument's type as a value (of an array or a function: a pointer), its size and its class.
#define NOPAL_C_DECAYED(a) __typeof__(((void)0, (a)))
#define NOPAL_C_SIZE(a) sizeof(NOPAL_C_DECAYED(a))
#define NOPAL_C_CLASS_OF(a) __builtin_classify_type(((void)0, (a)))
#define NOPAL_C_IS_REAL(a) (NOPAL_C_CLASS_OF(a) == 8)
#define NOPAL_C_IS_SCALAR(a)                                                                       \
  (NOPAL_C_SIZE(a) <= 8 &&                                                                         \
   ((NOPAL_C_CLASS_OF(a) >= 1 && NOPAL_C_CLASS_OF(a) <= 5) || NOPAL_C_IS_REAL(a)))
// What an argument takes on the stack, at most: a conversion may make 16 bytes of it.
#define NOPAL_C_WORDS_OF(a)                                                                        \
  ((NOPAL_C_SIZE(a) + 15) / 16 * 2 +                                                               \
   NOPAL_C_REFUSE(NOPAL_C_CLASS_OF(a) < 1 || NOPAL_C_CLASS_OF(a) > 13 ||                           \
                      __alignof__(NOPAL_C_DECAYED(a)) > 16 || NOPAL_C_SIZE(a) > 4096,              \
                  "nopal: a fork in C takes no vectors, and nothing that is aligned to more than " \
                  "16 bytes or has more than 4096; pass a pointer"))
#define NOPAL_C_REFUSE(refused, reason)                                                            \
  (0 * sizeof(struct {                                                                             \
     _Static_assert(!(refused), reason);                                                           \
     char nopal_c_member;                                                                          \
   }))

// clang-format off
#define NOPAL_C_COUNT(...)                                                                         \
  NOPAL_C_26TH(0 __VA_OPT__(,) __VA_ARGS__, 17, 17, 17, 17, 17, 17, 17, 17,                        \
               16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 0)
#define NOPAL_C_26TH(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y,    \
                     z, ...) z
#define NOPAL_C_SCALARS_0() 1
#define NOPAL_C_SCALARS_1(a) NOPAL_C_IS_SCALAR(a)
#define NOPAL_C_SCALARS_2(a, ...) NOPAL_C_IS_SCALAR(a) && NOPAL_C_SCALARS_1(__VA_ARGS__)
#define NOPAL_C_SCALARS_3(a, ...) NOPAL_C_IS_SCALAR(a) && NOPAL_C_SCALARS_2(__VA_ARGS__)
#define NOPAL_C_SCALARS_4(a, ...) NOPAL_C_IS_SCALAR(a) && NOPAL_C_SCALARS_3(__VA_ARGS__)
#define NOPAL_C_SCALARS_5(a, ...) NOPAL_C_IS_SCALAR(a) && NOPAL_C_SCALARS_4(__VA_ARGS__)
#define NOPAL_C_SCALARS_6(a, ...) NOPAL_C_IS_SCALAR(a) && NOPAL_C_SCALARS_5(__VA_ARGS__)
#define NOPAL_C_SCALARS_7(a, ...) NOPAL_C_IS_SCALAR(a) && NOPAL_C_SCALARS_6(__VA_ARGS__)
#define NOPAL_C_SCALARS_8(a, ...) NOPAL_C_IS_SCALAR(a) && NOPAL_C_SCALARS_7(__VA_ARGS__)
#define NOPAL_C_SCALARS_9(a, ...) NOPAL_C_IS_SCALAR(a) && NOPAL_C_SCALARS_8(__VA_ARGS__)
#define NOPAL_C_SCALARS_10(a, ...) NOPAL_C_IS_SCALAR(a) && NOPAL_C_SCALARS_9(__VA_ARGS__)
#define NOPAL_C_SCALARS_11(a, ...) NOPAL_C_IS_SCALAR(a) && NOPAL_C_SCALARS_10(__VA_ARGS__)
#define NOPAL_C_SCALARS_12(a, ...) NOPAL_C_IS_SCALAR(a) && NOPAL_C_SCALARS_11(__VA_ARGS__)
#define NOPAL_C_SCALARS_13(a, ...) NOPAL_C_IS_SCALAR(a) && NOPAL_C_SCALARS_12(__VA_ARGS__)
#define NOPAL_C_SCALARS_14(a, ...) NOPAL_C_IS_SCALAR(a) && NOPAL_C_SCALARS_13(__VA_ARGS__)
#define NOPAL_C_SCALARS_15(a, ...) NOPAL_C_IS_SCALAR(a) && NOPAL_C_SCALARS_14(__VA_ARGS__)
#define NOPAL_C_SCALARS_16(a, ...) NOPAL_C_IS_SCALAR(a) && NOPAL_C_SCALARS_15(__VA_ARGS__)
#define NOPAL_C_SCALARS_17(...)                                                                  \
  NOPAL_C_REFUSE(1, "nopal: a fork in C takes at most 16 arguments; pass a pointer to a struct")
#define NOPAL_C_WORDS_0() 0
#define NOPAL_C_WORDS_1(a) NOPAL_C_WORDS_OF(a)
#define NOPAL_C_WORDS_2(a, ...) NOPAL_C_WORDS_OF(a) + NOPAL_C_WORDS_1(__VA_ARGS__)
#define NOPAL_C_WORDS_3(a, ...) NOPAL_C_WORDS_OF(a) + NOPAL_C_WORDS_2(__VA_ARGS__)
#define NOPAL_C_WORDS_4(a, ...) NOPAL_C_WORDS_OF(a) + NOPAL_C_WORDS_3(__VA_ARGS__)
#define NOPAL_C_WORDS_5(a, ...) NOPAL_C_WORDS_OF(a) + NOPAL_C_WORDS_4(__VA_ARGS__)
#define NOPAL_C_WORDS_6(a, ...) NOPAL_C_WORDS_OF(a) + NOPAL_C_WORDS_5(__VA_ARGS__)
#define NOPAL_C_WORDS_7(a, ...) NOPAL_C_WORDS_OF(a) + NOPAL_C_WORDS_6(__VA_ARGS__)
#define NOPAL_C_WORDS_8(a, ...) NOPAL_C_WORDS_OF(a) + NOPAL_C_WORDS_7(__VA_ARGS__)
#define NOPAL_C_WORDS_9(a, ...) NOPAL_C_WORDS_OF(a) + NOPAL_C_WORDS_8(__VA_ARGS__)
#define NOPAL_C_WORDS_10(a, ...) NOPAL_C_WORDS_OF(a) + NOPAL_C_WORDS_9(__VA_ARGS__)
#define NOPAL_C_WORDS_11(a, ...) NOPAL_C_WORDS_OF(a) + NOPAL_C_WORDS_10(__VA_ARGS__)
#define NOPAL_C_WORDS_12(a, ...) NOPAL_C_WORDS_OF(a) + NOPAL_C_WORDS_11(__VA_ARGS__)
#define NOPAL_C_WORDS_13(a, ...) NOPAL_C_WORDS_OF(a) + NOPAL_C_WORDS_12(__VA_ARGS__)
#define NOPAL_C_WORDS_14(a, ...) NOPAL_C_WORDS_OF(a) + NOPAL_C_WORDS_13(__VA_ARGS__)
#define NOPAL_C_WORDS_15(a, ...) NOPAL_C_WORDS_OF(a) + NOPAL_C_WORDS_14(__VA_ARGS__)
#define NOPAL_C_WORDS_16(a, ...) NOPAL_C_WORDS_OF(a) + NOPAL_C_WORDS_15(__VA_ARGS__)
#define NOPAL_C_WORDS_17(...) 0
// clang-format on
#define NOPAL_C_OF_EACH(what, n, ...) NOPAL_JOIN_NAMES(what, n)(__VA_ARGS__)
#define NOPAL_C_SCALARS(...)                                                                       \
  (NOPAL_C_OF_EACH(NOPAL_C_SCALARS_, NOPAL_C_COUNT(__VA_ARGS__), __VA_ARGS__))
#define NOPAL_C_ARE_MANY(...) (NOPAL_C_COUNT(__VA_ARGS__) > 6)
// Of scalars that stay scalars at most six lie in registers, or more if some are real.
#define NOPAL_C_WORDS(...)                                                                         \
  (NOPAL_C_SCALARS(__VA_ARGS__)                                                                    \
       ? NOPAL_C_ARE_MANY(__VA_ARGS__) ? (NOPAL_C_COUNT(__VA_ARGS__) - 5) / 2 * 2 : 0              \
       : NOPAL_C_OF_EACH(NOPAL_C_WORDS_, NOPAL_C_COUNT(__VA_ARGS__), __VA_ARGS__))

// The type of a pointer to the function that `fn` is or points to. What its declaration says of it
// (const, pure) does not hold for its fork.
#define NOPAL_C_POINTER(fn)                                                                        \
  __typeof__(__builtin_choose_expr(                                                                \
      __builtin_types_compatible_p(__typeof__(fn), __typeof__(&*(fn))), (fn), (__typeof__(fn)*)0))

// An operand of type T that is never evaluated.
#define NOPAL_C_SOME(T) (*(T*)16)
// Where a result of type T goes, given a variable of that type or a pointer to one.
#define NOPAL_C_IS_VARIABLE(T, given) __builtin_types_compatible_p(T, __typeof__(given))
#define NOPAL_C_IS_POINTER(T, given)                                                               \
  (__builtin_types_compatible_p(T*, NOPAL_C_DECAYED(given)) ||                                     \
   __builtin_types_compatible_p(volatile T*, NOPAL_C_DECAYED(given)))
#define NOPAL_C_PLACE(T, given)                                                                    \
  __builtin_choose_expr(                                                                           \
      NOPAL_C_IS_VARIABLE(T, given),                                                               \
      &__builtin_choose_expr(NOPAL_C_IS_VARIABLE(T, given), given, NOPAL_C_SOME(T)),               \
      __builtin_choose_expr(NOPAL_C_IS_POINTER(T, given), given, (T*)0))
#define NOPAL_C_IS_STORED(T)                                                                       \
  (NOPAL_C_IS_SCALAR(NOPAL_C_SOME(T)) && (!NOPAL_C_IS_REAL(NOPAL_C_SOME(T)) || sizeof(T) >= 4))
#define NOPAL_C_FORK_OF(T, words)                                                                  \
  ((uintptr_t)(NOPAL_C_IS_REAL(NOPAL_C_SOME(T))                                                    \
                   ? sizeof(T) == 4 ? NOPAL_C_STUB(float, words) : NOPAL_C_STUB(double, words)     \
               : sizeof(T) == 1 ? NOPAL_C_STUB(1, words)                                           \
               : sizeof(T) == 2 ? NOPAL_C_STUB(2, words)                                           \
               : sizeof(T) == 4 ? NOPAL_C_STUB(4, words)                                           \
                                : NOPAL_C_STUB(8, words)))
#define NOPAL_C_STUB(name, words) ((words) == 0 ? nopal_c_fork_##name : nopal_c_fork_words_##name)

// Clang warns that what the child is to initialise may not be initialised, as the child may be
// skipped: but then the join throws.
#if defined(__clang__)
// clang-format off
#define NOPAL_C_QUIET                                                                              \
  _Pragma("clang diagnostic push")                                                                 \
  _Pragma("clang diagnostic ignored \"-Wsometimes-uninitialized\"")
// clang-format on
#define NOPAL_C_LOUD _Pragma("clang diagnostic pop")
#else
#define NOPAL_C_QUIET
#define NOPAL_C_LOUD
#endif

#define NOPAL_C_KIND(words) ((words) == 0 ? NOPAL_INTO_PLACE : 0) // join::fork_kind; 0: plain
#define NOPAL_C_FORK_BY(frame, stored, place, by, keep, fn, args)                                  \
  do {                                                                                             \
    NOPAL_C_QUIET                                                                                  \
    struct nopal_c_frame* const nopal_c_at = (frame);                                              \
    const uintptr_t nopal_c_place = (place);                                                       \
    enum { nopal_c_words = NOPAL_C_WORDS args, nopal_c_stored = (stored) };                        \
    if (nopal_c_may_fork(nopal_c_at)) {                                                            \
      keep __builtin_call_with_static_chain(((NOPAL_C_POINTER(fn))(by))args, __extension__({       \
                                              NOPAL_POP_ARGUMENTS                                  \
                                              nopal_c_at->child = (uintptr_t)(fn);                 \
                                              if (nopal_c_stored)                                  \
                                                nopal_c_at->result = nopal_c_place;                \
                                              if (nopal_c_words != 0) {                            \
                                                nopal_c_at->preserved[0] = nopal_c_words;          \
                                                NOPAL_STORE_STACK_POINTER(                         \
                                                    nopal_c_at->preserved[1]);                     \
                                              }                                                    \
                                              NOPAL_C_TELL(nopal_c_at, nopal_c_words);             \
                                              (char*)nopal_c_at + NOPAL_C_KIND(nopal_c_words);     \
                                            }));                                                   \
      NOPAL_POP_ARGUMENTS                                                                          \
      NOPAL_IF_CHECKED(nopal_c_at->result = NOPAL_C_UNJOINED);                                     \
    }                                                                                              \
    NOPAL_C_LOUD                                                                                   \
  } while (0)

#define NOPAL_C_FORK(frame, fn, args)                                                              \
  NOPAL_C_FORK_BY(frame, 0, 0, (uintptr_t)NOPAL_C_STUB(0, nopal_c_words), (void), fn, args)

// The function's result goes to `given`, a variable or a pointer to one.
#define NOPAL_C_FORK_INTO(frame, given, fn, args)                                                  \
  do {                                                                                             \
    typedef __typeof__((fn)args) nopal_c_type;                                                     \
    _Static_assert(NOPAL_C_IS_STORED(nopal_c_type),                                                \
                   "nopal: a fork in C stores integers, pointers, float and double; a child that " \
                   "returns something else stores it through a pointer");                          \
    _Static_assert(NOPAL_C_IS_VARIABLE(nopal_c_type, given) ||                                     \
                       NOPAL_C_IS_POINTER(nopal_c_type, given),                                    \
                   "nopal: the result of a fork goes to a variable of the type that the function " \
                   "returns, or to a pointer to one");                                             \
    NOPAL_C_FORK_BY(frame, 1, (uintptr_t)NOPAL_C_PLACE(nopal_c_type, given),                       \
                    NOPAL_C_FORK_OF(nopal_c_type, nopal_c_words),                                  \
                    __attribute__((unused)) const nopal_c_type nopal_c_nothing =, fn, args);       \
  } while (0)

#endif

// SPDX-License-Identifier: MIT
// As mapped.h, but each child begins at a page's boundary, so that no thief needs to
// (cilk-m-pact10, footnote 8). The paper leaves that out, for the pages that it costs.
#pragma once

#include "bench/backend/mapped.h"

#include <cstdint>

#undef BENCH_FORK
#undef BENCH_FORK_VOID
#define BENCH_FORK(s, result, fn, ...)                                                             \
  s.fork(                                                                                          \
      result,                                                                                      \
      [](auto... arguments) {                                                                      \
        return bench::call_on_next_page([](auto... own) { return fn(own...); }, arguments...);     \
      },                                                                                           \
      __VA_ARGS__)
#define BENCH_FORK_VOID(s, fn, ...)                                                                \
  s.fork(                                                                                          \
      [](auto... arguments) {                                                                      \
        bench::call_on_next_page([](auto... own) { fn(own...); }, arguments...);                   \
      },                                                                                           \
      __VA_ARGS__)

namespace bench {

template <class F, class... Args> [[gnu::noinline]] auto call_apart(F f, Args... args) {
  return f(args...);
}

// What alloca returns is where the next call pushes its return address.
template <class F, class... Args> [[gnu::noinline]] auto call_on_next_page(F f, Args... args) {
  constexpr std::uintptr_t page = 4096;
  void* const top = __builtin_alloca(16);
  void* const boundary = __builtin_alloca(reinterpret_cast<std::uintptr_t>(top) % page);
  asm volatile("" : : "r"(boundary) : "memory");
  return call_apart(f, args...);
}

} // namespace bench

// SPDX-License-Identifier: MIT
// Coroutines that call what forks. A coroutine's variables lie on the heap, and what a compiler
// inlines into it may, too; but the scopes of the library's own functions lie in their frames.
#include "tests/matrix/matrix.h"

#if defined(__cpp_impl_coroutine)
#include <nopal/affine.h>
#include <nopal/arena.h>
#include <nopal/blocking.h>
#include <nopal/either.h>
#include <nopal/find.h>
#include <nopal/invoke.h>
#include <nopal/loop.h>

#include <coroutine>
#include <exception>
#include <functional>
#include <optional>
#include <utility>
#include <vector>
#endif

namespace matrix {
#if defined(__cpp_impl_coroutine)
namespace coroutines { // GCC warns of frames whose types have no name outside

class coroutine {
public:
  struct promise_type {
    long result = 0;

    coroutine get_return_object() {
      return coroutine{std::coroutine_handle<promise_type>::from_promise(*this)};
    }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_value(long value) noexcept { result = value; }
    void unhandled_exception() noexcept { std::terminate(); }
  };

  explicit coroutine(std::coroutine_handle<promise_type> handle) : handle_{handle} {}
  coroutine(coroutine&& other) noexcept : handle_{std::exchange(other.handle_, nullptr)} {}
  coroutine& operator=(coroutine&&) = delete;
  ~coroutine() {
    if (handle_)
      handle_.destroy();
  }
  long result() {
    while (!handle_.done())
      handle_.resume();
    return handle_.promise().result;
  }

private:
  std::coroutine_handle<promise_type> handle_;
};

constexpr std::suspend_always suspend;

// Each of these is 2 * n, whatever runs in parallel.
struct by_invoke {
  static long twice(long n) {
    const auto [x, y] = nopal::invoke([n] { return n + fib(kBusy); }, [n] { return n; });
    return x + y - kBusyResult;
  }
};
struct by_either {
  static long twice(long n) {
    return *nopal::either([n] { return std::optional{2 * n}; },
                          [n] { return fib(kBusy) < 0 ? std::optional{n} : std::nullopt; });
  }
};
struct by_either_with_losers { // the scope is a user's, and so in a function of its own
  [[gnu::noinline]] static long twice(long n) {
    nopal::cancel_scope losers;
    return *nopal::either(losers, [n] { return std::optional{2 * n}; });
  }
};
struct by_for_index {
  static long twice(long n) {
    std::atomic<long> sum{0};
    nopal::for_index(0, 20, [&sum, n](int) { sum += n; }, 1);
    return sum / 10;
  }
};
struct by_for_each {
  static long twice(long n) {
    std::vector<long> all(20, n);
    nopal::for_each(all, [](long& each) { each *= 2; }, 1);
    return all[7];
  }
};
struct by_reduce {
  static long twice(long n) {
    return nopal::reduce(0L, 2L, 0L, std::plus<>{}, [n](long) { return n; }, 1);
  }
};
struct by_reduce_while {
  static long twice(long n) {
    const auto map = [n](int i) { return i < 2 ? std::optional{n} : std::nullopt; };
    return nopal::reduce_while(0, 20, 0L, std::plus<>{}, map, 1);
  }
};
struct by_find_if {
  static long twice(long n) {
    const std::vector<long> all{n, n + 1, 2 * n, 2 * n + 1};
    const auto found = nopal::find_if(all, [n](long each) { return each > n + 1; }, 1);
    return found == all.end() ? 0 : *found;
  }
};
struct by_for_index_while {
  static long twice(long n) {
    return nopal::for_index_while(0L, 100L, [n](long i) { return i < 2 * n; }, 1);
  }
};
struct by_shielded {
  static long twice(long n) {
    return nopal::shielded([n] { return 2 * n + fib(kBusy) - kBusyResult; });
  }
};
struct by_affine {
  static long twice(long n) {
    return nopal::affine([n] { return 2 * n + fib(kBusy) - kBusyResult; });
  }
};
struct by_arena {
  static long twice(long n) {
    return nopal::arena{2}.run([n] { return 2 * n + fib(kBusy) - kBusyResult; });
  }
};
struct by_blocking {
  static long twice(long n) {
    return nopal::blocking([n] { return 2 * n; });
  }
};

template <class By> coroutine at_once(long n) { co_return By::twice(n); }
template <class By> coroutine before(long n) {
  const long result = By::twice(n);
  co_await suspend;
  co_return result;
}
template <class By> coroutine after(long n) {
  co_await suspend;
  co_return By::twice(n);
}
template <class By> coroutine in_a_loop(long n) {
  long result = 0;
  for (int i = 0; i < 3; ++i) {
    result += By::twice(n);
    co_await suspend;
    result -= By::twice(n);
  }
  co_return result + 2 * n;
}

// Called once, so that Clang inlines all of an invoke, or an either, into the coroutine.
[[gnu::noinline]] long work(long n) { return n < 2 ? n : work(n - 1) + work(n - 2); }
coroutine invokes_once(int n) {
  const auto [x, y] = nopal::invoke([n] { return work(n); }, [n] { return work(n - 1); });
  co_return x + y;
}
coroutine alternates_once(int n) {
  const auto x = nopal::either([n] { return work(n); }, [n] { return work(n); });
  co_return *x;
}
void called_once(const char* name, int) {
  expect(invokes_once(opaque(12)).result() == 233, name, "invoke");
  expect(alternates_once(opaque(12)).result() == 144, name, "either");
}

template <class By> void all_forms(const char* name, int round) {
  const long n = opaque(10L + round % 5);
  expect(at_once<By>(n).result() == 2 * n, name, "without a suspension");
  expect(before<By>(n).result() == 2 * n, name, "before a suspension");
  expect(after<By>(n).result() == 2 * n, name, "after a suspension");
  expect(in_a_loop<By>(n).result() == 2 * n, name, "in a loop");
}

} // namespace coroutines

const program coroutine_programs[] = {
    {"coroutine: called once", coroutines::called_once},
    {"coroutine: invoke", coroutines::all_forms<coroutines::by_invoke>},
    {"coroutine: either", coroutines::all_forms<coroutines::by_either>},
    {"coroutine: either with losers", coroutines::all_forms<coroutines::by_either_with_losers>},
    {"coroutine: for_index", coroutines::all_forms<coroutines::by_for_index>},
    {"coroutine: for_each", coroutines::all_forms<coroutines::by_for_each>},
    {"coroutine: reduce", coroutines::all_forms<coroutines::by_reduce>},
    {"coroutine: reduce_while", coroutines::all_forms<coroutines::by_reduce_while>},
    {"coroutine: find_if", coroutines::all_forms<coroutines::by_find_if>},
    {"coroutine: for_index_while", coroutines::all_forms<coroutines::by_for_index_while>},
    {"coroutine: shielded", coroutines::all_forms<coroutines::by_shielded>},
    {"coroutine: affine", coroutines::all_forms<coroutines::by_affine>},
    {"coroutine: arena", coroutines::all_forms<coroutines::by_arena>},
    {"coroutine: blocking", coroutines::all_forms<coroutines::by_blocking>},
    {nullptr, nullptr},
};
#else // a compiler that knows no coroutines of C++20
const program coroutine_programs[] = {{nullptr, nullptr}};
#endif
} // namespace matrix

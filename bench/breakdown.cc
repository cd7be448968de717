// SPDX-License-Identifier: MIT
// What a fork is made of, after Figure 10 of manticore-icfp08: fib with parts of it, by the code of
// the headers itself. --n is 100 times the number of a part, plus the number that fib is given.
//
// Native forks, each with all that the parts before it have:
//
//    0  a call, not inlined
//    1  the scope: its frame is pinned, and its frame pointer stored
//    2  the stub: records the caller in the scope, and jumps to the thunk
//    3  the record, marked as an open fork
//    4  the limit: whether a thief wants attention
//    5  the mark is closed, and tells whether a thief has claimed the fork
//    6  the exceptions of the thread and of the child, and the test of a join
//    7  the whole: nopal::scope
//    8  a region's node beside: nopal::cancel_scope
//
// A fiber for each fork, which sets an ivar, by work stealing. Each part alone beside the call:
//
//   10  the call, as 0
//   11  a closure on the heap, called and freed
//   12  an ivar, set and read
//   13  the context of the calling fiber, looked up as a spawn does
//   14  a fiber counted in its computation, when it begins and when it ends
//   15  a stack taken from the pool, run on, and given back
//   16  as 10, with two changes of stacks: a strand leaves its own and goes on
//   17  as 16, but each time it is ready in between: the scheduler is given it, asked, and gives it
//   18  the whole
//
// The whole less the parts is what they do not explain.
#include <nopal/affine.h>
#include <nopal/cancel.h>
#include <nopal/fork.h>
#include <nopal/future.h>
#include <nopal/policies.h>
#include <nopal/runtime.h>
#include <nopal/sched/park.h>
#include <nopal/stack/small.h>
#include <nopal/vproc/ready.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "bench/harness.h"

namespace bench {
namespace {

using nopal::join::fork_record;
using nopal::join::scope_frame;

enum part : int {
  call = 0,
  scope_made,
  stub,
  record,
  limit,
  closed,
  exceptions,
  fork,
  cancellable_fork,
  fiber_call = 10,
  closure,
  ivar,
  context,
  count,
  stack,
  switches,
  scheduling,
  fiber
};

// A call that is no copy with other parameters (serial_call.h).
#if defined(__clang__)
#define BENCH_CALL [[gnu::noinline]]
#else
#define BENCH_CALL [[gnu::noinline, gnu::noclone]]
#endif

// The parts of a native fork.

template <part Until> BENCH_CALL long fib(long n);

template <part Until> struct call_fib {
  long operator()(long n) const { return fib<Until>(n); }
};

// Restores the limit, as the slow path does. With one worker nobody wants a fork.
[[gnu::noinline, gnu::cold]] void attend() {
  nopal::vproc::current()->adopt_late();
  nopal::vproc::current()->deque.attend();
}
[[noreturn, gnu::noinline, gnu::cold]] void was_stolen() {
  throw std::logic_error("a fork was stolen, but there is one worker");
}

template <part Until>
NOPAL_THUNK_FUNCTION void thunk(scope_frame* scope, nopal::sched::into<long, call_fib<Until>> f,
                                long n) {
  auto child = [=]() mutable { nopal::base::call(f, n); };
  if constexpr (Until == stub) {
    child();
    asm volatile(""); // the call is no jump
  } else {
    fork_record opened{scope};
    if constexpr (Until == record) {
      nopal::stack::marks::open(&opened);
      nopal::base::light_barrier();
      child();
      asm volatile("" : : "m"(opened));
    } else {
      nopal::vproc::worker_deque* const self = nopal::vproc::current_deque();
      if constexpr (Until == exceptions)
        if (self->exceptions->alive()) [[unlikely]]
          was_stolen();
      if (!self->deque.push(&opened)) [[unlikely]]
        attend();
      if constexpr (Until == exceptions) {
        nopal::sched::run_opened(opened, child);
      } else {
        child();
        if constexpr (Until == closed)
          if (!nopal::vproc::pop(&opened)) [[unlikely]]
            was_stolen();
        asm volatile("" : : "m"(opened));
      }
    }
  }
}

template <part Until> class partial_scope {
public:
  [[gnu::always_inline]] partial_scope() noexcept {
    NOPAL_PIN_FRAME
    frame_.frame_pointer = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  }
  [[gnu::always_inline]] void fork(long& result, long n) {
    if constexpr (Until == scope_made) {
      result = fib<Until>(n);
      asm volatile("" : : "m"(frame_.frame_pointer));
    } else {
      nopal::sched::through_stub<thunk<Until>>(
          &frame_, nopal::sched::into<long, call_fib<Until>>{&result, {}}, n);
    }
  }
  [[gnu::always_inline]] void join() {
    if constexpr (Until == exceptions)
      if (frame_.needs_join()) [[unlikely]]
        was_stolen();
  }

private:
  scope_frame frame_;
};

struct no_scope {
  void fork(long& result, long n) { result = fib<call>(n); }
  void join() {}
};
template <part Until> BENCH_CALL long fib(long n) {
  if (n < 2)
    return n;
  long x = 0;
  if constexpr (Until == fork || Until == cancellable_fork) {
    std::conditional_t<Until == fork, nopal::scope, nopal::cancel_scope> s;
    s.fork(x, call_fib<Until>{}, n - 1);
    const long y = fib<Until>(n - 2);
    s.join();
    return x + y;
  } else {
    std::conditional_t<Until == call, no_scope, partial_scope<Until>> s;
    s.fork(x, n - 1);
    const long y = fib<Until>(n - 2);
    s.join();
    return x + y;
  }
}

// The parts of a fiber with an ivar.

using nopal::vproc::signal;

template <part Part> BENCH_CALL long fiber_fib(long n);

template <part Part> void run_child(long& x, long n) {
  if constexpr (Part == closure) {
    auto child = [&x, n] { x = fiber_fib<Part>(n); };
    nopal::fibers::spawned* made = new nopal::detail::spawned_function<decltype(child)>(child);
    asm volatile("" : "+r"(made)); // which function it has is not known
    made->call(made);
    made->end(made);
  } else if constexpr (Part == stack) {
    const nopal::stack::stack_id on = nopal::stack::small::acquire();
    auto child = [&x, n] { x = fiber_fib<Part>(n); };
    nopal::arch::nopal_arch_call_on([](void* f) { (*static_cast<decltype(child)*>(f))(); }, &child,
                                    nopal::stack::frames_top(on));
    nopal::stack::small::release(on);
  } else {
    x = fiber_fib<Part>(n);
  }
}

template <part Part> void do_beside(const nopal::vproc::fiber_context* running) {
  if constexpr (Part == context) {
    asm volatile("" : : "r"(nopal::sched::current_context()));
  } else if constexpr (Part == count) {
    running->computation->begin_one();
    static_cast<void>(running->computation->end_one());
  } else if constexpr (Part == switches || Part == scheduling) {
    for (int i = 0; i < 2; ++i)
      nopal::sched::park([](nopal::vproc::fiber* strand) {
        if constexpr (Part == switches)
          return signal::enter(strand);
        nopal::vproc::make_ready(strand);
        return signal::stop();
      });
  }
}

const nopal::vproc::fiber_context* root = nullptr; // of the fiber that runs all of it

template <part Part> BENCH_CALL long fiber_fib(long n) {
  if (n < 2)
    return n;
  long x = 0;
  if constexpr (Part == fiber) {
    nopal::ivar<bool> done;
    nopal::spawn([&x, &done, n] {
      x = fiber_fib<Part>(n - 1);
      done.set(true);
    });
    const long y = fiber_fib<Part>(n - 2);
    done.get();
    return x + y;
  } else if constexpr (Part == ivar) {
    nopal::ivar<bool> done;
    x = fiber_fib<Part>(n - 1);
    done.set(true);
    const long y = fiber_fib<Part>(n - 2);
    done.get();
    return x + y;
  } else {
    run_child<Part>(x, n - 1);
    const long y = fiber_fib<Part>(n - 2);
    do_beside<Part>(root);
    return x + y;
  }
}

using function = long (*)(long);

template <part... Parts> function forks_with(int which) {
  function found = nullptr;
  static_cast<void>(((Parts == which ? (found = fib<Parts>, true) : false) || ...));
  return found;
}
template <part... Parts> function fibers_with(int which) {
  function found = nullptr;
  static_cast<void>(((Parts == which ? (found = fiber_fib<Parts>, true) : false) || ...));
  return found;
}

class breakdown final : public experiment {
public:
  explicit breakdown(const input& in)
      : which_{static_cast<int>(in.n.value_or(0) / 100)}, given_{in.n.value_or(20) % 100},
        by_forks_{forks_with<call, scope_made, stub, record, limit, closed, exceptions, fork,
                             cancellable_fork>(which_)},
        by_fibers_{fibers_with<fiber_call, closure, ivar, context, count, stack, switches,
                               scheduling, fiber>(which_)} {
    if (by_forks_ == nullptr && by_fibers_ == nullptr)
      throw std::invalid_argument("--n " + std::to_string(in.n.value_or(0)) +
                                  " names no part; accepted are 0 to 8 and 10 to 18, times 100, "
                                  "plus the number that fib is given");
    nopal::options asked;
    asked.num_workers = 1;
    nopal::configure(asked);
  }

  long n() const override { return 100L * which_ + given_; }
  std::uint64_t forks() const override {
    return static_cast<std::uint64_t>(fib_of(given_ + 1)) - 1;
  }
  void prepare() override {}
  void warm_up() override {}
  void compute() override {
    if (by_forks_ != nullptr)
      nopal::affine([this] { time(by_forks_); }); // a strand with a stack of its own
    else
      nopal::run(order_, [this] {
        root = nopal::sched::current_context();
        time(by_fibers_);
      });
  }
  bool verify() override { return result_ == fib_of(given_); }
  counters read_counters() const override { return {}; }
  std::map<std::string, double> metrics() const override {
    return {{"ns", ns_ / static_cast<double>(forks())}};
  }

private:
  static long fib_of(long n) {
    long current = 0;
    for (long next = 1; n > 0; --n)
      current = std::exchange(next, current + next);
    return current;
  }

  void time(function f) {
    using clock = std::chrono::steady_clock;
    const auto begin = clock::now();
    result_ = f(given_);
    ns_ = std::chrono::duration<double, std::nano>(clock::now() - begin).count();
  }

  const int which_;
  const long given_;
  const function by_forks_;
  const function by_fibers_;
  nopal::work_stealing order_;
  long result_ = -1;
  double ns_ = 0;
};

} // namespace
} // namespace bench

int main(int argc, char** argv) {
  const bench::program what{
      "breakdown", BENCH_RUNTIME, true, true, false, [](const bench::input& in, unsigned) {
        return std::make_unique<bench::breakdown>(in);
      }};
  return bench::run_program(what, argc, argv);
}

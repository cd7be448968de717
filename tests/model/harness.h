// SPDX-License-Identifier: MIT
// What the models share: the runner of scenarios under Relacy's schedulers, and the runtime's
// system calls and fatal errors as a model sees them.
//
// A scenario is a struct derived from `scenario`: its data members are the shared state, made anew
// for each execution; `thread(i)` is what thread i does; `after()` checks the end. Data races,
// deadlocks, livelocks, uninitialised reads and failed checks end a run.
#pragma once

#include "nopal/base/atomic.h"
#include "nopal/base/die.h"
#include "nopal/base/os.h"
#include "nopal/config.h"

#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <limits>
#include <ostream>
#include <streambuf>

namespace nopal::model {

inline constexpr int max_threads = 4;

// Which thread sleeps on which futex. Sleeping and waking order no memory: the word's own orders
// decide what a sleeper may read after it was woken.
class futex_table {
public:
  void clear() noexcept { count_ = 0; }

  // A sleeper may wake up without being woken, if `may_err`.
  void wait(const base::atomic<std::uint32_t>& word, std::uint32_t expected,
            bool may_err = true) noexcept {
    const rl::debug_info call_site = base::model_info(base::place::current());
    if (word.newest() != expected) {
      rl::yield(
          1, call_site); // the change is seen some time: without it the caller could loop for ever
      return;
    }
    rl::context& context = rl::ctx();
    const int self = context.current_thread();
    sleepers_[count_++] = {&word, self};
    if (context.park_current_thread(false, may_err, false, call_site) != rl::unpark_reason_normal)
      remove(index_of(self));
  }

  void wake_one(const base::atomic<std::uint32_t>& word) noexcept {
    for (int i = 0; i < count_; ++i) {
      if (sleepers_[i].word != &word)
        continue;
      const int thread = sleepers_[i].thread;
      remove(i);
      rl::ctx().unpark_thread(thread, false, base::model_info(base::place::current()));
      return;
    }
  }

private:
  struct sleeper {
    const void* word;
    int thread;
  };

  int index_of(int thread) const noexcept {
    int i = 0;
    while (i < count_ && sleepers_[i].thread != thread)
      ++i;
    return i;
  }
  void remove(int at) noexcept {
    for (int i = at + 1; i < count_; ++i)
      sleepers_[i - 1] = sleepers_[i];
    --count_;
  }

  sleeper sleepers_[max_threads]{};
  int count_ = 0;
};

inline futex_table futexes;

template <class Derived, int Threads> struct scenario : rl::test_suite<Derived, Threads> {
  static_assert(Threads <= max_threads);
  // Calibration: a known bug that the harness must find, as a race or a failed check.
  static constexpr bool must_fail = false;
  scenario() { futexes.clear(); }
};

// How long a thread waits.
inline constexpr auto for_ever = [] { return std::numeric_limits<std::int64_t>::max(); };

inline void check(bool condition, const char* what,
                  base::place at = base::place::current()) noexcept {
  if (!condition)
    rl::ctx().fail_test(what, rl::test_result_user_assert_failed, base::model_info(at));
}

// Relacy's report, kept until it is known whether anybody wants to read it. It is written while
// allocations are counted as the model's, so it must not allocate.
class report final : public std::streambuf {
public:
  report() noexcept { clear(); }
  void clear() noexcept { setp(text_, text_ + sizeof text_); }
  void print() const {
    std::fwrite(pbase(), 1, static_cast<std::size_t>(pptr() - pbase()), stdout);
  }

private:
  static inline char text_[1 << 22];
};

// How many executions a search of all schedules may have.
inline std::uint64_t search_limit = std::numeric_limits<std::uint64_t>::max();

template <rl::thread_id_t Threads, template <rl::thread_id_t> class Scheduler>
struct limited : Scheduler<Threads> {
  using Scheduler<Threads>::Scheduler;
  bool iteration_end() { return Scheduler<Threads>::iteration_end() || ++ended_ >= search_limit; }

private:
  std::uint64_t ended_ = 0;
};

class runner {
public:
  // The one argument a model takes: the number of random executions of each scenario. Then no
  // search of all schedules takes more than a hundred times as many.
  runner(int argc, char** argv) noexcept {
    if (argc == 1)
      return;
    const char* end = argv[1] + std::strlen(argv[1]);
    const auto [stop, error] = std::from_chars(argv[1], end, executions_);
    if (argc == 2 && error == std::errc{} && stop == end && executions_ > 0) {
      search_limit = 100 * executions_;
      return;
    }
    std::fprintf(stderr, "usage: %s [EXECUTIONS]: one positive number is accepted\n", argv[0]);
    std::exit(2);
  }

  // Random schedules, `share` times as many as asked for.
  template <class Scenario> void random(const char* name, double share = 1) {
    rl::test_params params;
    params.search_type = rl::sched_random;
    params.iteration_count = static_cast<rl::iteration_t>(static_cast<double>(executions_) * share);
    run<Scenario, rl::random_scheduler>(name, "random", params);
  }

  // Every schedule with at most `switches` preemptions, and every value a load may return.
  template <class Scenario> void bounded(const char* name, unsigned switches) {
    rl::test_params params;
    params.search_type = rl::sched_bound;
    params.context_bound = switches;
    char how[32];
    std::snprintf(how, sizeof how, "all, %u preempt.", switches);
    run<Scenario, rl::context_bound_scheduler>(name, how, params);
  }

  // Every schedule.
  template <class Scenario> void full(const char* name) {
    rl::test_params params;
    params.search_type = rl::sched_full;
    run<Scenario, rl::full_search_scheduler>(name, "all", params);
  }

  static void section(const char* title) { std::printf("%s:\n", title); }

  int result() const noexcept {
    std::printf("%d runs, %llu executions, %d failed\n", runs_,
                static_cast<unsigned long long>(executed_), failed_);
    return failed_ == 0 && runs_ > 0 ? 0 : 1;
  }

private:
  template <class Scenario, template <rl::thread_id_t> class Scheduler>
  void run(const char* name, const char* how, rl::test_params& params) {
    if (failed_ != 0) // one report is enough to read
      return;
    using scheduler = limited<Scenario::params::thread_count, Scheduler>;
    report_.clear();
    std::ostream out{&report_};
    params.output_stream = &out;
    params.progress_stream = &out;
    params.execution_depth_limit = 4000;
    rl::ostringstream state;
    const rl::test_result_e result = rl::run_test<Scenario, scheduler>(params, state, false);
    const bool failed =
        result == rl::test_result_user_assert_failed || result == rl::test_result_data_race;
    const bool good = Scenario::must_fail ? failed : result == rl::test_result_success;
    ++runs_;
    executed_ += params.stop_iteration;
    std::printf("%-44s %-16s %9llu executions  %s\n", name, how,
                static_cast<unsigned long long>(params.stop_iteration),
                !good                 ? "FAILED"
                : Scenario::must_fail ? "fails as it must"
                                      : "as expected");
    std::fflush(stdout);
    if (good)
      return;
    ++failed_;
    if (result == rl::test_result_success) // and should not have been
      return;
    params.initial_state = state.str(); // the same execution again, written down
    params.collect_history = true;
    rl::run_test<Scenario, scheduler>(params, state, true);
    report_.print();
  }

  std::uint64_t executions_ = 20000;
  std::uint64_t executed_ = 0;
  int runs_ = 0;
  int failed_ = 0;
  report report_;
};

} // namespace nopal::model

namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::base {

inline void futex_wait(atomic<std::uint32_t>& word, std::uint32_t expected) noexcept {
  model::futexes.wait(word, expected);
}

#if !defined(NOPAL_MODEL_OF_TIME) // such a model defines it itself
inline void futex_wait_until(atomic<std::uint32_t>& word, std::uint32_t expected,
                             std::int64_t) noexcept {
  model::futexes.wait(word, expected);
}
#endif

inline void futex_wake_one(atomic<std::uint32_t>& word) noexcept { model::futexes.wake_one(word); }

// NOPAL_ASSERT and NOPAL_CHECK end here.
[[noreturn]] inline void changing_in_parent() noexcept { std::abort(); } // no model forks
inline void die(const char* format, ...) noexcept {
  rl::ctx().fail_test(format, rl::test_result_user_assert_failed, model_info(place::current()));
  std::abort(); // a failed test does not come back
}

} // namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::base

// SPDX-License-Identifier: MIT
// A program with a copy of Nopal that calls libraries with copies of theirs, from its strands, and
// is called by their strands.
//
//     program copies=N [force] [global] [times=N] LIBRARY[:FUNCTION]...
//
// copies: the number of copies of Nopal in the process; force: in all copies, forks are stolen
// wherever they can be; global: libraries see one another's symbols.
#include "tests/plugin/work.h"

#include <nopal/affine.h>
#include <nopal/blocking.h>
#include <nopal/sched/copies.h>

#include <dlfcn.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace {

const calls* const own = &work::own_calls;
std::vector<const calls*> libraries;
unsigned copies = 0;

template <class T> void expect(const char* what, T got, T wanted) {
  if (got == wanted)
    return;
  std::fprintf(stderr, "%s: %ld, not %ld\n", what, static_cast<long>(got),
               static_cast<long>(wanted));
  std::_Exit(1);
}

long fib_of(void* library, int n) { return static_cast<const calls*>(library)->fib(n); }
void* context_of(const calls* library) { return const_cast<calls*>(library); }

// fib(0) + ... + fib(n - 1)
constexpr long sum_of_fibs(int n) {
  long a = 0;
  long b = 1;
  for (int i = 0; i < n; ++i) {
    a = std::exchange(b, a + b);
  }
  return b - 1;
}

void strands_call(const calls* library) {
  expect("a library that is called by strands", own->sum(10, fib_of, context_of(library)),
         sum_of_fibs(10));
}

void library_calls_back(const calls* library) {
  expect("a program that is called by a library's strands",
         library->sum(10, fib_of, context_of(own)), sum_of_fibs(10));
}

void both_in_turn(const calls* library) {
  expect("each calls the other in turn", own->leaves(6, library), 64L);
}

void fibers_call(const calls* library) {
  expect("a library that is called by fibers", own->sum_of_fibers(10, fib_of, context_of(library)),
         sum_of_fibs(10));
  expect("a program that is called by a library's fibers",
         library->sum_of_fibers(10, fib_of, context_of(own)), sum_of_fibs(10));
}

// The call lies in a strand that owns open forks, which thieves take meanwhile.
void forks_around_a_call(const calls* library) {
  nopal::scope s;
  std::array<long, 4> got{};
  for (long& each : got)
    s.fork(each, [library] {
      nopal::scope inner;
      long in_library = 0;
      inner.fork(in_library, [library] { return library->fib(8); });
      const long in_program = own->fib(7);
      inner.join();
      return in_library + in_program;
    });
  s.join();
  for (const long each : got)
    expect("forks around a call", each, 21L + 13L);
}

void exceptions_pass(const calls* library) {
  const auto thrower = [](void*, int i) -> long {
    own->fib(5);
    if (i == 3)
      throw std::runtime_error{"three"};
    return i;
  };
  const auto caught_from = [&thrower](const calls* through) {
    try {
      return through->sum(6, thrower, nullptr);
    } catch (const std::runtime_error& what) {
      return std::string_view{what.what()} == "three" ? -3L : -1L;
    }
  };
  expect("an exception that passes through a library's strands", caught_from(library), -3L);
  const auto in_strand = [](void* given, int) {
    return (*static_cast<decltype(caught_from)*>(given))(libraries.front());
  };
  auto given = caught_from;
  expect("the same in strands of the program", own->sum(3, in_strand, &given), -9L);
}

// A strand that is cancelled during a call of another copy stops at its next fork or join after it.
void cancelled_during_a_call(const calls* library) {
  std::atomic<int> called = 0;
  std::atomic<bool> went_on = false;
  nopal::cancel_scope s;
  struct context {
    nopal::cancel_scope* scope;
    std::atomic<int>* called;
  } given{&s, &called};
  s.fork([&] {
    const long sum = library->sum(
        8,
        [](void* pointer, int i) {
          const auto* const known = static_cast<context*>(pointer);
          *known->called += 1;
          known->scope->cancel();
          return own->fib(i);
        },
        &given);
    expect("a call during which its caller was cancelled", sum, sum_of_fibs(8));
    own->fib(5);
    went_on = true;
  });
  expect("a scope that was cancelled during a call", s.try_join(), false);
  expect("what ran in the call", called.load(), 8);
  expect("what came after a join that was cancelled", went_on.load(), false);
}

void deadlines(const calls* library) {
  expect("a deadline in the program", own->deadline_rings(5), true);
  expect("a deadline in a library", library->deadline_rings(5), true);
  const auto rings = [](void* context, int) -> long {
    return static_cast<const calls*>(context)->deadline_rings(5) ? 1 : 0;
  };
  expect("deadlines in a library, in strands", own->sum(3, rings, context_of(library)), 3L);
  expect("deadlines in the program, in a library's strands",
         library->sum(3, rings, context_of(own)), 3L);
}

void regions(const calls* library) {
  nopal::scope s;
  long got = 0;
  s.fork(got, [library] {
    return nopal::affine([library] { return own->fib(6) + library->fib(6); }) +
           nopal::blocking([library] { return library->fib(6) + own->fib(6); });
  });
  s.join();
  expect("a library that is called in regions", got, 32L);
}

// `cancelled` of another copy is a std::exception here.
void cancelled_by_a_library(const calls* library) {
  bool caught = false;
  try {
    library->throw_cancelled();
  } catch (const std::exception&) {
    caught = true;
  }
  expect("what a library's join throws", caught, true);
}

void libraries_in_turn() {
  for (const calls* const first : libraries)
    for (const calls* const second : libraries)
      if (first != second) {
        expect("one library calls another", first->leaves(5, second), 32L);
        nopal::scope s;
        long got = 0;
        s.fork(got, first->leaves, 5, second);
        expect("the same beside a strand", own->fib(8), 21L);
        s.join();
        expect("the same in a strand", got, 32L);
      }
}

void all(bool with_deadlines) {
  for (const calls* const library : libraries) {
    strands_call(library);
    library_calls_back(library);
    both_in_turn(library);
    fibers_call(library);
    forks_around_a_call(library);
    exceptions_pass(library);
    if (copies > 1)
      cancelled_during_a_call(library);
    cancelled_by_a_library(library);
    regions(library);
    if (with_deadlines)
      deadlines(library);
  }
  libraries_in_turn();
}

const calls* open(const std::string& word, int mode) {
  const std::size_t colon = word.find(':');
  const std::string name = colon == word.npos ? "calls_of_library" : word.substr(colon + 1);
  void* const library = dlopen(word.substr(0, colon).c_str(), RTLD_NOW | mode);
  void* const function = library == nullptr ? nullptr : dlsym(library, name.c_str());
  if (function == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    std::_Exit(2);
  }
  return reinterpret_cast<const calls* (*)()>(function)();
}

} // namespace

int main(int count, char** words) {
  bool forced = false;
  int mode = RTLD_LOCAL;
  int times = 3;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    if (word == "force")
      forced = true;
    else if (word == "global")
      mode = RTLD_GLOBAL;
    else if (word.starts_with("times="))
      times = std::stoi(word.substr(6));
    else if (word.starts_with("copies="))
      copies = static_cast<unsigned>(std::stoi(word.substr(7)));
    else
      libraries.push_back(open(word, mode));
  }
  if (forced) {
    own->force_steals(1);
    for (const calls* const library : libraries)
      if (copies > 1)
        library->force_steals(2);
  }
  for (int i = 0; i < times; ++i)
    all(i == 0);
  std::array<std::thread, 3> threads;
  for (std::thread& each : threads)
    each = std::thread{all, false};
  for (std::thread& each : threads)
    each.join();
  expect("copies of Nopal", nopal::sched::copies(), copies);
}

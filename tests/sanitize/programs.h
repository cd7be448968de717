// SPDX-License-Identifier: MIT
// Programs in which NOPAL_RACES looks for races. Each runs in a process of its own, in the serial
// order (one virtual worker) and in the orders of some seeds.
#pragma once

#include <nopal/runtime.h>

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ostream>
#include <string>

namespace {

constexpr int kReported = 66;

// Not _exit, with which ThreadSanitizer would wait for further reports.
[[noreturn]] void leave(int status) {
  syscall(SYS_exit_group, status);
  __builtin_unreachable();
}

} // namespace

// To find the lines of a report takes a third of a second, and nobody reads it.
extern "C" const char* __tsan_default_options();
extern "C" const char* __tsan_default_options() { return "symbolize=0"; }

// ThreadSanitizer calls this behind each report, and holds its locks meanwhile.
extern "C" void __tsan_on_report(void* report);
extern "C" void __tsan_on_report(void*) { leave(kReported); }

namespace {

// Accesses that the compiler must leave where they are.
[[gnu::noinline]] void increment(int& number) {
  number = number + 1;
  asm volatile("" ::: "memory");
}

int outcome_of(bool (*program)(), unsigned workers, std::uint64_t seed) {
  const pid_t child = fork();
  if (child == 0) {
    nopal::configure({.virtual_workers = workers, .races = true, .seed = seed});
    leave(program() ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

struct program {
  const char* name;
  bool (*run)();
};
#define NAMED(name)                                                                                \
  program { #name, name }
void PrintTo(const program& shown, std::ostream* to) { *to << shown.name; }

class races : public testing::TestWithParam<program> {
protected:
  static void expect(int outcome) {
    for (std::uint64_t seed = 0; seed <= 3; ++seed) // 0: in the serial order
      EXPECT_EQ(outcome_of(GetParam().run, seed == 0 ? 1 : 4, seed), outcome) << "seed " << seed;
  }
};

std::string name_of(const testing::TestParamInfo<program>& tested) { return tested.param.name; }

} // namespace

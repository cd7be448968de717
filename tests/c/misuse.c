// SPDX-License-Identifier: MIT
// What the library notices, one case for each word; it says so in a sentence.
#include "tests/c/check.h"

#include <fibril.h>
#include <string.h>

static int child(int n) { return n; }

static int forked(int n) {
  int x;
  fibril_t fr;
  fibril_init(&fr);
  fibril_fork(&fr, x, child, (n));
  fibril_join(&fr);
  return x;
}

__attribute__((noinline)) static void fork_for(void* frame) {
  struct nopal_c_frame* const other = frame;
  fibril_fork(other, child, (1));
}

static void in_another_function(void) {
  fibril_t fr;
  fibril_init(&fr);
  fork_for(&fr);
  fibril_join(&fr);
}

__attribute__((noinline)) static void leave_unjoined(void) {
  fibril_t fr;
  fibril_init(&fr);
  fibril_fork(&fr, child, (1));
}

static void on_the_heap(void) {
  struct nopal_c_frame* const frame = malloc(sizeof *frame);
  fibril_init(frame);
  for (int i = 0; i < 1000; ++i)
    fibril_fork(frame, forked, (i));
  fibril_join(frame);
}

// Two frames of this size, each of which is written at its lower end alone.
__attribute__((noinline)) static int leap(size_t bytes, int more) {
  volatile char* const frame = __builtin_alloca(bytes);
  frame[0] = 1;
  return (more == 0 ? 0 : leap(bytes, more - 1)) + frame[0];
}

// On the main thread's own stack it does nothing.
__attribute__((noinline)) static void leap_if_stolen(uintptr_t begin, size_t bytes) {
  const uintptr_t away = (uintptr_t)__builtin_frame_address(0) - begin;
  if (away + (64 << 20) > 128 << 20)
    leap(bytes, 1);
}

static void leap_in_a_child(size_t bytes) {
  fibril_t fr;
  fibril_init(&fr);
  for (int i = 0; i < 100000; ++i)
    fibril_fork(&fr, leap_if_stolen, ((uintptr_t)__builtin_frame_address(0), bytes));
  fibril_join(&fr);
}

int main(int argc, char** argv) {
  CHECK(argc == 2);
  const char* const what = argv[1];
  if (strcmp(what, "twice") == 0) {
    CHECK(fibril_rt_init(2) == FIBRIL_SUCCESS && fibril_rt_init(3) == FIBRIL_SUCCESS);
    CHECK(forked(1) == 1);
    CHECK(fibril_rt_init(3) == FIBRIL_SUCCESS);
    CHECK(fibril_rt_init(4) == FIBRIL_FAILURE);
    CHECK(fibril_rt_nprocs() == 3);
  } else if (strcmp(what, "number") == 0) {
    CHECK(fibril_rt_init(-7) == FIBRIL_FAILURE && fibril_rt_init(5000) == FIBRIL_FAILURE);
  } else if (strcmp(what, "variable") == 0) {
    setenv("FIBRIL_NPROCS", "4", 1);
    CHECK(fibril_rt_init(FIBRIL_NPROCS) == FIBRIL_SUCCESS);
    setenv("FIBRIL_NPROCS", "many", 1);
    CHECK(fibril_rt_init(FIBRIL_NPROCS) == FIBRIL_FAILURE);
    CHECK(fibril_rt_nprocs() == 4);
  } else if (strcmp(what, "statistics") == 0) {
    force_steals(1);
    CHECK(fibril_rt_init(2) == FIBRIL_SUCCESS);
    for (int i = 0; i < 100; ++i)
      CHECK(forked(i) == i);
    CHECK(fibril_rt_exit_with_statistics() == FIBRIL_SUCCESS);
    printf("%s steals, %s suspensions, %s stacks, %s pages\n", getenv("FIBRIL_N_STEALS"),
           getenv("FIBRIL_N_SUSPENSIONS"), getenv("FIBRIL_N_STACKS"), getenv("FIBRIL_N_PAGES"));
  } else if (strcmp(what, "another") == 0) {
    in_another_function();
  } else if (strcmp(what, "unjoined") == 0) {
    leave_unjoined();
  } else if (strncmp(what, "leap_", 5) == 0) {
    force_steals(1);
    CHECK(fibril_rt_init(2) == FIBRIL_SUCCESS);
    leap_in_a_child((size_t)atol(what + 5) << 10);
  } else {
    force_steals(1);
    on_the_heap();
  }
  return 0;
}

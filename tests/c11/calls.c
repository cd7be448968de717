// SPDX-License-Identifier: MIT
// The functions of nopal.h that call functions: what they call, on which thread they return, what
// they return where functions fail, and cancellation. Compiled as C11 and as C++20.
#include <nopal/nopal.h>

#include "tests/c11/expect.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>

#define MOST 20000

static int counter; // by the __atomic builtins, which C and C++ both have
static int add(int* to, int by) { return __atomic_add_fetch(to, by, __ATOMIC_SEQ_CST); }
static int read_of(int* from) { return __atomic_load_n(from, __ATOMIC_SEQ_CST); }

static unsigned char times[MOST];
static int visit(void* context, size_t i) {
  __atomic_add_fetch(&((unsigned char*)context)[i], 1, __ATOMIC_SEQ_CST);
  return 0;
}
static int visit_range(void* context, size_t begin, size_t end) {
  EXPECT(begin < end);
  for (size_t i = begin; i < end; ++i)
    visit(context, i);
  return 0;
}
static void expect_visited(size_t begin, size_t end) {
  for (size_t i = 0; i < MOST; ++i)
    EXPECT(times[i] == (i >= begin && i < end));
  memset(times, 0, sizeof times);
}

static void loops(void) {
  const size_t grains[] = {0, 1, 7, MOST + 1};
  for (size_t g = 0; g < sizeof grains / sizeof *grains; ++g) {
    EXPECT(nopal_for_index(3, MOST - 5, grains[g], visit, times) == NOPAL_OK);
    expect_visited(3, MOST - 5);
    EXPECT(nopal_for_range(0, MOST, grains[g], visit_range, times) == NOPAL_OK);
    expect_visited(0, MOST);
    EXPECT(nopal_for_index_migrating(1, 2, grains[g], visit, times) == NOPAL_OK);
    expect_visited(1, 2);
    EXPECT(nopal_for_range_migrating(0, 4000, grains[g], visit_range, times) == NOPAL_OK);
    expect_visited(0, 4000);
  }
  EXPECT(nopal_for_index(5, 5, 0, visit, times) == NOPAL_OK);
  EXPECT(nopal_for_range(6, 5, 1, visit_range, times) == NOPAL_OK);
  expect_visited(0, 0);
}

typedef struct fib_call {
  int n;
  int migrates;
  long result;
} fib_call;
static int fib(void* context) {
  fib_call* const own = (fib_call*)context;
  if (own->n < 2) {
    own->result = own->n;
    return 0;
  }
  fib_call left = {own->n - 1, own->migrates, 0};
  fib_call right = {own->n - 2, own->migrates, 0};
  const int result = own->migrates ? nopal_invoke_migrating(fib, &left, fib, &right)
                                   : nopal_invoke(fib, &left, fib, &right);
  own->result = left.result + right.result;
  return result;
}
static void invoke(void) {
  fib_call affine = {12, 0, 0};
  EXPECT(fib(&affine) == NOPAL_OK);
  EXPECT(affine.result == 144);
  fib_call migrates = {18, 1, 0};
  EXPECT(fib(&migrates) == NOPAL_OK);
  EXPECT(migrates.result == 2584);
  // From a strand, in a region.
  EXPECT(nopal_affine(fib, &migrates) == NOPAL_OK);
  EXPECT(migrates.result == 2584);
}

static int ignore(void* context, size_t i) {
  (void)context;
  (void)i;
  return 0;
}
// Each level notes its thread, and holds a lock of its thread across the calls.
static __thread int depth_of_thread;
static int stays(void* context, size_t i) {
  const pthread_t before = pthread_self();
  const int depth = ++depth_of_thread;
  const size_t levels = (size_t)(uintptr_t)context;
  pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  EXPECT(pthread_mutex_lock(&lock) == 0);
  errno = (int)i + 1;
  EXPECT(nopal_for_index(0, 8, 1, ignore, NULL) == NOPAL_OK); // which leaves errno alone
  EXPECT(errno == (int)i + 1);
  if (levels > 0)
    EXPECT(nopal_for_index(0, 3, 1, stays, (void*)(uintptr_t)(levels - 1)) == NOPAL_OK);
  EXPECT(pthread_mutex_unlock(&lock) == 0);
  EXPECT(pthread_equal(before, pthread_self()));
  EXPECT(depth_of_thread == depth);
  --depth_of_thread;
  return 0;
}
static void threads(void) {
  const pthread_t before = pthread_self();
  for (int round = 0; round < 5; ++round)
    EXPECT(nopal_for_index(0, 4, 1, stays, (void*)(uintptr_t)4) == NOPAL_OK);
  EXPECT(pthread_equal(before, pthread_self()));
  EXPECT(depth_of_thread == 0);
}

// The same by nopal_invoke, of unequal functions; at some levels a function within migrates.
typedef struct level {
  int left;
  int calls;
} level;
static int invokes(void* context) {
  level* const own = (level*)context;
  const pthread_t before = pthread_self();
  const int depth = ++depth_of_thread;
  pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  level low = {own->left - 1, 0}, high = {own->left - 2, 0};
  EXPECT(pthread_mutex_lock(&lock) == 0);
  if (own->left > 0)
    EXPECT(nopal_invoke(invokes, &low, invokes, &high) == NOPAL_OK);
  if (own->left % 3 == 0) {
    fib_call first = {6, 1, 0}, second = {5, 1, 0}; // these may end on another thread
    EXPECT(nopal_invoke(fib, &first, fib, &second) == NOPAL_OK);
    EXPECT(first.result == 8 && second.result == 5);
  }
  EXPECT(pthread_mutex_unlock(&lock) == 0);
  EXPECT(pthread_equal(before, pthread_self()));
  EXPECT(depth_of_thread == depth);
  --depth_of_thread;
  own->calls = low.calls + high.calls + 1;
  return 0;
}
static void invoke_threads(void) {
  const pthread_t before = pthread_self();
  for (int round = 0; round < 10; ++round) {
    level all = {12, 0};
    EXPECT(invokes(&all) == 0);
    EXPECT(all.calls == 753);
  }
  EXPECT(pthread_equal(before, pthread_self()));
}

static void* loops_on_a_thread(void* unused) {
  (void)unused;
  fib_call call = {14, 1, 0};
  EXPECT(fib(&call) == NOPAL_OK);
  EXPECT(call.result == 377);
  EXPECT(nopal_for_index(0, 4, 1, stays, (void*)(uintptr_t)2) == NOPAL_OK);
  level all = {8, 0};
  EXPECT(invokes(&all) == 0);
  return NULL;
}
static void threads_of_its_own(void) {
  pthread_t all[4];
  for (int i = 0; i < 4; ++i)
    EXPECT(pthread_create(&all[i], NULL, loops_on_a_thread, NULL) == 0);
  for (int i = 0; i < 4; ++i)
    EXPECT(pthread_join(all[i], NULL) == 0);
}

static int fails_at(void* context, size_t i) {
  add(&counter, 1);
  return i == *(const size_t*)context ? 1000 + (int)i : i > *(const size_t*)context ? 7 : 0;
}
static int fails_above(void* context) { // in a loop within, whose number it returns
  size_t at = 10;
  (void)context;
  return nopal_for_index(0, 100, 1, fails_at, &at);
}
static int well(void* context) {
  (void)context;
  return 0;
}
static void failures(void) {
  const size_t places[] = {0, 1, 500, 999};
  for (size_t p = 0; p < 4; ++p) {
    size_t at = places[p];
    counter = 0;
    EXPECT(nopal_for_index(0, 1000, 1, fails_at, &at) == 1000 + (int)at);
    EXPECT(counter >= (int)at + 1); // what comes before is never cancelled
    EXPECT(nopal_for_index_migrating(0, 1000, 0, fails_at, &at) == 1000 + (int)at);
  }
  EXPECT(nopal_invoke(fails_above, NULL, well, NULL) == 1010);
  EXPECT(nopal_invoke(well, NULL, fails_above, NULL) == 1010);
  EXPECT(nopal_invoke_migrating(fails_above, NULL, fails_above, NULL) == 1010);
  EXPECT(nopal_affine(fails_above, NULL) == 1010);
}

// Run by one worker (CMakeLists.txt), so no thief takes what comes after the failure.
static void failure_cancels_the_rest(void) {
  size_t at = 3;
  counter = 0;
  EXPECT(nopal_num_workers() == 1);
  EXPECT(nopal_for_index(0, 1000, 1, fails_at, &at) == 1003);
  EXPECT(counter == 4);
}

static nopal_canceller canceller;
static int endless(void* context) {
  int rounds = 0;
  (void)context;
  while (!nopal_is_cancelled()) {
    if (add(&counter, 1) >= 100)
      nopal_cancel(&canceller);
    if (++rounds % 16 == 0)
      sched_yield();
  }
  return NOPAL_CANCELLED;
}
static int endless_loops(void* context) { // stops between the pieces of its loops
  int result = NOPAL_OK;
  (void)context;
  while (result == NOPAL_OK) {
    result = nopal_for_range(0, 64, 1, visit_range, times);
    if (add(&counter, 1) >= 5)
      nopal_cancel(&canceller);
  }
  return result;
}
static int two_endless(void* context) {
  (void)context;
  return nopal_invoke(endless, NULL, endless_loops, NULL);
}
static int never_called(void* context) {
  (void)context;
  EXPECT(!"called after the canceller was told");
  return 0;
}
static int returns_well(void* context) { // as a function that takes no notice of its joins
  nopal_cancel((nopal_canceller*)context);
  return nopal_for_index(0, 100, 1, ignore, NULL) == NOPAL_CANCELLED ? 0 : 1;
}
static void cancellation(void) {
  nopal_function all[] = {endless, endless_loops, two_endless};
  for (size_t i = 0; i < 3; ++i) {
    EXPECT(nopal_canceller_open(&canceller) == NOPAL_OK);
    counter = 0;
    EXPECT(nopal_call_cancelable(&canceller, -1, all[i], NULL) == NOPAL_CANCELLED);
    EXPECT(strstr(nopal_message(), "cancelled") != NULL);
    EXPECT(!nopal_is_cancelled());
    EXPECT(nopal_call_cancelable(&canceller, -1, never_called, NULL) == NOPAL_CANCELLED);
    nopal_canceller_close(&canceller);
  }
  EXPECT(nopal_canceller_open(&canceller) == NOPAL_OK);
  EXPECT(nopal_call_cancelable(&canceller, -1, returns_well, &canceller) == NOPAL_CANCELLED);
  nopal_canceller_close(&canceller);
  EXPECT(nopal_call_cancelable(NULL, -1, well, NULL) == NOPAL_OK);
  EXPECT(nopal_call_cancelable(NULL, -1, fails_above, NULL) == 1010);
  memset(times, 0, sizeof times);
}

static int until_cancelled(void* context) {
  (void)context;
  while (!nopal_is_cancelled())
    sched_yield();
  return NOPAL_CANCELLED;
}
static void deadline(void) {
  EXPECT(nopal_call_cancelable(NULL, 2000000, until_cancelled, NULL) == NOPAL_CANCELLED);
  EXPECT(nopal_call_cancelable(NULL, INT64_MAX, well, NULL) == NOPAL_OK);
}

static void* cancels(void* unused) {
  (void)unused;
  while (read_of(&counter) == 0)
    sched_yield();
  nopal_cancel(&canceller);
  return NULL;
}
static int says_that_it_runs(void* context) {
  add(&counter, 1);
  return until_cancelled(context);
}
static void cancelled_by_another_thread(void) {
  pthread_t thread;
  counter = 0;
  EXPECT(nopal_canceller_open(&canceller) == NOPAL_OK);
  EXPECT(pthread_create(&thread, NULL, cancels, NULL) == 0);
  EXPECT(nopal_call_cancelable(&canceller, -1, says_that_it_runs, NULL) == NOPAL_CANCELLED);
  EXPECT(pthread_join(thread, NULL) == 0);
  nopal_canceller_close(&canceller);
}

int main(int words, char** word) {
  const test_case cases[] = {
      {"loops", loops},
      {"invoke", invoke},
      {"threads", threads},
      {"threads_of_its_own", threads_of_its_own},
      {"invoke_threads", invoke_threads},
      {"failures", failures},
      {"cancellation", cancellation},
      {"deadline", deadline},
      {"cancelled_by_another_thread", cancelled_by_another_thread},
  };
  if (words == 2 && strcmp(word[1], "one_worker") == 0) {
    failure_cancels_the_rest();
    return 0;
  }
  return run_cases(cases, (int)(sizeof cases / sizeof *cases), words, word);
}

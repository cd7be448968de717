// SPDX-License-Identifier: MIT
// The functions of nopal.h that call none: versions, options, workers, statistics. Each case is run
// by a process of its own, since options are decided once.
#include <nopal/nopal.h>

#include "tests/c11/expect.h"

static int nothing(void* context) {
  (void)context;
  return 0;
}
static int nothing_at(void* context, size_t i) {
  (void)context;
  (void)i;
  return 0;
}
static int stops(void* context) {
  *(int*)context = nopal_stop();
  return 0;
}
static int says(const char* words) {
  if (strstr(nopal_message(), words) != NULL)
    return 1;
  fprintf(stderr, "\"%s\" does not say \"%s\"\n", nopal_message(), words);
  return 0;
}

static void versions(void) {
  const int other = NOPAL_ABI_VERSION + 1;
  EXPECT(nopal_abi_version() == NOPAL_ABI_VERSION);
  EXPECT(nopal_start_as(other) == NOPAL_OTHER_VERSION);
  EXPECT(says("NOPAL_ABI_VERSION is 2, but the library has 1"));
  EXPECT(nopal_call_as(other, nothing, NULL) == NOPAL_OTHER_VERSION);
  EXPECT(nopal_invoke_as(other | NOPAL_MIGRATING, nothing, NULL, nothing, NULL) ==
         NOPAL_OTHER_VERSION);
  EXPECT(nopal_for_index_as(other, 0, 1, 1, nothing_at, NULL) == NOPAL_OTHER_VERSION);
  EXPECT(nopal_call_cancelable_as(other, NULL, -1, nothing, NULL) == NOPAL_OTHER_VERSION);
  EXPECT(nopal_start() == NOPAL_OK);
}

static void options(void) {
  EXPECT(nopal_set_option("workers", "2") == NOPAL_REFUSED);
  EXPECT(says("there is no option \"workers\""));
  EXPECT(nopal_set_option("num_workers", "none") == NOPAL_REFUSED);
  EXPECT(says("NOPAL_NUM_WORKERS") && says("a whole number from 1 to 1024"));
  EXPECT(nopal_set_option("num_workers", "3") == NOPAL_OK);
  EXPECT(nopal_set_option("stack_size", "128K") == NOPAL_OK);
  EXPECT(nopal_set_option("stack_budget", "unlimited") == NOPAL_OK);
  EXPECT(nopal_set_option("binding", "cores") == NOPAL_OK);
  EXPECT(nopal_num_workers() == 3);
  EXPECT(nopal_set_option("num_workers", "4") == NOPAL_TOO_LATE);
  EXPECT(says("num_workers was set after the options were decided"));
  EXPECT(nopal_num_workers() == 3);
}

static void late(void) {
  EXPECT(nopal_start() == NOPAL_OK);
  EXPECT(nopal_set_option("tick", "0") == NOPAL_TOO_LATE);
}

// NOPAL_NUM_WORKERS is "none".
static void environment(void) {
  EXPECT(nopal_start() == NOPAL_REFUSED);
  EXPECT(says("NOPAL_NUM_WORKERS is \"none\""));
}

static void stopping(void) {
  int result = NOPAL_OK;
  for (int round = 0; round < 5; ++round) {
    EXPECT(nopal_for_index(0, 1000, 1, nothing_at, NULL) == NOPAL_OK);
    EXPECT(nopal_stop() == NOPAL_OK);
  }
  EXPECT(nopal_affine(stops, &result) == NOPAL_OK);
  EXPECT(result == NOPAL_BUSY);
}

static void statistics(void) {
  nopal_statistics all;
  uint64_t few[2] = {1, 1};
  EXPECT(nopal_for_index(0, 1000, 1, nothing_at, NULL) == NOPAL_OK);
  nopal_stats(&all);
  EXPECT(all.stacks > 0 && all.stack_pages > 0);
  nopal_statistics_of((nopal_statistics*)few, sizeof *few); // a caller that knows one field
  EXPECT(few[0] >= all.steals);
  EXPECT(few[1] == 1);
}

int main(int words, char** word) {
  const test_case cases[] = {
      {"versions", versions},       {"options", options},   {"late", late},
      {"environment", environment}, {"stopping", stopping}, {"statistics", statistics},
  };
  return words == 2 ? run_cases(cases, (int)(sizeof cases / sizeof *cases), words, word) : 2;
}

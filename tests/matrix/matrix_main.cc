// SPDX-License-Identifier: MIT
// Runs all programs of the compiler matrix: in one process without forced steals, and in one more
// for each seed that decides which steals are forced.
//
// usage: matrix SEEDS [PREFIX]   seeds 1 to SEEDS; only the programs whose names begin with PREFIX
#include "matrix.h"

#include "nopal/runtime.h"
#include "nopal/vproc/settings.h"
#include "tests/patience.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace matrix {

namespace {

std::atomic<int> failures{0};

struct setting {
  unsigned workers;
  std::uint64_t seed; // 0: steals are not forced
};

constexpr int kRounds = 2;
constexpr int kSkipped = 77;

constexpr const program* kLists[] = {frame_programs,   register_programs,  call_programs,
                                     control_programs, coroutine_programs, exception_programs,
                                     avx512_programs};

// A program's outermost frame lies on a foreign stack in every other round, on one of ours in the
// rest.
void run_one(const program& which, int round) {
  if (round % 2 == 0) {
    which.run(which.name, round);
    return;
  }
  nopal::scope s;
  s.fork([&which, round] { which.run(which.name, round); });
  s.join();
}

int run_all(const setting& use, const char* only) {
  alarm(static_cast<unsigned>(nopal_test::patience.count())); // a process that takes longer hangs
  nopal::options options;
  options.num_workers = use.workers;
  nopal::configure(options);
  if (use.seed != 0)
    nopal::vproc::force_steals(use.seed);
  int ran = 0;
  for (int round = 0; round < kRounds; ++round)
    for (const program* list : kLists)
      for (const program* each = list; each->name != nullptr; ++each)
        if (std::strncmp(each->name, only, std::strlen(only)) == 0) {
          std::fprintf(stderr, "%s%s", ran++ == 0 ? "" : " ", each->name);
          run_one(*each, round);
        }
  const nopal::statistics did = nopal::stats();
  std::fprintf(stderr, "\n%u workers, seed %llu: %d programs, %llu steals, %llu suspensions\n",
               use.workers, static_cast<unsigned long long>(use.seed), ran,
               static_cast<unsigned long long>(did.steals),
               static_cast<unsigned long long>(did.suspensions));
  expect(ran > 0, "all", "no program has that name");
  expect(tracked.load() == 0, "all", "an object was not destroyed, or twice");
  expect(use.seed == 0 || did.steals > 0, "all", "steals were forced, but there were none");
  return failures.load() == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

bool processor_can_run_this() {
#if defined(__AVX512F__)
  return __builtin_cpu_supports("avx512f") != 0;
#elif defined(__AVX2__)
  return __builtin_cpu_supports("avx2") != 0;
#else
  return true;
#endif
}

bool run_in_child(const setting& use, const char* only) {
  const pid_t child = fork();
  if (child == 0)
    std::exit(run_all(use, only));
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) {
    std::perror("matrix: cannot run a child process");
    return false;
  }
  if (WIFSIGNALED(status))
    std::fprintf(stderr, "\n%u workers, seed %llu: ended by signal %d\n", use.workers,
                 static_cast<unsigned long long>(use.seed), WTERMSIG(status));
  return WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS;
}

} // namespace

void expect(bool holds, const char* program, const char* what) noexcept {
  if (holds)
    return;
  failures.fetch_add(1);
  std::fprintf(stderr, "\n%s: %s\n", program, what);
}

[[gnu::noinline]] void scribble() noexcept {
  unsigned char block[700];
  std::memset(block, 0xa5, sizeof block);
  asm volatile("" ::"r"(block) : "memory");
#if defined(__AVX__)
  asm volatile("vpcmpeqd %%ymm0, %%ymm0, %%ymm0\n\tvmovdqa %%ymm0, %%ymm1\n\t"
               "vmovdqa %%ymm0, %%ymm8\n\tvmovdqa %%ymm0, %%ymm15" ::
                   : "xmm0", "xmm1", "xmm8", "xmm15");
#else
  asm volatile("pcmpeqd %%xmm0, %%xmm0\n\tmovdqa %%xmm0, %%xmm1\n\t"
               "movdqa %%xmm0, %%xmm8\n\tmovdqa %%xmm0, %%xmm15" ::
                   : "xmm0", "xmm1", "xmm8", "xmm15");
#endif
}

long serial_fib(int n) { return n < 2 ? n : serial_fib(n - 1) + serial_fib(n - 2); }

long fib(int n) {
  if (n < 2)
    return n;
  nopal::scope s;
  long x = 0;
  s.fork(x, fib, n - 1);
  const long y = fib(n - 2);
  s.join();
  return x + y;
}

} // namespace matrix

int main(int count, char** words) {
  char* end = nullptr;
  const unsigned long seeds = count > 1 ? std::strtoul(words[1], &end, 10) : 0;
  if (count < 2 || count > 3 || end == words[1] || *end != '\0') {
    std::fprintf(stderr, "usage: matrix SEEDS [PREFIX], SEEDS a number\n");
    return EXIT_FAILURE;
  }
  if (!matrix::processor_can_run_this()) {
    std::fprintf(stderr,
                 "skipped: this processor lacks instructions the program is compiled for\n");
    return matrix::kSkipped;
  }
  int failed = 0;
  for (unsigned long seed = 0; seed <= seeds; ++seed) {
    const matrix::setting use{static_cast<unsigned>(2 + seed % 3), seed};
    failed += matrix::run_in_child(use, count > 2 ? words[2] : "") ? 0 : 1;
  }
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

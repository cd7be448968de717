// SPDX-License-Identifier: MIT
// What launched_test.py begins by launchers: prints the number of processes and fib(N), for each of
// so many runs.
//
// usage: launched N RUNS [FOLDER [LEVEL]]
//   N        or a word for what happens after so many runs of fib(10): `exit`, a task exits with 3;
//            `alone`, process 0 runs once more; `forks`, tasks fork and execute other programs,
//            and it prints whether all was well; `parents`, each process forks one that lives as
//            long as FOLDER, and then all compute without an end; `upward`, a task goes on
//            elsewhere, and prints whether it still rounds upwards; `until`, runs fib(20) until
//            there is a file `over` in FOLDER, and prints whether all was right; `before`, each
//            prints that before its session, and process 0 prints the name that `ps` has, what it
//            has read before, and how a program that it begins is begun
//   FOLDER   each process says there what it has to say, in a file that its number at the system
//            names, and makes another one, connected.NUMBER, when the session has begun; not if
//            there is a LEVEL
//   LEVEL    of threads, for which the program itself initialises MPI: 0 is MPI_THREAD_SINGLE, 1
//            MPI_THREAD_FUNNELED, 2 MPI_THREAD_SERIALIZED, 3 MPI_THREAD_MULTIPLE
#include "nopal/process.h"

#include <cerrno>
#include <cfenv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <string>
#include <string_view>
#include <sys/wait.h>
#include <unistd.h>

extern "C" { // the same in both MPIs, each of which has a header of its own
int MPI_Init_thread(int* argc, char*** argv, int wanted, int* got);
int MPI_Finalize();
}

namespace {

namespace process = nopal::process;

long fib(int n) {
  if (n < 2)
    return n;
  process::task<long> x = process::spawn(fib, n - 1);
  const long y = fib(n - 2);
  return process::join(x) + y;
}

int exits(int depth) {
  if (depth == 0)
    std::exit(3);
  process::task<int> child = process::spawn(exits, depth - 1);
  return process::join(child);
}

void until_stolen(std::uint32_t before) {
  while (process::this_worker.queue.stolen() == before)
    usleep(10);
}

int upward() {
  std::fesetround(FE_UPWARD);
  process::task<void> child = process::spawn(until_stolen, process::this_worker.queue.stolen());
  const int mode = std::fegetround(); // in another process
  std::fesetround(FE_TONEAREST);
  process::join(child);
  return mode == FE_UPWARD ? 1 : 0;
}

// 1 if the child ends as it should, and the frame stays as it was.
int fork_in_task(int depth) {
  char own[4096];
  std::memset(own, depth, sizeof own);
  asm volatile("" : : "r"(own) : "memory");
  if (depth > 0) {
    process::task<int> child = process::spawn(fork_in_task, depth - 1);
    const int other = fork_in_task(depth - 1);
    return process::join(child) * other;
  }
  const pid_t child = fork();
  if (child == 0) {
    std::memset(own, 5, sizeof own);
    asm volatile("" : : "r"(own) : "memory");
    execl("/bin/sh", "sh", "-c", "exit 7", nullptr);
    _exit(9);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR)
    ;
  for (const char each : own)
    if (each != depth)
      return 0;
  return WIFEXITED(status) && WEXITSTATUS(status) == 7 ? 1 : 0;
}

// The child does not look like this program to who looks for its processes.
void become_parent(char* argument) {
  const std::string own_folder = argument;
  if (const pid_t child = fork(); child != 0) {
    std::ofstream{own_folder + "/parent." + std::to_string(getpid())};
    return;
  }
  std::memset(argument, 0, own_folder.size());
  for (const int each : {0, 1, 2})
    close(each);
  while (access(own_folder.c_str(), F_OK) == 0)
    usleep(1000);
  _exit(0);
}

std::string read_before; // by main
std::string folder;      // set before the session begins

int is_over() { return access((folder + "/over").c_str(), F_OK) == 0 ? 1 : 0; }

void compute_until_over(process::session& session) {
  bool right = true;
  while (session.run(is_over) == 0)
    right = session.run(fib, 20) == 6765 && right;
  if (session.rank() == 0)
    std::printf("until: %s\n", right ? "right" : "wrong");
}

void happen(process::session& session, std::string_view what, char* argument) {
  if (what == "forks") {
    const int well = session.run(fork_in_task, 6);
    if (session.rank() == 0)
      std::printf("forks: %d\n", well);
  }
  if (what == "parents") {
    become_parent(argument);
    for (;;)
      session.run(fib, 34);
  }
  if (what == "exit")
    session.run(exits, 5);
  if (what == "before" && session.rank() == 0) {
    std::string name;
    std::getline(std::ifstream{"/proc/self/comm"}, name);
    std::printf("%s: %s\n", name.c_str(), read_before.c_str());
    std::fflush(stdout);
    static_cast<void>(std::system( // NOLINT
        "echo its programs: $(cat /proc/self/personality) ${NOPAL_ADDRESSES_FIXED-unset}"));
  }
  if (what == "until")
    compute_until_over(session);
  if (what == "alone" && session.rank() == 0)
    session.run(fib, 10);
  if (what == "upward") {
    const bool well = session.run(upward) == 1 && std::fegetround() == FE_TONEAREST;
    std::printf("upward: %d\n", well ? 1 : 0);
  }
}

// Whether the program is to begin and end MPI itself.
bool begin_mpi(int argc, char** argv) {
  if (argc < 5)
    return false;
  int got = 0;
  MPI_Init_thread(nullptr, nullptr, std::atoi(argv[4]), &got);
  return true;
}

void compute(int argc, char** argv) {
  const bool is_word = std::atoi(argv[1]) == 0;
  const int n = is_word ? 10 : std::atoi(argv[1]);
  const int runs = std::atoi(argv[2]);
  process::session session{argc, argv};
  if (argc == 4)
    std::ofstream{std::string(argv[3]) + "/connected." + std::to_string(getpid())};
  for (int i = 0; i < runs; ++i) {
    const long got = session.run(fib, n);
    if (session.rank() == 0)
      std::printf("%u processes: fib(%d) = %ld\n", session.size(), n, got);
  }
  if (is_word)
    happen(session, argv[1], argv[3]);
  std::fflush(stdout);
}

} // namespace

int main(int argc, char** argv) {
  if (argc < 3)
    return 2;
  if (argc == 4 && std::freopen((std::string(argv[3]) + "/" + std::to_string(getpid())).c_str(),
                                "a", stderr) == nullptr)
    return 2;
  if (std::string_view(argv[1]) == "before") {
    const char* const number = std::getenv("PMI_RANK");
    const char* const other = std::getenv("PMIX_RANK");
    if (std::string_view(number != nullptr ? number : other != nullptr ? other : "0") == "0")
      std::getline(std::cin, read_before); // other processes may have none
    std::puts("before");
  }
  if (argc == 4)
    folder = argv[3];
  const bool own_mpi = begin_mpi(argc, argv);
  compute(argc, argv);
  if (own_mpi)
    MPI_Finalize();
}

// SPDX-License-Identifier: MIT
// Functions of the C library that call back.
#include "tests/interop/foreign.h"

#include <ftw.h>
#include <link.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

using nopal_interop::expected;
using nopal_interop::work;

// qsort: a sort by merging, with a buffer on the stack or the heap.
int compare(const void* a, const void* b) {
  const int left = *static_cast<const int*>(a);
  const int right = *static_cast<const int*>(b);
  return work(5) == expected(5) ? (left > right) - (left < right) : 0;
}

bool run_qsort() {
  int values[12];
  for (int i = 0; i < 12; ++i)
    values[i] = i * 7 % 12;
  std::qsort(values, 12, sizeof(int), compare);
  for (int i = 0; i < 12; ++i)
    if (values[i] != i)
      return false;
  return true;
}

// nftw: a walk of a directory, which gives its callback nothing of the caller's.
constexpr int kFiles = 5;
std::atomic<bool> wrong{false};

int visit(const char*, const struct stat*, int, struct FTW*) {
  if (work(5) != expected(5))
    wrong = true;
  return 0;
}

bool run_nftw() {
  std::string directory = "/tmp/nopal-interop-XXXXXX";
  if (mkdtemp(directory.data()) == nullptr)
    return false;
  for (int i = 0; i < kFiles; ++i)
    if (std::FILE* const file = std::fopen((directory + "/" + std::to_string(i)).c_str(), "w"))
      std::fclose(file);
  const int result = nftw(directory.c_str(), visit, 4, FTW_PHYS);
  const int removed = nftw(
      directory.c_str(),
      [](const char* path, const struct stat*, int, struct FTW*) { return remove(path); }, 4,
      FTW_PHYS | FTW_DEPTH);
  return result == 0 && removed == 0 && !wrong;
}

// fopencookie: a stream whose writes are calls, under the stream's lock.
ssize_t write_to(void* cookie, const char* bytes, std::size_t size) {
  if (work(5) == expected(5))
    static_cast<std::string*>(cookie)->append(bytes, size);
  return static_cast<ssize_t>(size);
}

bool run_fopencookie() {
  std::string written;
  cookie_io_functions_t functions{};
  functions.write = write_to;
  std::FILE* const stream = fopencookie(&written, "w", functions);
  std::string wanted;
  for (int i = 0; i < 4; ++i) {
    wanted += "line " + std::to_string(i) + "\n";
    std::fprintf(stream, "line %d\n", i);
    std::fflush(stream);
  }
  std::fclose(stream);
  return written == wanted;
}

// pthread_once: others wait until the routine has ended.
void initialise() {
  if (work(5) != expected(5))
    wrong = true;
}

bool run_once() {
  pthread_once_t once = PTHREAD_ONCE_INIT;
  return pthread_once(&once, initialise) == 0 && pthread_once(&once, initialise) == 0 && !wrong;
}

// dl_iterate_phdr: the callback runs under a lock of the dynamic linker's.
int visit_object(dl_phdr_info*, std::size_t, void* visited) {
  if (work(5) == expected(5))
    *static_cast<int*>(visited) += 1;
  return 0;
}

bool run_dl_iterate_phdr() {
  int visited = 0;
  return dl_iterate_phdr(visit_object, &visited) == 0 && visited > 0;
}

} // namespace

int main(int count, char** arguments) {
  return nopal_interop::main_of(count, arguments,
                                {{"qsort", run_qsort, false},
                                 {"nftw", run_nftw, false},
                                 {"fopencookie", run_fopencookie, false},
                                 {"pthread_once", run_once, false},
                                 {"dl_iterate_phdr", run_dl_iterate_phdr, true}});
}

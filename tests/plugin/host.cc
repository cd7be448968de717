// SPDX-License-Identifier: MIT
// A program without Nopal. Three threads open two libraries, call them and close them, many times.
// The threads of the pools go on after that, so their code must stay in memory.
#include <dlfcn.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <thread>

namespace {

std::atomic<int> failures{0};

void fail(const char* what) {
  std::fprintf(stderr, "plugin_host: %s\n", what);
  failures += 1;
}

void open_call_close(const char* path, const char* function) {
  void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    return fail(dlerror());
  const auto sum = reinterpret_cast<long (*)(long)>(dlsym(library, function));
  constexpr long n = 2000;
  if (sum == nullptr)
    fail(dlerror());
  else if (sum(n) != n * (n - 1) / 2)
    fail("a wrong sum");
  dlclose(library);
}

} // namespace

int main(int count, char** words) {
  if (count < 3) {
    std::fputs("usage: plugin_host FIRST SECOND [LIBRARY]: which contains Nopal for both\n",
               stderr);
    return 2;
  }
  const std::array functions{"first_sum", "second_sum"};
  const auto work = [&](int self) {
    for (int round = 0; round < 50; ++round) {
      const int which = (self + round) % 2;
      open_call_close(words[1 + which], functions[static_cast<std::size_t>(which)]);
    }
  };
  std::array<std::thread, 3> threads;
  for (int i = 0; i < 3; ++i)
    threads[static_cast<std::size_t>(i)] = std::thread(work, i);
  for (std::thread& each : threads)
    each.join();
  for (int i = count == 3 ? 1 : 3; i < count; ++i)
    if (dlopen(words[i], RTLD_NOW | RTLD_NOLOAD) == nullptr)
      fail("a library whose pool runs was unloaded");
  return failures == 0 ? 0 : 1;
}

// SPDX-License-Identifier: MIT
// A program with two libraries that use Nopal. With names of files and a mode of dlopen it loads
// them, else it is linked with them.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

namespace {

using works = long(int);
using calls = long(long (*)(int), int);
struct library {
  works* its_work;
  calls* its_calls;
};

constexpr int kNumber = 18;
constexpr long kResult = 2584;

bool works_by(const library& a) { return a.its_work(kNumber) == kResult; }

int run(const library& a, const library& b) {
  for (int i = 0; i < 3; ++i) {
    if (!works_by(a) || !works_by(b))
      return 1;
    bool right = false;
    std::thread other{[&] { right = works_by(a); }};
    const bool here = works_by(b);
    other.join();
    if (!here || !right)
      return 2;
    if (a.its_calls(b.its_work, kNumber) != 0 || b.its_calls(a.its_work, kNumber) != 0)
      return 3;
  }
  std::puts("right");
  return 0;
}

} // namespace

#if defined(LOADED)
namespace {

library load(const char* file, const char* name, int mode) {
  void* const handle = dlopen(file, mode);
  if (handle == nullptr) {
    std::puts(dlerror());
    std::_Exit(4);
  }
  char symbol[2][32];
  std::snprintf(symbol[0], sizeof symbol[0], "%s_works", name);
  std::snprintf(symbol[1], sizeof symbol[1], "%s_calls", name);
  return {reinterpret_cast<works*>(dlsym(handle, symbol[0])),
          reinterpret_cast<calls*>(dlsym(handle, symbol[1]))};
}

} // namespace

int main(int, char** words) {
  int mode = RTLD_NOW;
  mode |= std::strcmp(words[1], "global") == 0 ? RTLD_GLOBAL : RTLD_LOCAL;
  mode |= std::strcmp(words[1], "deepbind") == 0 ? RTLD_DEEPBIND : 0;
  const library a = load(words[2], "one", mode);
  return run(a, load(words[3], "two", mode));
}
#else
extern "C" {
works one_works, two_works;
calls one_calls, two_calls;
}
int main() { return run({one_works, one_calls}, {two_works, two_calls}); }
#endif

// SPDX-License-Identifier: MIT
// Tasks that cannot be copied to another process. Each case is a macro. Behind it stands what the
// compiler must say:
//
// argument: a task's arguments are copied to other processes
// reference_argument: a task's arguments are copied to other processes
// reference_wrapper: a task's arguments are copied to other processes
// view: a task's arguments are copied to other processes
// function: the function of a task is copied to other processes
// result: a task's result is copied to other processes
// reference_result: a task's result is copied to other processes
// run_argument: a task's arguments are copied to other processes
// run_result: a task's result is copied to other processes
// large_run_result: a run's result has at most 1024 bytes
#include "nopal/process.h"

#include <functional>
#include <string>
#include <string_view>

namespace {

namespace process = nopal::process;

struct bytes {
  char values[1024];
};

[[maybe_unused]] int length(std::string text) { return static_cast<int>(text.size()); }
[[maybe_unused]] std::string text(int) { return "text"; }
[[maybe_unused]] int& same(int* number) { return *number; }
[[maybe_unused]] int value(int number) { return number; }

} // namespace

int main(int argc, char** argv) {
#if ARGUMENT
  process::spawn(length, std::string("text"));
#elif REFERENCE_ARGUMENT
  process::spawn([](const std::string& given) { return given.size(); }, std::string("text"));
#elif REFERENCE_WRAPPER
  process::spawn([](int& given) { return given; }, std::ref(argc));
#elif VIEW
  process::spawn([](std::string_view given) { return given.size(); }, std::string_view("text"));
#elif FUNCTION
  process::spawn([own = std::string("text")] { return own.size(); });
#elif RESULT
  process::spawn(text, 1);
#elif REFERENCE_RESULT
  process::spawn(same, &argc);
#elif RUN_ARGUMENT
  process::session(argc, argv).run(length, std::string("text"));
#elif RUN_RESULT
  process::session(argc, argv).run(text, 1);
#elif LARGE_RUN_RESULT
  struct too_large {
    bytes first;
    char last;
  };
  process::session(argc, argv).run([] { return too_large{}; });
#else
  auto task = process::spawn(value, 1);
  process::session(argc, argv).run([] { return bytes{}; });
  return process::join(task);
#endif
}

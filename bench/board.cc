// SPDX-License-Identifier: MIT
// A program of the public board of runtimes (tzcnt/runtime-benchmarks), by path, as a benchmark of
// this harness. Its main is called board_main here (board.cmake). It warms up, and prints the time
// that it measures itself; it also prints its result, unless it checks the result itself.
//
// BENCH_BOARD_PROBLEM and BENCH_RUNTIME are the names, BENCH_BOARD_N what the problem has for n.
// BENCH_BOARD_ARGUMENT is given to the program before the number of workers, and
// BENCH_BOARD_RESULT is the result that it prints, each where the program has one.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bench/harness.h"

extern "C" int board_main(int count, char** arguments);

namespace bench {
namespace {

// What is printed while it lives goes to memory.
class captured_output {
public:
  captured_output() : before_(dup(STDOUT_FILENO)), memory_(memfd_create("board", MFD_CLOEXEC)) {
    if (before_ < 0 || memory_ < 0 || dup2(memory_, STDOUT_FILENO) < 0)
      throw std::system_error(errno, std::generic_category(), "the output cannot be kept");
  }
  captured_output(const captured_output&) = delete;
  captured_output& operator=(const captured_output&) = delete;
  ~captured_output() {
    close(memory_);
    close(before_);
  }

  // Once, at the end.
  std::string text() {
    std::fflush(stdout);
    dup2(before_, STDOUT_FILENO);
    std::ifstream file("/proc/self/fd/" + std::to_string(memory_));
    std::ostringstream all;
    all << file.rdbuf();
    return std::move(all).str();
  }

private:
  int before_;
  int memory_;
};

class board_program final : public experiment {
public:
  board_program(const input& in, unsigned workers) : workers_(std::to_string(workers)) {
    if (in.chosen == size::test)
      throw std::invalid_argument("the board's programs have no size test; accepted are quick and "
                                  "paper, which are the board's own size");
  }

  long n() const override { return BENCH_BOARD_N; }
  std::uint64_t forks() const override { return 0; } // it does not tell
  void prepare() override {}
  void warm_up() override {}
  counters read_counters() const override { return {}; }

  void compute() override {
    char name[] = BENCH_BOARD_PROBLEM;
#if defined(BENCH_BOARD_ARGUMENT)
    char argument[] = BENCH_BOARD_ARGUMENT;
    char* arguments[] = {name, argument, workers_.data(), nullptr};
#else
    char* arguments[] = {name, workers_.data(), nullptr};
#endif
    captured_output output;
    status_ = board_main(static_cast<int>(std::size(arguments)) - 1, arguments);
    text_ = output.text();
  }

  std::optional<double> took_s() const override {
    std::smatch found;
    if (!std::regex_search(text_, found, std::regex("duration: ([0-9]+) us")))
      throw std::runtime_error("the board's program did not say how long it took");
    return static_cast<double>(std::stoull(found[1])) * 1e-6;
  }

  // It prints a sentence with "error" or "wrong" for a bad result, and goes on.
  bool verify() override {
    if (status_ != 0 || std::regex_search(text_, std::regex("error|wrong", std::regex::icase)))
      return false;
#if defined(BENCH_BOARD_RESULT)
    std::smatch found;
    return std::regex_search(text_, found, std::regex("output: ([0-9]+)")) &&
           found[1] == BENCH_BOARD_RESULT;
#else
    return true;
#endif
  }

private:
  std::string workers_;
  int status_ = -1;
  std::string text_;
};

} // namespace
} // namespace bench

int main(int argc, char** argv) {
  const bench::program what{BENCH_BOARD_PROBLEM,
                            BENCH_RUNTIME,
                            true,
                            false,
                            false,
                            [](const bench::input& in, unsigned workers) {
                              return std::make_unique<bench::board_program>(in, workers);
                            }};
  return bench::run_program(what, argc, argv);
}

// SPDX-License-Identifier: MIT
// Loops over functions in Python, and the exceptions of these.
#include "nopal/c/python.h"

#include "nopal/config.h"

#include <array>
#include <cstdint>
#include <mutex>
#include <utility>

namespace nopal::inline NOPAL_ABI::c {
namespace {

class python_loop {
public:
  python_loop(const nopal_python& python, void* function) noexcept
      : python_{python}, function_{function} {}

  // A piece, by a thread that may be new to Python. After a failure the number is that of a
  // cancelled one, which stops what comes serially after it and leaves no message.
  static int piece(void* loop, std::size_t begin, std::size_t end) {
    return static_cast<python_loop*>(loop)->call(begin, end);
  }

  // The caller holds the interpreter's lock, and no piece runs any more.
  void raise_first() noexcept {
    if (first_ != none)
      python_.raise(raised_[0], raised_[1], raised_[2]);
  }

private:
  using exception = std::array<void*, 3>; // type, value, traceback; the last two may be null
  static constexpr std::size_t none = SIZE_MAX;

  int call(std::size_t begin, std::size_t end) noexcept {
    const int held = python_.ensure();
    void* const result = python_.call(function_, "nn", begin, end);
    if (result == nullptr)
      keep(begin);
    python_.drop(result);
    python_.release(held);
    return result != nullptr ? NOPAL_OK : NOPAL_CANCELLED;
  }

  void keep(std::size_t begin) noexcept {
    exception raised{};
    python_.fetch(&raised[0], &raised[1], &raised[2]);
    {
      const std::scoped_lock guard{lock_}; // an interpreter may have no lock
      if (begin < first_) {
        first_ = begin;
        std::swap(raised_, raised);
      }
    }
    for (void* each : raised)
      python_.drop(each); // may run code in Python, and so takes no lock of ours
  }

  const nopal_python& python_;
  void* const function_;
  std::mutex lock_; // guards the rest
  std::size_t first_ = none;
  exception raised_{};
};

} // namespace
} // namespace nopal::inline NOPAL_ABI::c

extern "C" int nopal_python_loop(int version, const nopal_python* python, std::size_t n,
                                 std::size_t grain, void* function) {
  nopal::c::python_loop loop{*python, function};
  void* const thread = python->leave();
  const int result = nopal_for_range_as(version, 0, n, grain, nopal::c::python_loop::piece, &loop);
  python->enter(thread);
  loop.raise_first();
  return result;
}

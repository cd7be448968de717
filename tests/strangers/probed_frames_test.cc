// SPDX-License-Identifier: MIT
// Frames larger than the guard below their stack, in code that is compiled with
// -fstack-clash-protection. Without it a frame of 774 to 30,000 KiB in a fiber leaped over the
// guard into the stack of another one, and nobody noticed. With it the function touches each page
// of its frame, so it meets the guard, and the sentence of an overflow comes.
#include "nopal/base/die.h"
#include "nopal/fiber.h"
#include "nopal/fork.h"
#include "nopal/runtime.h"
#include "nopal/vproc/control.h"
#include "tests/api/support.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace nopal_test {
namespace {

constexpr std::size_t kSizes[] = {600, 774, 1500, 30'000}; // KiB

const auto died = testing::ExitedWithCode(nopal::base::exit_status_died);
const char* const of_fiber = "^nopal: stack overflow: a spawned fiber needs more than the 256 KiB";
const char* const of_strand = "^nopal: stack overflow: the recursion needs more than the 1024 KiB";

// Two frames of this size, each of which is written at its lower end alone.
[[gnu::noinline]] int leap(std::size_t kib, int more = 1) {
  auto* const frame = static_cast<char*>(__builtin_alloca(kib * 1024));
  asm volatile("" : : "r"(frame) : "memory");
  frame[0] = 1;
  asm volatile("" : : "r"(frame) : "memory");
  return (more == 0 ? 0 : leap(kib, more - 1)) + frame[0];
}

[[noreturn]] void in_a_fiber(std::size_t kib) {
  nopal::run([=] {
    for (int i = 0; i < 64; ++i)
      nopal::spawn([=] {
        nopal::yield();
        if (i == 40)
          leap(kib);
        nopal::yield();
      });
  });
  std::_Exit(4);
}

std::uintptr_t here() { return reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)); }

// A child on the main thread's own stack does nothing; the first one on a thief's stack leaps.
[[noreturn]] void in_a_stolen_child(std::size_t kib) {
  nopal::vproc::force_steals(1);
  nopal::configure({.num_workers = 2});
  const std::uintptr_t begin = here();
  nopal::scope s;
  for (int i = 0; i < 100'000; ++i)
    s.fork([=] {
      if (here() - begin + (std::uintptr_t{64} << 20) > std::uintptr_t{128} << 20)
        leap(kib);
    });
  s.join();
  std::_Exit(5);
}

class probed_frames_death : public death {};

TEST_F(probed_frames_death, in_a_fiber) {
  for (const std::size_t kib : kSizes)
    EXPECT_EXIT(in_a_fiber(kib), died, of_fiber) << kib;
}

TEST_F(probed_frames_death, in_a_stolen_child) {
  for (const std::size_t kib : kSizes)
    EXPECT_EXIT(in_a_stolen_child(kib), died, of_strand) << kib;
}

} // namespace
} // namespace nopal_test

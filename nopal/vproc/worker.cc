// SPDX-License-Identifier: MIT
// The stand-in for threads that run no strands, and each thread's pointer to its worker.
#include "nopal/vproc/worker.h"

#include "nopal/base/child.h"

#include <cstddef>

namespace nopal::inline NOPAL_ABI::vproc {

constinit stand_in no_worker;

namespace {

// For the last sentence of a thread that has no scheduler to go back to.
constexpr std::size_t kRoom = std::size_t{32} << 10;
alignas(64) char room_for_sentence[kRoom];

// In the child of fork() the thread runs no strand from now on. What it does is as if another copy
// of Nopal had its strand: forks begin new groups, on the stack where the thread is. If it returns
// to what began before, and that is not as it was, it comes to functions which call `strands_own`.
NOPAL_IN_CHILD([]() noexcept {
  no_worker.scheduler_stack = reinterpret_cast<std::uintptr_t>(room_for_sentence + kRoom);
  arch::nopal_self = &no_worker;
});

} // namespace

} // namespace nopal::inline NOPAL_ABI::vproc

namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::arch {
extern "C" {
constinit thread_local runner* nopal_self __attribute__((tls_model("initial-exec"))) =
    &vproc::no_worker;
}
} // namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::arch

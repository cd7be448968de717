// SPDX-License-Identifier: MIT
// The stand-in for threads that run no strands, and each thread's pointer to its worker.
#include "nopal/vproc/worker.h"

namespace nopal::inline NOPAL_ABI::vproc {

constinit stand_in no_worker;

} // namespace nopal::inline NOPAL_ABI::vproc

namespace nopal::arch {
extern "C" {
constinit thread_local runner* nopal_self __attribute__((tls_model("initial-exec"))) =
    &vproc::no_worker;
}
} // namespace nopal::arch

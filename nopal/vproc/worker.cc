// SPDX-License-Identifier: MIT
//
// The stand-in for threads that are no workers, and the variable that names each thread's worker.
#include "nopal/vproc/worker.h"
#include "nopal/config.h"

namespace nopal::inline NOPAL_ABI::vproc {

constinit worker nobody;

} // namespace nopal::inline NOPAL_ABI::vproc

namespace nopal::arch {
extern "C" {
constinit thread_local vproc::worker* nopal_self __attribute__((tls_model("initial-exec"))) =
    &vproc::nobody;
}
} // namespace nopal::arch

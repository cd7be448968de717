// SPDX-License-Identifier: MIT
// The runtime as <fibril.h> shows it.
#include "nopal/config.h"
#include "nopal/config/environment.h"
#include "nopal/config/options.h"
#include "nopal/vproc/settings.h"
#include "nopal/vproc/statistics.h"

#include <unistd.h>

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace nopal::inline NOPAL_ABI::c {
namespace {

constexpr int success = 0;
constexpr int failure = -1;
constexpr int from_environment = 0;
constexpr int online = -1;
constexpr int most_workers = config::most_workers;

// Zero: nobody has asked for a number. Below zero: the number is none.
int number_asked(int number) noexcept {
  if (number == online)
    return static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  if (number != from_environment)
    return number;
  const char* const variable = config::variable("FIBRIL_NPROCS");
  if (variable == nullptr)
    return 0;
  char* end = nullptr;
  const long value = std::strtol(variable, &end, 10);
  return *end != '\0' || value < 1 || value > most_workers ? failure : static_cast<int>(value);
}

void export_count(const char* name, std::uint64_t count) noexcept {
  char text[24];
  std::snprintf(text, sizeof text, "%" PRIu64, count);
  setenv(name, text, 1);
}

int init(int number) noexcept {
  const int asked = number_asked(number);
  if (asked < 0 || asked > most_workers) {
    std::fprintf(stderr,
                 "nopal: fibril_rt_init was given %d, %s; accepted are 1 to %d workers, "
                 "FIBRIL_NPROCS, which takes the number from that variable, and "
                 "FIBRIL_NPROCS_ONLN\n",
                 number,
                 number == from_environment ? "but the variable FIBRIL_NPROCS has no such number"
                                            : "which is no number of workers",
                 most_workers);
    return failure;
  }
  if (asked == 0)
    return success;
  const auto workers = static_cast<unsigned>(asked);
  if (vproc::set_num_workers(workers))
    return success;
  if (vproc::options_in_force().num_workers.value == workers)
    return success;
  std::fprintf(stderr,
               "nopal: fibril_rt_init asked for %u workers after the first fork, or after "
               "fibril_rt_nprocs, when there were %u already; call it before\n",
               workers, vproc::options_in_force().num_workers.value);
  return failure;
}

int exit_with_statistics() {
  const vproc::statistics done = vproc::measure();
  export_count("FIBRIL_N_STEALS", done.steals);
  export_count("FIBRIL_N_SUSPENSIONS", done.suspensions);
  export_count("FIBRIL_N_STACKS", done.stacks);
  export_count("FIBRIL_N_PAGES", done.stack_pages + done.pages_returned);
  return success;
}

} // namespace
} // namespace nopal::inline NOPAL_ABI::c

extern "C" {
int fibril_rt_init(int number) { return nopal::c::init(number); }
int fibril_rt_exit() { return 0; }
int fibril_rt_exit_with_statistics() { return nopal::c::exit_with_statistics(); }
int fibril_rt_nprocs() {
  return static_cast<int>(nopal::vproc::options_in_force().num_workers.value);
}
}

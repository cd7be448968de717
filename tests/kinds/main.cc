// SPDX-License-Identifier: MIT
// Calls the two parts, and checks that each behaves as it was compiled.
#include "outcome.h"

#include <nopal/runtime.h>
#include <nopal/vproc/settings.h>

#include <cstdio>

int main() {
  nopal::configure({.num_workers = 3});
  nopal::vproc::force_steals(7);
  const outcome serial = serial_part();
  const bool stolen_by_serial = nopal::stats().steals != 0;
  const outcome parallel = parallel_part();
  const bool stolen = nopal::stats().steals != 0;
  std::printf("serial: %u workers, in order %d, sum %ld, stolen %d; parallel: %u workers, sum %ld, "
              "stolen %d\n",
              serial.workers, serial.in_order, serial.sum, stolen_by_serial, parallel.workers,
              parallel.sum, stolen);
  return serial.workers == 1 && serial.in_order && serial.sum == 499500 && !stolen_by_serial &&
                 parallel.workers == 3 && parallel.sum == 499500 && stolen
             ? 0
             : 1;
}

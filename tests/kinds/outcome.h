// SPDX-License-Identifier: MIT
// What a part of the program tells of how it ran.
#pragma once

struct outcome {
  unsigned workers;
  bool in_order; // all ran on the caller's thread, one after another
  long sum;
};
outcome serial_part();
outcome parallel_part();

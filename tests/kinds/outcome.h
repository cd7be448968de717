// SPDX-License-Identifier: MIT
// How a part of the program ran: with how many workers, in which order, and what it computed.
#pragma once

struct outcome {
  unsigned workers;
  bool in_order; // all ran on the caller's thread, one after another
  long sum;
};
outcome serial_part();
outcome parallel_part();

// SPDX-License-Identifier: MIT
// Runs something in another worker.
#pragma once

#include "nopal/fork.h"
#include "tests/api/support.h"

namespace nopal_test {

// A thief calls the body, while this thread runs a child.
template <class Body> void elsewhere(Body body) {
  gate stolen, done;
  nopal::scope s;
  s.fork([&] {
    stolen.open();
    done.wait();
  });
  stolen.wait();
  body();
  done.open();
  s.join();
}

} // namespace nopal_test

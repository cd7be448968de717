// SPDX-License-Identifier: MIT
// Places, and fibers that stay at a place.
#include "nopal/vprocs.h"

#include <vector>

bool vprocs_is_right() {
  int count = 0;
  nopal::run([&count] {
    const std::vector<nopal::place> all = nopal::places();
    nopal::spawn_pinned(nopal::host(), [&count] { ++count; });
    nopal::enqueue_on(all.front(), nopal::make_pinned(all.front(), [] {}));
    nopal::migrate_to(nopal::host());
    const nopal::place given = nopal::provision();
    if (given)
      nopal::release(given);
  });
  return count == 1;
}

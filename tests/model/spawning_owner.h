// SPDX-License-Identifier: MIT
// What models of the queues between processes share: an owner that follows a script, and what is
// checked of each entry: it is taken once, as it was pushed.
//
// A level stands for the frames of one open spawn: the owner writes it, and pushes the entry that
// names it. After a pop that finds nothing the owner waits, and then writes all levels anew.
#pragma once

#include "tests/model/harness.h"

#include "nopal/process/transport/segment.h"

#include <cstdint>
#include <cstdio>
#include <optional>

namespace nopal::model {

using process::segment;

inline constexpr int most_pushes = 8;
inline constexpr int levels = 4;
// Numbers that wrap at 2^32 are among the first few.
inline constexpr std::uint32_t near_the_end = 0xffff'fffe;

struct spawning_owner {
  base::handed_over<std::uint32_t> frames[levels];
  int taken[most_pushes + 1] = {}; // an execution's threads take turns, so this is no race
  std::uint32_t pushed = 0;

  // Thief: the entry is its own, and names these frames.
  void copy(segment entry) noexcept {
    take_once(entry);
    check(frames[entry.lower] == entry.upper, "a thief does not see the frames as they were");
  }

  // In the script + is push; - is pop and n is pop_newest, if something can be popped. At the end
  // the owner pops all that is left. `settle` waits for the thieves; false: it has given up.
  template <class Queue, class Settle> void follow(const char* script, Queue& mine, Settle settle) {
    open_spawns open;
    while (*script != '\0' || open.depth > 0) {
      const char what = *script == '\0' ? '-' : *script++;
      if (what == '+') {
        push(mine, open);
      } else if (open.depth > 0 && !(what == '-' ? pop(mine, open) : pop_newest(mine, open))) {
        open.depth = 0;
        if (!settle())
          return;
        for (auto& each : frames)
          each = 0u;
      }
    }
  }

  void check_all_taken() const noexcept {
    std::uint32_t times = 0;
    for (const int each : taken)
      times += static_cast<std::uint32_t>(each);
    check(times == pushed, "an entry was lost");
  }

private:
  struct open_spawns {
    std::uint32_t numbers[levels];
    std::uint32_t depth = 0;
  };

  template <class Queue> bool pop(Queue& mine, open_spawns& open) {
    --open.depth;
    if (!mine.pop())
      return false;
    take_back({open.depth, open.numbers[open.depth]});
    return true;
  }
  template <class Queue> bool pop_newest(Queue& mine, open_spawns& open) {
    --open.depth;
    const std::optional<segment> newest = mine.pop_newest();
    if (!newest)
      return false;
    check(newest->lower == open.depth, "the newest entry is another one");
    take_back(*newest);
    return true;
  }
  template <class Queue> void push(Queue& mine, open_spawns& open) {
    const segment entry{open.depth, ++pushed};
    frames[entry.lower] = entry.upper;
    if (mine.push(entry))
      open.numbers[open.depth++] = entry.upper;
    else
      take_once(entry); // no room: it stays with its caller
  }
  void take_back(segment entry) noexcept {
    take_once(entry);
    check(frames[entry.lower] == entry.upper, "the owner's frames have changed");
    frames[entry.lower] = 0u;
  }
  void take_once(segment entry) noexcept {
    check(entry.upper >= 1 && entry.upper <= most_pushes, "what was taken was never pushed");
    check(++taken[entry.upper] == 1, "an entry was taken twice");
  }
};

template <class Scenario>
void try_script(runner& models, const char* script, std::uint32_t first, int tries,
                double share = 1) {
  Scenario::script = script;
  Scenario::first = first;
  Scenario::tries = tries;
  char name[64];
  std::snprintf(name, sizeof name, "%s, %u thieves from %x", script,
                static_cast<unsigned>(Scenario::params::thread_count) - 1, first);
  models.random<Scenario>(name, share);
}

} // namespace nopal::model

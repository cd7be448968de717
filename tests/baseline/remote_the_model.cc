// SPDX-License-Identifier: MIT
// Models of the queue of uni-address threads' paper, which Nopal's own is compared with: each entry
// is taken once, as it was pushed, and what a thief copies is not written meanwhile.
//
// A level stands for the frames of one open spawn, as in process_queue_model. A put has been done
// when it returns (process/transport/transport.h); a put that has not is a known bug.
#include "tests/model/harness.h"

#include "bench/baseline/remote_the.h"

namespace nopal::model {
namespace {

using process::segment;

enum class put : bool { done_when_it_returns, done_later };

inline constexpr int most_pushes = 8;
inline constexpr int levels = 4;

// The owner follows a script: + is push; - is pop and n is pop_newest, if something can be popped.
// At the end it pops all that is left.
template <std::uint32_t Capacity, int Thieves, put Put = put::done_when_it_returns>
struct the_scenario : scenario<the_scenario<Capacity, Thieves, Put>, Thieves + 1> {
  static constexpr bool must_fail = Put == put::done_later;
  static inline const char* script = "";
  static inline std::uint32_t first = 0;
  static inline int tries = 2;

  using memory_type = process::queue_memory<Capacity>;
  memory_type memory;
  base::handed_over<std::uint32_t> frames[levels];
  int taken[most_pushes + 1] = {}; // an execution's threads take turns, so this is no race
  std::uint32_t pushed = 0;

  struct place {
    memory_type* at = nullptr;
    memory_type& operator()() const noexcept { return *at; }
  };

  struct peer {
    the_scenario& in;

    std::uint64_t read_ends() noexcept {
      const std::uint32_t head = in.memory.head.load(base::acquire);
      return head | std::uint64_t{in.memory.tail.load(base::acquire)} << 32;
    }
    bool try_lock() noexcept { return in.memory.lock.fetch_add(1, base::acq_rel) == 0; }
    void unlock() noexcept { in.memory.lock.store(0, base::release); }
    void put_head(std::uint32_t head) noexcept {
      in.memory.head.store(head, base::relaxed);
      if constexpr (Put == put::done_when_it_returns)
        base::full_fence();
    }
    std::uint64_t read_entry(std::uint32_t number) noexcept {
      return in.memory.entry(number).load(base::acquire);
    }
    void copy(segment one) noexcept {
      in.take_once(one);
      check(in.frames[one.lower] == one.upper, "a thief does not see the frames as they were");
    }
  };

  void take_once(segment one) noexcept {
    check(one.upper >= 1 && one.upper <= most_pushes, "what was taken was never pushed");
    check(++taken[one.upper] == 1, "an entry was taken twice");
  }

  void before() {
    memory.head.store(first, base::relaxed);
    memory.tail.store(first, base::relaxed);
  }
  void thread(unsigned self) {
    if (self == 0)
      return own();
    peer victim{*this};
    for (int i = 0; i < tries; ++i)
      process::steal(victim);
  }

  struct open_spawns {
    std::uint32_t numbers[levels];
    std::uint32_t depth = 0;
  };
  using owner = process::queue_owner<place>;

  void own() {
    owner mine{place{&memory}};
    open_spawns open;
    const char* at = script;
    while (*at != '\0' || open.depth > 0) {
      const char what = *at == '\0' ? '-' : *at++;
      if (what == '+') {
        push(mine, open);
      } else if (open.depth > 0 && !(what == '-' ? pop(mine, open) : pop_newest(mine, open))) {
        open.depth = 0;
        check(mine.is_settled(), "frames are being copied after a pop has failed");
        for (auto& each : frames)
          each = 0u;
      }
    }
  }
  bool pop(owner& mine, open_spawns& open) {
    --open.depth;
    if (!mine.pop())
      return false;
    take_back({open.depth, open.numbers[open.depth]});
    return true;
  }
  bool pop_newest(owner& mine, open_spawns& open) {
    --open.depth;
    const std::optional<segment> newest = mine.pop_newest();
    if (!newest)
      return false;
    check(newest->lower == open.depth, "the newest entry is another one");
    take_back(*newest);
    return true;
  }
  void push(owner& mine, open_spawns& open) {
    const segment one{open.depth, ++pushed};
    frames[one.lower] = one.upper;
    if (mine.push(one))
      open.numbers[open.depth++] = one.upper;
    else
      take_once(one); // no room: it stays with its caller
  }
  void take_back(segment one) noexcept {
    take_once(one);
    check(frames[one.lower] == one.upper, "the owner's frames have changed");
    frames[one.lower] = 0u;
  }

  void after() {
    std::uint32_t times = 0;
    for (const int each : taken)
      times += static_cast<std::uint32_t>(each);
    check(times == pushed, "an entry was lost");
  }
};

constexpr std::uint32_t near_the_end = 0xffff'fffe; // numbers wrap at 2^32

template <class Scenario>
void try_script(runner& models, const char* script, std::uint32_t first, int tries) {
  Scenario::script = script;
  Scenario::first = first;
  Scenario::tries = tries;
  char name[64];
  std::snprintf(name, sizeof name, "%s, %u thieves from %x", script,
                static_cast<unsigned>(Scenario::params::thread_count) - 1, first);
  models.random<Scenario>(name, 1);
}

} // namespace
} // namespace nopal::model

int main(int argc, char** argv) {
  using namespace nopal::model;
  runner models{argc, argv};
  models.section("an owner and thieves");
  using narrow = the_scenario<4, 2>;
  using wide = the_scenario<8, 2>;
  try_script<narrow>(models, "+-+-", 0, 2);
  try_script<narrow>(models, "++--+-", near_the_end, 2);
  try_script<narrow>(models, "++++--", 0, 2);
  try_script<wide>(models, "++-+--+-", near_the_end, 3);
  try_script<wide>(models, "++n+n-+n", near_the_end, 2);
  models.section("known bugs");
  using late = the_scenario<4, 1, put::done_later>;
  try_script<late>(models, "+-+-", 0, 2);
  return models.result();
}

// SPDX-License-Identifier: MIT
// Models of the queue between processes: each entry is taken once, as it was pushed, and what a
// thief copies is not written before the thief has said that it is done.
//
// A thief reads head and tail at once. The checker's atomics have one size, so that read is
// modelled twice. `apart` has two atomics; the head is read first, with a fence between: these
// reads may return whatever one read returns, and other pairs besides. `whole` is one atomic with
// both in it, and a read that only acquires; there a store of the tail reads the newest value,
// which hides weak stores. So a bug must show in one of the two.
#include "spawning_owner.h"

#include "nopal/process/transport/queue.h"

namespace nopal::model {
namespace {

template <std::uint32_t Capacity> using apart = process::queue_memory<Capacity>;

// Head and tail in one word. Only the owner stores the tail, so what it adds is never wrong.
template <std::uint32_t Capacity> struct whole {
  static constexpr std::uint32_t capacity = Capacity;
  using place = base::place;

  struct head_half {
    base::atomic<std::uint64_t>& both;
    std::uint32_t load(base::order how, place at = place::current()) const noexcept {
      return static_cast<std::uint32_t>(both.load(how, at));
    }
    bool compare_exchange_strong(std::uint32_t& expected, std::uint32_t desired, base::order how,
                                 base::order failure, place at = place::current()) noexcept {
      std::uint64_t found = both.load(base::relaxed, at);
      while (static_cast<std::uint32_t>(found) == expected)
        if (both.compare_exchange_strong(found, (found >> 32 << 32) | desired, how, failure, at))
          return true;
      expected = static_cast<std::uint32_t>(found);
      return false;
    }
  };
  struct tail_half {
    base::atomic<std::uint64_t>& both;
    std::uint32_t now = 0;
    std::uint32_t load(base::order) const noexcept { return now; } // by the owner only
    void store(std::uint32_t value, base::order how, place at = place::current()) noexcept {
      both.fetch_add(static_cast<std::uint64_t>(value - now) << 32, how, at);
      now = value;
    }
  };

  base::atomic<std::uint64_t> both{0};
  head_half head{both};
  tail_half tail{both};
  base::atomic<std::uint32_t> acknowledged{0};
  base::atomic<std::uint64_t> entries[Capacity]{};

  base::atomic<std::uint64_t>& entry(std::uint32_t number) noexcept {
    return entries[number & (Capacity - 1)];
  }
};

template <std::uint32_t Capacity>
void begin_at(apart<Capacity>& memory, std::uint32_t first) noexcept {
  memory.head.store(first, base::relaxed);
  memory.tail.store(first, base::relaxed);
}
template <std::uint32_t Capacity>
void begin_at(whole<Capacity>& memory, std::uint32_t first) noexcept {
  memory.both.store(first | std::uint64_t{first} << 32, base::relaxed);
  memory.tail.now = first;
}

template <std::uint32_t Capacity> std::uint64_t both_ends(apart<Capacity>& memory) noexcept {
  const std::uint32_t head = memory.head.load(base::acquire);
  base::full_fence();
  return head | std::uint64_t{memory.tail.load(base::acquire)} << 32;
}
template <std::uint32_t Capacity> std::uint64_t both_ends(whole<Capacity>& memory) noexcept {
  return memory.both.load(base::acquire);
}
// A thief must not read in this order.
template <std::uint32_t Capacity> std::uint64_t tail_first(apart<Capacity>& memory) noexcept {
  const std::uint64_t tail = memory.tail.load(base::acquire);
  base::full_fence();
  return memory.head.load(base::acquire) | tail << 32;
}

template <class Memory> struct place {
  Memory* at = nullptr;
  Memory& operator()() const noexcept { return *at; }
};

enum class entry_is_read : bool { before_the_swap, after_it };
enum class thieves : unsigned char { live, die, read_the_tail_first, acknowledge_too_early };

template <class Memory, int Thieves, entry_is_read When = entry_is_read::after_it,
          thieves Thieves_ = thieves::live>
struct queue_scenario : scenario<queue_scenario<Memory, Thieves, When, Thieves_>, Thieves + 1>,
                        spawning_owner {
  static constexpr bool must_fail =
      Thieves_ == thieves::read_the_tail_first || Thieves_ == thieves::acknowledge_too_early;
  static inline const char* script = "";
  static inline std::uint32_t first = 0;
  static inline int tries = 2;

  Memory memory;
  struct {
    std::uint32_t number;
    segment copied;
  } unfinished[Thieves] = {}; // what was taken and never acknowledged
  int dead = 0;

  struct peer {
    queue_scenario& in;
    std::uint32_t number = 0;
    segment copied = {};

    std::uint64_t read_ends() noexcept {
      if constexpr (Thieves_ == thieves::read_the_tail_first)
        return tail_first(in.memory);
      else
        return both_ends(in.memory);
    }
    bool take(std::uint32_t head, std::uint64_t& entry) noexcept {
      std::uint32_t expected = number = head;
      if constexpr (When == entry_is_read::before_the_swap)
        entry = in.memory.entry(head).load(base::relaxed);
      if (!in.memory.head.compare_exchange_strong(expected, head + 1, base::seq_cst, base::seq_cst))
        return false;
      if constexpr (When == entry_is_read::after_it)
        entry = in.memory.entry(head).load(base::relaxed);
      if constexpr (Thieves_ == thieves::acknowledge_too_early)
        in.memory.acknowledged.fetch_add(1, base::release);
      return true;
    }
    void copy(segment entry) noexcept { in.copy(copied = entry); }
    void acknowledge() noexcept {
      if constexpr (Thieves_ == thieves::die)
        in.unfinished[in.dead++] = {number, copied};
      else if constexpr (Thieves_ != thieves::acknowledge_too_early)
        in.memory.acknowledged.fetch_add(1, base::release);
    }
  };

  void before() { begin_at(memory, first); }
  void thread(unsigned self) {
    if (self == 0)
      return own();
    peer victim{*this};
    for (int i = 0; i < tries; ++i)
      if (process::steal(victim) && Thieves_ == thieves::die)
        return;
  }

  using owner = process::queue_owner<place<Memory>>;

  void own() {
    owner mine{{&memory}, first};
    follow(script, mine, [&] { return settle(mine); });
  }
  bool settle(const owner& mine) noexcept {
    for (int i = 0; Thieves_ != thieves::die || i < 3; ++i) {
      if (mine.is_settled())
        return true;
      base::spin_pause();
    }
    return false;
  }

  void after() {
    check_all_taken();
    for (int i = 0; i < dead; ++i) {
      const auto& [number, copied] = unfinished[i];
      check(memory.entry(number).load(base::relaxed) == copied.packed() &&
                frames[copied.lower] == copied.upper,
            "what a dead thief was copying was written");
    }
  }
};

constexpr auto swap_first = entry_is_read::after_it;
constexpr auto entry_first = entry_is_read::before_the_swap;

template <class Scenario> void try_all(runner& models, const char* script, unsigned switches) {
  Scenario::script = script;
  Scenario::tries = 1;
  Scenario::first = near_the_end;
  models.bounded<Scenario>(script, switches);
}

template <template <std::uint32_t> class Memory, entry_is_read When> void live(runner& models) {
  using narrow = queue_scenario<Memory<2>, 2, When>;
  using wide = queue_scenario<Memory<4>, 2, When>;
  try_script<narrow>(models, "+-+-", 0, 2, 1);
  try_script<narrow>(models, "++--+-", near_the_end, 2, 1);
  try_script<narrow>(models, "++-+--+-", near_the_end, 3, 1);
  try_script<narrow>(models, "++++--", 0, 2, 1);
  try_script<wide>(models, "+++-+--+-", near_the_end, 2, 1);
  try_script<wide>(models, "++n+n-+n", near_the_end, 2, 1);
  try_all<queue_scenario<Memory<2>, 1, When>>(models, "++--+-", 3);
  try_all<narrow>(models, "++-", 2);
}

} // namespace
} // namespace nopal::model

int main(int argc, char** argv) {
  using namespace nopal::model;
  runner models{argc, argv};
  models.section("head and tail apart, the entry read after the swap");
  live<apart, swap_first>(models);
  models.section("head and tail apart, the entry read before the swap");
  live<apart, entry_first>(models);
  models.section("head and tail in one word");
  live<whole, swap_first>(models);
  models.section("thieves that die before they acknowledge");
  using deadly = queue_scenario<apart<2>, 2, swap_first, thieves::die>;
  try_script<deadly>(models, "++--++", 0, 2, 1);
  try_script<deadly>(models, "+++++-", near_the_end, 2, 1);
  models.section("known bugs");
  using torn = queue_scenario<apart<4>, 2, swap_first, thieves::read_the_tail_first>;
  try_script<torn>(models, "++--", 0, 2, 1);
  using hasty = queue_scenario<apart<4>, 1, swap_first, thieves::acknowledge_too_early>;
  try_script<hasty>(models, "+-+-", 0, 1, 1);
  return models.result();
}

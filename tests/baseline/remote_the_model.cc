// SPDX-License-Identifier: MIT
// Models of the queue of uni-address threads' paper, which Nopal's own is compared with: each entry
// is taken once, as it was pushed, and what a thief copies is not written meanwhile.
//
// A put has been done when it returns (process/transport/transport.h); a put that has not is a
// known bug.
#include "tests/model/spawning_owner.h"

#include "bench/baseline/remote_the.h"

namespace nopal::model {
namespace {

enum class put : bool { done_when_it_returns, done_later };

template <std::uint32_t Capacity, int Thieves, put Put = put::done_when_it_returns>
struct the_scenario : scenario<the_scenario<Capacity, Thieves, Put>, Thieves + 1>, spawning_owner {
  static constexpr bool must_fail = Put == put::done_later;
  static inline const char* script = "";
  static inline std::uint32_t first = 0;
  static inline int tries = 2;

  using memory_type = process::queue_memory<Capacity>;
  memory_type memory;

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
    void copy(segment entry) noexcept { in.copy(entry); }
  };

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

  void own() {
    process::queue_owner<place> mine{place{&memory}};
    follow(script, mine, [&] {
      check(mine.is_settled(), "frames are being copied after a pop has failed");
      return true;
    });
  }
  void after() { check_all_taken(); }
};

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

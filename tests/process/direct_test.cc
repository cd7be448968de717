// SPDX-License-Identifier: MIT
// The promise of transport.h, an operation has been done when its call returns, for memory that is
// used directly.
#include "nopal/process/transport/direct.h"

#include "nopal/base/os.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <thread>

namespace {

namespace process = nopal::process;
namespace base = nopal::base;

struct alignas(64) apart {
  base::atomic<std::uint32_t> value{0};
};

// Two threads that begin each round at about the same time.
class rounds {
public:
  void begin(std::uint32_t round) noexcept {
    come_.fetch_add(1, base::seq_cst);
    for (unsigned tries = 1; come_.load(base::acquire) < 2 * round; ++tries)
      base::wait_briefly(tries);
  }

private:
  base::atomic<std::uint32_t> come_{0};
};

TEST(direct, a_put_has_been_done_when_a_later_get_reads) {
  constexpr std::uint32_t times = 300'000;
  std::array<apart, 2> block; // the word that is put, and the one that its owner writes
  const process::direct_block peer{reinterpret_cast<std::uintptr_t>(&block)};
  void* const put_there = reinterpret_cast<void*>(process::block_at);
  void* const got_there = reinterpret_cast<void*>(process::block_at + sizeof(apart));
  rounds each;
  std::array<std::uint32_t, 2> seen{};
  std::uint32_t both_too_late = 0;
  std::thread owner{[&] {
    for (std::uint32_t round = 1; round <= times; ++round) {
      each.begin(2 * round - 1);
      block[1].value.store(round, base::relaxed);
      base::full_fence();
      seen[1] = block[0].value.load(base::relaxed);
      each.begin(2 * round);
    }
  }};
  for (std::uint32_t round = 1; round <= times; ++round) {
    each.begin(2 * round - 1);
    peer.put(put_there, &round, sizeof round);
    peer.get(&seen[0], got_there, sizeof seen[0]);
    each.begin(2 * round);
    both_too_late += seen[0] != round && seen[1] != round;
  }
  owner.join();
  EXPECT_EQ(both_too_late, 0u);
}

} // namespace

// SPDX-License-Identifier: MIT
// A steal that a thread of the victim's own process does for a thief elsewhere.
#include "nopal/process/transport/steal_service.h"

#include "nopal/process/transport/layout.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <sys/mman.h>
#include <thread>
#include <vector>

namespace {

namespace process = nopal::process;
namespace base = nopal::base;

class steal_service : public testing::Test {
protected:
  steal_service() {
    void* const at = reinterpret_cast<void*>(process::block_at);
    mapped_ = mmap(at, as_.size(), PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (mapped_ != at)
      throw std::runtime_error("the block could not be mapped");
  }
  ~steal_service() override { munmap(mapped_, as_.size()); }

  std::uint64_t* frames(process::segment task) const {
    return reinterpret_cast<std::uint64_t*>(as_.region_at() + task.lower);
  }
  std::optional<process::segment> accept(const std::vector<std::uint64_t>& message) const {
    return accept(message, message.size() * sizeof(std::uint64_t));
  }
  std::optional<process::segment> accept(const std::vector<std::uint64_t>& message,
                                         std::size_t bytes) const {
    return process::place_stolen(3, as_, message.data(), bytes);
  }

  const process::layout as_{std::size_t{1} << 20, std::size_t{64} << 10};
  void* mapped_ = nullptr;
};

TEST_F(steal_service, gives_the_oldest_first_and_each_once) {
  process::queue_owner<process::own_queue> owner;
  const process::segment all[] = {{32768, 65536}, {16384, 32768}};
  for (const process::segment task : all) {
    std::fill_n(frames(task), task.size() / 8, task.packed() + 1);
    ASSERT_TRUE(owner.push(task));
  }
  for (const process::segment task : all) {
    const std::vector<std::uint64_t> message = process::serve_steal(as_.region_at());
    ASSERT_EQ(message.size(), 1 + task.size() / 8);
    EXPECT_TRUE(owner.is_settled()); // its thread has acknowledged
    std::fill_n(frames(task), task.size() / 8, 0);
    const std::optional<process::segment> got = accept(message);
    ASSERT_TRUE(got);
    EXPECT_EQ(got->packed(), task.packed());
    EXPECT_EQ(std::count(frames(task), frames(task) + task.size() / 8, task.packed() + 1),
              task.size() / 8);
  }
  EXPECT_TRUE(process::serve_steal(as_.region_at()).empty());
  EXPECT_FALSE(accept({}));
  EXPECT_FALSE(owner.pop());
}

// What came from process 3 and is no continuation.
TEST_F(steal_service, a_message_that_is_no_continuation_ends_the_program) {
  const auto size = static_cast<std::uint32_t>(as_.region_size);
  std::vector<std::uint64_t> message(1 + size / 8 + 1);
  const auto refuses = [&](process::segment frames, std::size_t bytes, const char* sentence) {
    message[0] = frames.packed();
    EXPECT_EXIT(accept(message, bytes), testing::ExitedWithCode(70), sentence);
  };
  const char* const frames = "process 3 has answered a request for a steal by .* bytes of frames";
  refuses({0, 8}, 7, "process 3 has answered a request for a steal by 7 bytes; none, or an entry");
  refuses({0, 8}, 8, frames);                    // without frames
  refuses({0, 64}, 8 + 56, frames);              // shorter than it says
  refuses({0, 64}, 8 + 72, frames);              // longer
  refuses({64, 0}, 8 + 64, frames);              // upside down
  refuses({64, 64}, 8, frames);                  // empty
  refuses({size - 8, size + 8}, 8 + 16, frames); // beyond the region
  refuses({0, size + 8}, 8 + size + 8, frames);  // larger than the region
  refuses({0xffff'fff0, 8}, 8 + 24, frames);     // so many bytes, if that wrapped around
  refuses({0xffff'ffe0, 0xffff'fff0}, 8 + 16, frames);
  refuses({4, 12}, 8 + 8, frames); // not in whole words
  refuses({0, 12}, 8 + 12, frames);
  message[0] = process::segment{0, size}.packed();
  EXPECT_TRUE(accept(message, 8 + size)); // a whole region
}

// The owner writes frames when it has the entry and nothing is being copied, as tasks do. Every
// second entry it leaves to the thread that answers.
TEST_F(steal_service, what_is_given_is_whole_while_the_owner_goes_on) {
  constexpr std::uint64_t rounds = 2'000;
  const process::segment task{1024, 2048};
  process::queue_owner<process::own_queue> owner;
  base::atomic<std::uint32_t> over{0};
  std::uint64_t given = 0;
  std::uint64_t torn = 0;
  std::thread answers{[&] {
    while (over.load(base::acquire) == 0) {
      const std::vector<std::uint64_t> message = process::serve_steal(as_.region_at());
      if (message.empty())
        continue;
      ++given;
      torn += std::count(message.begin() + 1, message.end(), message[1]) != task.size() / 8;
    }
  }};
  std::uint64_t kept = 0;
  for (std::uint64_t round = 1; round <= rounds; ++round) {
    std::fill_n(frames(task), task.size() / 8, round);
    const std::uint32_t before = owner.stolen();
    EXPECT_TRUE(owner.push(task));
    for (unsigned tries = 1; round % 2 == 0 && owner.stolen() == before; ++tries)
      base::wait_briefly(tries);
    if (owner.pop())
      ++kept;
    else
      for (unsigned tries = 1; !owner.is_settled(); ++tries)
        base::wait_briefly(tries);
  }
  over.store(1, base::release);
  answers.join();
  EXPECT_EQ(kept + given, rounds);
  EXPECT_GE(given, rounds / 2);
  EXPECT_EQ(torn, 0u);
}

} // namespace

// SPDX-License-Identifier: MIT
// What another process may ask by message, and what ends this one with a sentence.
#include "nopal/process/transport/requests.h"

#include "nopal/process/transport/layout.h"
#include "nopal/process/transport/segment.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <sys/mman.h>

namespace {

namespace process = nopal::process;
using process::operation;
using process::request;

class requests : public testing::Test {
protected:
  // With the guard that nobody may access.
  requests() {
    void* const at = reinterpret_cast<void*>(process::block_at);
    mapped_ = mmap(at, as_.size(), PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (mapped_ != at)
      throw std::runtime_error("the block could not be mapped");
    mprotect(reinterpret_cast<void*>(as_.guard_at()), as_.guard_size(), PROT_NONE);
  }
  ~requests() override { munmap(mapped_, as_.size()); }

  const char* wrong(operation kind, std::uint64_t at, std::uint64_t bytes,
                    std::uint64_t content = 0) const {
    return process::wrong_with({kind, static_cast<std::uint32_t>(content), at, bytes}, as_);
  }

  const process::layout as_{std::size_t{1} << 20, std::size_t{64} << 10};
  void* mapped_ = nullptr;
};

TEST_F(requests, within_what_others_may_reach_are_well) {
  const std::uint64_t end = as_.guard_at();
  EXPECT_EQ(wrong(operation::get, process::block_at, end - process::block_at), nullptr);
  EXPECT_EQ(wrong(operation::get, end - 1, 1), nullptr);
  EXPECT_EQ(wrong(operation::get, end, 0), nullptr);
  EXPECT_EQ(wrong(operation::put, end - 3, 3, 3), nullptr);
  EXPECT_EQ(wrong(operation::store, end - 4, 4, 4), nullptr);
  EXPECT_EQ(wrong(operation::steal, 0, 0), nullptr);
  EXPECT_EQ(wrong(operation::flush, 0, 0), nullptr);
}

// Each for a get, which would read, and for a put, which would write.
TEST_F(requests, outside_of_what_others_may_reach_are_refused) {
  const std::uint64_t begin = process::block_at;
  const std::uint64_t end = as_.guard_at();
  constexpr std::uint64_t huge = std::uint64_t{1} << 40;
  static long elsewhere = 0;
  const auto of_program = reinterpret_cast<std::uintptr_t>(&elsewhere);
  const std::array<std::pair<std::uint64_t, std::uint64_t>, 12> places{{
      {0, 8},
      {of_program, 8},
      {begin - 8, 8},
      {begin - 8, 16},
      {end - 8, 16},
      {end, 8},
      {end + 8, 0},
      {as_.region_at(), 64}, // where tasks run
      {as_.region_end(), 8},
      {begin, huge},
      {end - 8, ~std::uint64_t{0}},     // the end wraps around
      {~std::uint64_t{0} - 7, 1 << 12}, // so does this one
  }};
  for (const auto& [at, bytes] : places) {
    EXPECT_NE(wrong(operation::get, at, bytes), nullptr) << std::hex << at << ' ' << bytes;
    EXPECT_NE(wrong(operation::put, at, bytes, bytes), nullptr) << std::hex << at << ' ' << bytes;
  }
}

TEST_F(requests, that_contradict_themselves_are_refused) {
  const std::uint64_t at = as_.heap_at();
  EXPECT_NE(wrong(operation::get, at, 8, 8), nullptr);                // brings something
  EXPECT_NE(wrong(operation::put, at, 64, 56), nullptr);              // shorter than said
  EXPECT_NE(wrong(operation::put, at, 64, 72), nullptr);              // longer
  EXPECT_NE(wrong(operation::put, at, (1ull << 32) + 8, 8), nullptr); // equal in 32 bits
  EXPECT_NE(wrong(operation::store, at, 8, 8), nullptr);
  EXPECT_NE(wrong(operation::store, at + 2, 4, 4), nullptr); // not aligned
  EXPECT_NE(wrong(operation::put, at + 4, 8, 8), nullptr);
  EXPECT_NE(wrong(operation::get, at + 1, 8), nullptr);
  EXPECT_NE(wrong(operation::steal, at, 0), nullptr);
  EXPECT_NE(wrong(operation::steal, 0, 0, 8), nullptr);
  EXPECT_NE(wrong(operation::flush, 0, 8), nullptr);
  EXPECT_NE(wrong(operation::answer, 0, 0), nullptr);
  EXPECT_NE(wrong(static_cast<operation>(77), 0, 0), nullptr);
}

TEST_F(requests, a_wrong_one_ends_the_program_with_a_sentence) {
  const request beyond{operation::get, 0, as_.guard_at(), 8};
  EXPECT_EXIT(process::require_well(5, beyond, 0, as_), testing::ExitedWithCode(70),
              "process 5 asks for a get of 8 bytes at 0x.* with 0 bytes, which is not within the "
              "memory that other processes may reach");
  const request put{operation::put, 16, as_.heap_at(), 16};
  EXPECT_EXIT(process::require_well(5, put, 8, as_), testing::ExitedWithCode(70),
              "process 5 asks for a put of 16 bytes at .* with 8 bytes, which is of another length "
              "than what came with it");
  process::require_well(5, put, 16, as_);
}

TEST_F(requests, are_executed) {
  const char text[] = "a text of 26 bytes, say so";
  void* const at = reinterpret_cast<void*>(as_.heap_at());
  const request put = process::request_for(operation::put, at, sizeof text);
  EXPECT_EQ(process::execute(put, text, as_).bytes, 0u);
  const request get = process::request_for(operation::get, at, sizeof text);
  const process::content got = process::execute(get, nullptr, as_);
  ASSERT_EQ(got.bytes, sizeof text);
  EXPECT_STREQ(reinterpret_cast<const char*>(got.words.data()), text);
  const std::uint32_t value = 77;
  process::execute(process::request_for(operation::store, at, sizeof value), &value, as_);
  EXPECT_EQ(std::memcmp(at, &value, sizeof value), 0);
  EXPECT_EQ(process::execute(process::request_for(operation::steal), nullptr, as_).bytes, 0u);
  EXPECT_EQ(process::execute(process::request_for(operation::flush), nullptr, as_).bytes, 0u);
}

TEST_F(requests, nothing_longer_than_a_message_is_asked) {
  EXPECT_EXIT(process::request_for(operation::get, nullptr, process::most_moved + 1),
              testing::ExitedWithCode(70), "at most 1073741824 are possible");
}

} // namespace

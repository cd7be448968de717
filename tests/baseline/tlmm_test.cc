// SPDX-License-Identifier: MIT
// Each function of Figure 6 (bench/baseline/tlmm.h), and each error; then two processes.
#include "bench/baseline/tlmm.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <set>
#include <vector>

namespace nopal_test {
namespace {

using bench::tlmm::mapping;
using bench::tlmm::memory;
using bench::tlmm::page_size;
using bench::tlmm::PD_NULL;
using bench::tlmm::pd_t;

// Whether an address can be read; the kernel tells without a signal.
bool has_page(const char* at) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  const bool readable = write(ends[1], at, 1) == 1;
  EXPECT_TRUE(readable || errno == EFAULT);
  close(ends[0]);
  close(ends[1]);
  return readable;
}

std::vector<pd_t> descriptors(memory& pages, std::size_t count) {
  std::vector<pd_t> made(count);
  for (pd_t& p : made)
    p = pages.palloc();
  return made;
}

char* region_of(memory& pages, std::size_t count) {
  return static_cast<char*>(pages.reserve(count * page_size));
}

TEST(tlmm, reserve_gives_addresses_without_pages) {
  memory pages(1);
  const auto* const at = static_cast<const char*>(pages.reserve(page_size + 1));
  ASSERT_NE(at, nullptr);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(at) % page_size, 0u);
  EXPECT_FALSE(has_page(at));
  EXPECT_FALSE(has_page(at + page_size));
}

TEST(tlmm, reserve_refuses_nothing_and_a_second_region) {
  memory pages(1);
  EXPECT_EQ(pages.reserve(0), nullptr);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_NE(pages.reserve(1), nullptr);
  EXPECT_EQ(pages.reserve(1), nullptr);
  EXPECT_EQ(errno, EBUSY);
}

TEST(tlmm, palloc_gives_other_descriptors_until_all_are_in_use) {
  memory pages(3);
  const std::vector<pd_t> made = descriptors(pages, 3);
  EXPECT_EQ(std::set<pd_t>(made.begin(), made.end()).size(), 3u);
  EXPECT_EQ(pages.palloc(), PD_NULL);
  EXPECT_EQ(errno, ENOSPC);
}

TEST(tlmm, pfree_gives_the_page_back_and_its_descriptor_is_used_again) {
  memory pages(1);
  char* const at = region_of(pages, 1);
  const pd_t p = pages.palloc();
  ASSERT_EQ(pages.pmap(&p, 1, at), 0);
  EXPECT_EQ(at[7], 0);
  at[7] = 1;
  EXPECT_EQ(pages.pfree(p), 0);
  EXPECT_EQ(at[7], 0);
  EXPECT_EQ(pages.palloc(), p);
}

TEST(tlmm, all_that_was_freed_is_used_again) {
  memory pages(3);
  const std::vector<pd_t> made = descriptors(pages, 3);
  for (const pd_t p : made)
    EXPECT_EQ(pages.pfree(p), 0);
  const std::vector<pd_t> again = descriptors(pages, 3);
  EXPECT_EQ(std::set<pd_t>(again.begin(), again.end()), std::set<pd_t>(made.begin(), made.end()));
}

TEST(tlmm, pfree_refuses_what_is_no_descriptor) {
  memory pages(2);
  const pd_t p = pages.palloc();
  EXPECT_EQ(pages.pfree(p), 0);
  for (const pd_t wrong : {p, PD_NULL, pd_t{-2}, pd_t{1}, pd_t{2}}) {
    EXPECT_EQ(pages.pfree(wrong), -1) << wrong;
    EXPECT_EQ(errno, EINVAL);
  }
}

TEST(tlmm, pmap_maps_each_descriptor_at_the_next_address) {
  memory pages(4);
  char* const at = region_of(pages, 6);
  const std::vector<pd_t> made = descriptors(pages, 4);
  ASSERT_EQ(pages.pmap(made.data(), 4, at), 0);
  for (std::size_t i = 0; i < 4; ++i)
    at[i * page_size] = static_cast<char>('a' + i);
  const std::array<pd_t, 3> others{made[2], made[0], made[3]};
  ASSERT_EQ(pages.pmap(others.data(), 3, at + 3 * page_size), 0);
  EXPECT_EQ(at[3 * page_size], 'c');
  EXPECT_EQ(at[4 * page_size], 'a');
  EXPECT_EQ(at[5 * page_size], 'd');
}

TEST(tlmm, descriptors_that_follow_one_another_take_one_crossing) {
  memory pages(8);
  char* const at = region_of(pages, 8);
  const std::vector<pd_t> made = descriptors(pages, 8);
  ASSERT_EQ(pages.pmap(made.data(), 8, at), 0);
  EXPECT_EQ(pages.crossings(), 1u);
  const std::array<pd_t, 6> four_runs{made[4], made[5], made[2], made[1], made[6], made[7]};
  ASSERT_EQ(pages.pmap(four_runs.data(), 6, at), 0);
  EXPECT_EQ(pages.crossings(), 1u + 4u);
}

TEST(tlmm, page_by_page_each_takes_a_crossing) {
  memory pages(8, mapping::page_wise);
  char* const at = region_of(pages, 8);
  const std::vector<pd_t> made = descriptors(pages, 8);
  ASSERT_EQ(pages.pmap(made.data(), 8, at), 0);
  EXPECT_EQ(pages.crossings(), 8u);
}

TEST(tlmm, pd_null_leaves_an_address_without_a_page) {
  memory pages(3);
  char* const at = region_of(pages, 4);
  const std::vector<pd_t> made = descriptors(pages, 3);
  ASSERT_EQ(pages.pmap(made.data(), 3, at), 0);
  const std::array<pd_t, 4> shorter{made[0], PD_NULL, PD_NULL, made[2]};
  const std::uint64_t before = pages.crossings();
  ASSERT_EQ(pages.pmap(shorter.data(), 4, at), 0);
  EXPECT_EQ(pages.crossings() - before, 3u);
  EXPECT_TRUE(has_page(at));
  EXPECT_FALSE(has_page(at + page_size));
  EXPECT_FALSE(has_page(at + 2 * page_size));
  EXPECT_TRUE(has_page(at + 3 * page_size));
}

TEST(tlmm, pmap_that_is_refused_changes_nothing) {
  memory pages(3);
  const std::vector<pd_t> made = descriptors(pages, 3);
  EXPECT_EQ(pages.pmap(made.data(), 1, nullptr), -1) << "without a region";
  char* const at = region_of(pages, 3);
  ASSERT_EQ(pages.pfree(made[2]), 0);
  const std::array<pd_t, 2> freed{made[0], made[2]};
  EXPECT_EQ(pages.pmap(freed.data(), 2, at), -1);
  EXPECT_EQ(pages.pmap(made.data(), 2, at + 1), -1) << "not at a page";
  EXPECT_EQ(pages.pmap(made.data(), 2, at + 2 * page_size), -1) << "past the region";
  EXPECT_EQ(pages.pmap(made.data(), 1, at - page_size), -1) << "before the region";
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(pages.crossings(), 0u);
  EXPECT_FALSE(has_page(at));
}

// The child is the thief: the same first page, another second one, at the same addresses.
TEST(tlmm, two_processes_see_other_pages_at_the_same_addresses) {
  memory pages(3);
  char* const at = region_of(pages, 2);
  const std::vector<pd_t> made = descriptors(pages, 2);
  ASSERT_EQ(pages.pmap(made.data(), 2, at), 0);
  at[0] = 'f';
  at[page_size] = 'v';
  const pid_t thief = fork();
  if (thief == 0) {
    const pd_t own = pages.palloc(); // a descriptor that the parent may use
    const std::array<pd_t, 2> prefix{made[0], own};
    if (pages.pmap(prefix.data(), 2, at) != 0 || at[0] != 'f' || at[page_size] != 0)
      _exit(1);
    at[0] = 'g';
    at[page_size] = 't';
    _exit(own == 2 ? 0 : 2);
  }
  int status = -1;
  ASSERT_EQ(waitpid(thief, &status, 0), thief);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(at[0], 'g');
  EXPECT_EQ(at[page_size], 'v');
  const pd_t theirs = 2;
  ASSERT_EQ(pages.pmap(&theirs, 1, at + page_size), 0);
  EXPECT_EQ(at[page_size], 't');
}

} // namespace
} // namespace nopal_test

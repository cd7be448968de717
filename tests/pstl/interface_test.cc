// SPDX-License-Identifier: MIT
// The backend's interface where the library's headers have version 17000, as in GCC 14: its
// functions are told by a first argument which backend is meant.
#include <cstddef>
#undef _PSTL_VERSION
#define _PSTL_VERSION 17000
#include "nopal/pstl/backend.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <vector>

namespace nopal_test {
namespace {

struct tag {};
struct policy {};
namespace backend = __pstl::__par_backend;

std::vector<int> up_to(int n) {
  std::vector<int> values(static_cast<std::size_t>(n));
  std::iota(values.begin(), values.end(), 0);
  return values;
}

TEST(std_par_interface, loops_and_reductions) {
  const std::vector<int> in = up_to(3000);
  using at = std::vector<int>::const_iterator;
  std::vector<int> seen(in.size());
  backend::__parallel_for(tag{}, policy{}, in.begin(), in.end(), [&](at i, at j) {
    for (; i != j; ++i)
      ++seen[static_cast<std::size_t>(*i)];
  });
  EXPECT_EQ(seen, std::vector<int>(in.size(), 1));
  const auto add_up = [](at i, at j, int sum) { return std::accumulate(i, j, sum); };
  EXPECT_EQ(
      backend::__parallel_reduce(tag{}, policy{}, in.begin(), in.end(), 0, add_up, std::plus<>{}),
      4498500);
  EXPECT_EQ(
      backend::__parallel_transform_reduce(
          tag{}, policy{}, in.begin(), in.end(), [](at i) { return *i; }, 5, std::plus<>{}, add_up),
      4498505);
  backend::__cancel_execution();
}

TEST(std_par_interface, scans) {
  const std::vector<int> in = up_to(1000);
  std::vector<int> out(in.size());
  const auto sum = [&](int i, int j, int before) {
    return std::accumulate(in.begin() + i, in.begin() + j, before);
  };
  const auto scan = [&](int i, int j, int before) {
    for (; i < j; ++i)
      out[static_cast<std::size_t>(i)] = before += in[static_cast<std::size_t>(i)];
    return before;
  };
  std::vector<int> expected(in.size());
  std::inclusive_scan(in.begin(), in.end(), expected.begin(), std::plus<>{}, 7);
  EXPECT_EQ(backend::__parallel_transform_scan(
                tag{}, policy{}, 1000, [&](int i) { return in[static_cast<std::size_t>(i)]; }, 7,
                std::plus<>{}, sum, scan),
            expected.back());
  EXPECT_EQ(out, expected);
  int total = 0;
  backend::__parallel_strict_scan(
      tag{}, policy{}, 1000, 7, [&](int i, int n) { return sum(i, i + n, 0); }, std::plus<>{},
      [&](int i, int n, int before) { return scan(i, i + n, before); },
      [&](int all) { total = all; });
  EXPECT_EQ(out, expected);
  EXPECT_EQ(total, expected.back());
}

TEST(std_par_interface, orders_and_calls) {
  std::vector<int> in = up_to(10000);
  std::reverse(in.begin(), in.end());
  using at = std::vector<int>::iterator;
  const auto sort_leaf = [](at i, at j, std::less<> before) { std::sort(i, j, before); };
  backend::__parallel_stable_sort(tag{}, policy{}, in.begin(), in.end(), std::less<>{}, sort_leaf);
  EXPECT_EQ(in, up_to(10000));
  std::vector<int> out(in.size());
  backend::__parallel_merge(tag{}, policy{}, in.begin(), in.begin() + 6000, in.begin() + 6000,
                            in.end(), out.begin(), std::less<>{},
                            [](at i, at i_end, at j, at j_end, at to, std::less<> before) {
                              std::merge(i, i_end, j, j_end, to, before);
                            });
  EXPECT_EQ(out, in);
  int left = 0;
  int right = 0;
  backend::__parallel_invoke(tag{}, policy{}, [&] { left = 1; }, [&] { right = 2; });
  EXPECT_EQ(left + right, 3);
  const backend::__buffer<int> memory{10};
  EXPECT_TRUE(memory && memory.get() != nullptr);
}

} // namespace
} // namespace nopal_test

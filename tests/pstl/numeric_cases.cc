// SPDX-License-Identifier: MIT
// The standard's parallel algorithms of <numeric>.
#include "tests/pstl/inputs.h"

#include <cstdint>
#include <functional>
#include <numeric>

namespace nopal_test {
namespace {

using numbers = std::vector<int>;

TEST(std_par, reduce) {
  for_inputs<int>([](const auto& policy, const numbers& in) {
    const std::int64_t expected = std::accumulate(in.begin(), in.end(), std::int64_t{7});
    EXPECT_EQ(std::reduce(policy, in.begin(), in.end(), std::int64_t{7}), expected);
    EXPECT_EQ(std::reduce(policy, in.begin(), in.end()), std::accumulate(in.begin(), in.end(), 0));
    EXPECT_EQ(std::reduce(policy, in.begin(), in.end(), 1 << 30,
                          [](int a, int b) { return std::min(a, b); }),
              std::accumulate(in.begin(), in.end(), 1 << 30,
                              [](int a, int b) { return std::min(a, b); }));
  });
}

TEST(std_par, transform_reduce) {
  for_inputs<int>([](const auto& policy, const numbers& in) {
    const auto square = [](int i) { return std::int64_t{i} * i; };
    const std::int64_t expected =
        std::transform_reduce(in.begin(), in.end(), std::int64_t{3}, std::plus<>{}, square);
    EXPECT_EQ(
        std::transform_reduce(policy, in.begin(), in.end(), std::int64_t{3}, std::plus<>{}, square),
        expected);
    EXPECT_EQ(std::transform_reduce(policy, in.begin(), in.end(), in.begin(), std::int64_t{3},
                                    std::plus<>{},
                                    [](int a, int b) { return std::int64_t{a} * b; }),
              expected);
    const std::vector<std::int64_t> wide(in.begin(), in.end());
    EXPECT_EQ(
        std::transform_reduce(policy, wide.begin(), wide.end(), wide.begin(), std::int64_t{3}),
        expected);
  });
}

// A sum to which an element cannot be converted, though any two give one.
struct total {
  std::int64_t value;
};
struct element {
  int value;
};
struct add {
  total operator()(total a, total b) const { return {a.value + b.value}; }
  total operator()(total a, element b) const { return {a.value + b.value}; }
  total operator()(element a, total b) const { return {a.value + b.value}; }
  total operator()(element a, element b) const { return {std::int64_t{a.value} + b.value}; }
};

TEST(std_par, reduces_elements_that_are_no_sums) {
  for_inputs<int>([](const auto& policy, const numbers& in) {
    std::vector<element> elements;
    for (const int value : in)
      elements.push_back({value});
    EXPECT_EQ(std::reduce(policy, elements.begin(), elements.end(), total{5}, add{}).value,
              std::accumulate(in.begin(), in.end(), std::int64_t{5}));
  });
}

// Inclusive and exclusive scans into out, given a policy or none.
template <class T, class Op, class Map, class... Policy>
void scans(const std::vector<T>& in, std::vector<T>& out, const T& init, Op op, Map map,
           const Policy&... policy) {
  const auto keep = [&](auto call) {
    std::vector<T> part(in.size());
    EXPECT_EQ(call(part), part.end());
    out.insert(out.end(), part.begin(), part.end());
  };
  const auto first = in.begin();
  const auto last = in.end();
  keep([&](auto& to) { return std::inclusive_scan(policy..., first, last, to.begin()); });
  keep([&](auto& to) { return std::inclusive_scan(policy..., first, last, to.begin(), op); });
  keep([&](auto& to) { return std::inclusive_scan(policy..., first, last, to.begin(), op, init); });
  keep([&](auto& to) { return std::exclusive_scan(policy..., first, last, to.begin(), init); });
  keep([&](auto& to) { return std::exclusive_scan(policy..., first, last, to.begin(), init, op); });
  keep([&](auto& to) {
    return std::transform_inclusive_scan(policy..., first, last, to.begin(), op, map);
  });
  keep([&](auto& to) {
    return std::transform_inclusive_scan(policy..., first, last, to.begin(), op, map, init);
  });
  keep([&](auto& to) {
    return std::transform_exclusive_scan(policy..., first, last, to.begin(), init, op, map);
  });
}

template <class T, class Map> void same_scans(const T& init, Map map) {
  for_inputs<T>([&](const auto& policy, const std::vector<T>& in) {
    std::vector<T> mine;
    std::vector<T> expected;
    scans(in, mine, init, std::plus<T>{}, map, policy);
    scans(in, expected, init, std::plus<T>{}, map);
    EXPECT_EQ(mine, expected);
  });
}

TEST(std_par, scans_of_integers) {
  same_scans<int>(5, [](int i) { return i % 3; });
}
TEST(std_par, scans_of_floating_point_numbers) { // all sums are exact
  same_scans<double>(0, [](double i) { return i / 2; });
}
TEST(std_par, scans_in_place) {
  for_inputs<int>([](const auto& policy, const numbers& in) {
    numbers mine = in;
    numbers expected = in;
    std::inclusive_scan(policy, mine.begin(), mine.end(), mine.begin());
    std::inclusive_scan(expected.begin(), expected.end(), expected.begin());
    EXPECT_EQ(mine, expected);
  });
}

// Concatenation of digits, in sixty bits: associative, not commutative.
struct digits {
  std::uint64_t value = 0;
  std::uint64_t power = 1; // modulo 2^64
  bool operator==(const digits&) const = default;
};
digits operator+(digits a, digits b) { return {a.value * b.power + b.value, a.power * b.power}; }

TEST(std_par, scans_keep_the_order) {
  for_inputs<int>([](const auto& policy, const numbers& in) {
    std::vector<digits> values;
    for (const int each : in)
      values.push_back({static_cast<std::uint64_t>(each), 11});
    std::vector<digits> mine;
    std::vector<digits> expected;
    const auto map = [](digits d) { return digits{d.value + 1, d.power}; };
    scans(values, mine, digits{3, 7}, std::plus<>{}, map, policy);
    scans(values, expected, digits{3, 7}, std::plus<>{}, map);
    EXPECT_EQ(mine, expected);
  });
}

TEST(std_par, adjacent_difference) {
  for_inputs<int>([](const auto& policy, const numbers& in) {
    numbers mine(in.size());
    numbers expected(in.size());
    if (in.empty()) // libstdc++ before 13 asserts that there is an element
      return;
    std::adjacent_difference(policy, in.begin(), in.end(), mine.begin());
    std::adjacent_difference(in.begin(), in.end(), expected.begin());
    EXPECT_EQ(mine, expected);
  });
}

} // namespace
} // namespace nopal_test

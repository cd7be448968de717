// SPDX-License-Identifier: MIT
// The standard's parallel algorithms that write, move and remove elements, with numbers and with
// strings that lie on the heap.
#include "tests/pstl/inputs.h"

#include <atomic>
#include <iterator>
#include <memory>

namespace nopal_test {
namespace {

template <class T> class std_par_values : public testing::Test {};
using value_types = testing::Types<int, std::string>;
TYPED_TEST_SUITE(std_par_values, value_types);

// The algorithm, given a policy or none, with copies of the input and of an output of its size:
// what it has left in both, and where it ended, are the same.
template <class T, class Call> void same_as_serial(const Call& call) {
  for_inputs<T>([&](const auto& policy, const std::vector<T>& in) {
    std::vector<T> mine = in;
    std::vector<T> expected = in;
    std::vector<T> out(in.size());
    std::vector<T> expected_out(in.size());
    const auto end = call(mine, out, policy);
    const auto expected_end = call(expected, expected_out);
    EXPECT_EQ(end, expected_end);
    EXPECT_EQ(mine, expected);
    EXPECT_EQ(out, expected_out);
  });
}

template <class T> bool marked(const T& value) {
  if constexpr (std::is_same_v<T, std::string>)
    return !value.empty() && (value.back() == '1' || value.back() == '4');
  else
    return value % 10 == 1 || value % 10 == 4;
}

TYPED_TEST(std_par_values, copies) {
  using T = TypeParam;
  same_as_serial<T>([](auto& in, auto& out, const auto&... policy) {
    return std::copy(policy..., in.begin(), in.end(), out.begin()) - out.begin();
  });
  same_as_serial<T>([](auto& in, auto& out, const auto&... policy) {
    return std::copy_n(policy..., in.begin(), in.size() / 2, out.begin()) - out.begin();
  });
  same_as_serial<T>([](auto& in, auto& out, const auto&... policy) {
    return std::copy_if(policy..., in.begin(), in.end(), out.begin(), marked<T>) - out.begin();
  });
  same_as_serial<T>([](auto& in, auto& out, const auto&... policy) {
    const auto end = std::move(policy..., in.begin(), in.end(), out.begin());
    std::fill(in.begin(), in.end(), T{}); // what was moved from is unspecified
    return end - out.begin();
  });
  same_as_serial<T>([](auto& in, auto& out, const auto&... policy) {
    return std::reverse_copy(policy..., in.begin(), in.end(), out.begin()) - out.begin();
  });
  same_as_serial<T>([](auto& in, auto& out, const auto&... policy) {
    const auto middle = in.begin() + static_cast<std::ptrdiff_t>(in.size() / 3);
    return std::rotate_copy(policy..., in.begin(), middle, in.end(), out.begin()) - out.begin();
  });
}

TYPED_TEST(std_par_values, transforms) {
  using T = TypeParam;
  same_as_serial<T>([](auto& in, auto& out, const auto&... policy) {
    return std::transform(policy..., in.begin(), in.end(), out.begin(),
                          [](const T& value) { return value + value; }) -
           out.begin();
  });
  same_as_serial<T>([](auto& in, auto& out, const auto&... policy) {
    return std::transform(policy..., in.begin(), in.end(), in.begin(), out.begin(),
                          [](const T& a, const T& b) { return a + b; }) -
           out.begin();
  });
}

TYPED_TEST(std_par_values, every_element_once) {
  for_inputs<TypeParam>([](const auto& policy, const auto& in) {
    std::vector<int> calls(in.size());
    const auto count = [&](const TypeParam& value) {
      ++calls[static_cast<std::size_t>(&value - in.data())];
    };
    std::for_each(policy, in.begin(), in.end(), count);
    std::for_each_n(policy, in.begin(), in.size() / 2, count);
    for (std::size_t i = 0; i < in.size(); ++i)
      ASSERT_EQ(calls[i], i < in.size() / 2 ? 2 : 1);
  });
}

TYPED_TEST(std_par_values, fills) {
  using T = TypeParam;
  same_as_serial<T>([](auto& in, auto& out, const auto&... policy) {
    std::fill(policy..., in.begin(), in.end(), made_of<T>(3));
    return std::fill_n(policy..., out.begin(), out.size() / 2, made_of<T>(4)) - out.begin();
  });
  same_as_serial<T>([](auto& in, auto& out, const auto&... policy) {
    const auto make = [] { return made_of<T>(5); };
    std::generate(policy..., in.begin(), in.end(), make);
    return std::generate_n(policy..., out.begin(), out.size() / 2, make) - out.begin();
  });
}

TYPED_TEST(std_par_values, replacements) {
  using T = TypeParam;
  same_as_serial<T>([](auto& in, auto& out, const auto&... policy) {
    std::replace_copy(policy..., in.begin(), in.end(), out.begin(), made_of<T>(1), made_of<T>(9));
    std::replace(policy..., in.begin(), in.end(), made_of<T>(2), made_of<T>(8));
    return 0;
  });
  same_as_serial<T>([](auto& in, auto& out, const auto&... policy) {
    std::replace_copy_if(policy..., in.begin(), in.end(), out.begin(), marked<T>, made_of<T>(9));
    std::replace_if(policy..., in.begin(), in.end(), marked<T>, made_of<T>(8));
    return 0;
  });
}

TYPED_TEST(std_par_values, removals) {
  using T = TypeParam;
  same_as_serial<T>([](auto& in, auto& out, const auto&... policy) {
    return std::remove_copy(policy..., in.begin(), in.end(), out.begin(), made_of<T>(1)) -
           out.begin();
  });
  same_as_serial<T>([](auto& in, auto& out, const auto&... policy) {
    return std::remove_copy_if(policy..., in.begin(), in.end(), out.begin(), marked<T>) -
           out.begin();
  });
  same_as_serial<T>([](auto& in, auto& out, const auto&... policy) {
    return std::unique_copy(policy..., in.begin(), in.end(), out.begin()) - out.begin();
  });
  same_as_serial<T>([](auto& in, auto&, const auto&... policy) {
    in.erase(std::remove(policy..., in.begin(), in.end(), made_of<T>(1)), in.end());
    in.erase(std::remove_if(policy..., in.begin(), in.end(), marked<T>), in.end());
    in.erase(std::unique(policy..., in.begin(), in.end()), in.end());
    return in.size();
  });
}

TYPED_TEST(std_par_values, permutations) {
  using T = TypeParam;
  same_as_serial<T>([](auto& in, auto& out, const auto&... policy) {
    std::swap_ranges(policy..., in.begin(), in.end(), out.begin());
    std::reverse(policy..., out.begin(), out.end());
    return 0;
  });
  for (const std::size_t part : {3u, 2u})
    same_as_serial<T>([part](auto& in, auto&, const auto&... policy) {
      const std::size_t left = part == 3 ? in.size() / 3 : in.size() - in.size() / 3;
      return std::rotate(policy..., in.begin(), in.begin() + static_cast<std::ptrdiff_t>(left),
                         in.end()) -
             in.begin();
    });
}

TYPED_TEST(std_par_values, partitions) {
  using T = TypeParam;
  same_as_serial<T>([](auto& in, auto& out, const auto&... policy) {
    std::vector<T> rest(in.size());
    const auto ends =
        std::partition_copy(policy..., in.begin(), in.end(), out.begin(), rest.begin(), marked<T>);
    in = rest;
    return std::pair{ends.first - out.begin(), ends.second - rest.begin()};
  });
  same_as_serial<T>([](auto& in, auto&, const auto&... policy) {
    return std::stable_partition(policy..., in.begin(), in.end(), marked<T>) - in.begin();
  });
  for_inputs<T>([](const auto& policy, const auto& in) {
    auto parted = in;
    const auto middle = std::partition(policy, parted.begin(), parted.end(), marked<T>);
    EXPECT_EQ(middle - parted.begin(), std::count_if(in.begin(), in.end(), marked<T>));
    EXPECT_TRUE(std::is_partitioned(parted.begin(), parted.end(), marked<T>));
    EXPECT_EQ(sorted(parted), sorted(in));
  });
}

TYPED_TEST(std_par_values, raw_memory) {
  using T = TypeParam;
  for_inputs<T>([](const auto& policy, const auto& in) {
    std::allocator<T> heap;
    const std::size_t n = in.size();
    T* const place = heap.allocate(n);
    const auto all_are = [&](const auto& expected) {
      EXPECT_TRUE(std::equal(place, place + n, expected.begin()));
      std::destroy(policy, place, place + n);
    };
    EXPECT_EQ(std::uninitialized_copy(policy, in.begin(), in.end(), place), place + n);
    all_are(in);
    EXPECT_EQ(std::uninitialized_copy_n(policy, in.begin(), n, place), place + n);
    all_are(in);
    auto source = in;
    EXPECT_EQ(std::uninitialized_move(policy, source.begin(), source.end(), place), place + n);
    all_are(in);
    source = in;
    std::uninitialized_move_n(policy, source.begin(), n, place);
    all_are(in);
    std::uninitialized_fill(policy, place, place + n, made_of<T>(6));
    all_are(std::vector<T>(n, made_of<T>(6)));
    std::uninitialized_fill_n(policy, place, n, made_of<T>(7));
    all_are(std::vector<T>(n, made_of<T>(7)));
    std::uninitialized_value_construct(policy, place, place + n);
    all_are(std::vector<T>(n));
    std::uninitialized_value_construct_n(policy, place, n);
    all_are(std::vector<T>(n));
    std::uninitialized_default_construct(policy, place, place + n);
    std::destroy_n(policy, place, n);
    std::uninitialized_default_construct_n(policy, place, n);
    std::destroy_n(policy, place, n);
    heap.deallocate(place, n);
  });
}

} // namespace
} // namespace nopal_test

// SPDX-License-Identifier: MIT
// Algorithms that write what they have read, with all kinds of ranges (range_table.h). A scan of
// objects that refer to others wrote its sums there, and what moved was read again.
#include "nopal/algorithm.h"
#include "nopal/filter.h"
#include "nopal/scan.h"
#include "nopal/sort.h"
#include "tests/strangers/range_table.h"

#include <numeric>

namespace nopal_test {
namespace {

using reads = row<need::to_read>;
using reads_again = row<need::to_read_again>;
using writes = row<need::to_write>;
using writes_front = row<need::to_write, form::both, rest::front>;
using writes_in_any_order = row<need::to_write, form::both, rest::in_any_order>;

struct merges : reads {
  static constexpr bool moves_both = true;
};

constexpr auto twice = [](long x) { return 2 * x; };
constexpr auto alike = [](long x, long y) { return x / 4 == y / 4; };

NOPAL_ALIKE(transform, reads, transform(in..., out.numbers.begin(), twice, key));
NOPAL_ALIKE(transform_two, reads,
            transform(in..., in..., out.numbers.begin(), std::minus<>{}, mixed, key));
NOPAL_ALIKE(copy, reads, copy(in..., out.values.begin()));
NOPAL_ALIKE(copy_if, reads, copy_if(in..., out.values.begin(), odd, key));
NOPAL_ALIKE(unique_copy, reads_again, unique_copy(in..., out.values.begin(), alike, key));
NOPAL_ALIKE(merge, merges, merge(in..., in..., out.values.begin(), {}, key, key));
NOPAL_ALIKE(fill, writes, fill(in..., out.sample));
NOPAL_ALIKE(generate, writes, generate(in..., gives{out.sample}));
NOPAL_ALIKE(sort, writes, sort(in..., std::greater<>{}, mixed));
NOPAL_ALIKE(stable_sort, writes, stable_sort(in..., {}, mixed));
NOPAL_ALIKE(partition, writes_in_any_order, partition(in..., odd, key));
NOPAL_ALIKE(stable_partition, writes, stable_partition(in..., odd, key));
NOPAL_ALIKE(remove_if, writes_front, remove_if(in..., odd, key));
NOPAL_ALIKE(unique, writes_front, unique(in..., alike, key));

struct inclusive_scan : reads_again {
  static constexpr auto ours = NOPAL_CALL(nopal::inclusive_scan(in..., out.values.begin()));
  static constexpr auto theirs = [](auto& out, auto& all) {
    return std::inclusive_scan(all.begin(), all.end(), out.values.begin());
  };
};
struct inclusive_scan_from : reads_again {
  static constexpr auto ours =
      NOPAL_CALL(nopal::inclusive_scan(in..., out.numbers.begin(), std::plus<>{}, mixed, 7L));
  static constexpr auto theirs = [](auto& out, auto& all) {
    return std::transform_inclusive_scan(all.begin(), all.end(), out.numbers.begin(), std::plus<>{},
                                         mixed, 7L);
  };
};
struct exclusive_scan : reads_again {
  static constexpr auto ours =
      NOPAL_CALL(nopal::exclusive_scan(in..., out.values.begin(), out.sample));
  static constexpr auto theirs = [](auto& out, auto& all) {
    return std::exclusive_scan(all.begin(), all.end(), out.values.begin(), out.sample);
  };
};

TEST(ranges_write, copies) {
  check_rows<transform, transform_two, copy, copy_if, unique_copy, merge>();
}
TEST(ranges_write, merges_what_moves) {
  of_texts_to_move low;
  of_texts_to_move high;
  std::vector<std::string> all(2 * elements);
  nopal::merge(low.range(), high.range(), all.begin(), {}, key, key);
  for (std::size_t i = 0; i < all.size(); ++i)
    ASSERT_EQ(all[i], text_of(static_cast<long>(i / 2)));
}
TEST(ranges_write, scans) { check_rows<inclusive_scan, inclusive_scan_from, exclusive_scan>(); }
TEST(ranges_write, changes) {
  check_rows<fill, generate, sort, stable_sort, partition, stable_partition, remove_if, unique>();
}

} // namespace
} // namespace nopal_test

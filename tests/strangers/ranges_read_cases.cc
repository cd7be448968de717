// SPDX-License-Identifier: MIT
// Loops over elements and questions about them, with all kinds of ranges (range_table.h). Some
// algorithms took no iterators, and kept what they had read of a view.
#include "nopal/accumulate.h"
#include "nopal/algorithm.h"
#include "nopal/either.h"
#include "nopal/find.h"
#include "nopal/for_range.h"
#include "nopal/pipeline.h"
#include "nopal/worklist.h"
#include "tests/strangers/range_table.h"

#include <numeric>
#include <optional>

namespace nopal_test {
namespace {

using reads = row<need::to_read>;
using reads_range = row<need::to_read, form::range_alone>;
using indices = row<need::of_indices>;

NOPAL_ALIKE(for_each, reads, for_each(in..., note, key));
NOPAL_ALIKE(for_each_n, row<need::steps>, for_each_n(first_of(in...), elements, note, key));
NOPAL_ALIKE(find_if, reads, find_if(in..., large, key));
NOPAL_ALIKE(count_if, reads, count_if(in..., odd, key));
NOPAL_ALIKE(count, reads, count(in..., out.sample));
NOPAL_ALIKE(count_projected, reads, count(in..., 7L, quarter));
NOPAL_ALIKE(any_of, reads, any_of(in..., large, key));
NOPAL_ALIKE(all_of, reads, all_of(in..., large, key));
NOPAL_ALIKE(none_of, reads, none_of(in..., large, key));
NOPAL_ALIKE(equal, reads, equal(in..., in...));
NOPAL_ALIKE(min_element, reads, min_element(in...));
NOPAL_ALIKE(min_element_projected, reads, min_element(in..., {}, mixed));
NOPAL_ALIKE(max_element, reads, max_element(in..., {}, mixed));
NOPAL_ALIKE(min, reads_range, min(in..., {}, mixed));
NOPAL_ALIKE(max, reads_range, max(in..., {}, mixed));

struct min_max : reads_range {
  static constexpr auto ours = NOPAL_CALL(nopal::min_max(in..., {}, mixed));
  static constexpr auto theirs = NOPAL_CALL(std::ranges::minmax(in..., {}, mixed));
};
struct transform_reduce : reads {
  static constexpr auto ours = NOPAL_CALL(nopal::transform_reduce(in..., out.sample));
  static constexpr auto theirs = [](auto& out, auto& all) {
    return std::accumulate(all.begin(), all.end(), out.sample);
  };
};
struct transform_reduce_mapped : reads {
  static constexpr auto ours = NOPAL_CALL(nopal::transform_reduce(in..., 5L, std::plus<>{}, mixed));
  static constexpr auto theirs = [](auto&, auto& all) {
    return std::transform_reduce(all.begin(), all.end(), 5L, std::plus<>{}, mixed);
  };
};
constexpr auto below = [](const auto& x) { return key(x) < 300; };
struct for_each_while : reads {
  static constexpr auto ours = NOPAL_CALL(nopal::for_each_while(in..., below));
  static constexpr auto theirs = NOPAL_CALL(std::ranges::find_if_not(in..., below));
};

constexpr auto noted_once = [](const auto& x, auto&...) { note(key(x)); };
struct for_worklist : row<need::to_be_input, form::range_alone> {
  static constexpr auto ours = NOPAL_CALL(nopal::for_worklist(in..., noted_once));
  static constexpr auto theirs = NOPAL_CALL(std::ranges::for_each(in..., note, key));
};
constexpr auto one = [](const auto& x) {
  return key(x) == 1 ? std::optional(key(x)) : std::nullopt;
};
struct either : row<need::to_be_forward, form::range_alone> {
  static constexpr auto ours = NOPAL_CALL(nopal::either(in..., one).value_or(0));
  static constexpr auto theirs = [](auto&, auto&) { return 1L; };
};
template <std::random_access_iterator It> struct drawn_from {
  It at;
  int left = elements;
  std::optional<std::iter_value_t<It>> operator()() {
    return left-- == 0 ? std::nullopt : std::optional<std::iter_value_t<It>>(*at++);
  }
};
template <class It> drawn_from(It) -> drawn_from<It>;
struct pipeline : row<need::steps> {
  static constexpr auto ours = NOPAL_CALL(nopal::pipeline(
      4, drawn_from{first_of(in...)}, nopal::parallel_stage(key), nopal::ordered_stage(note)));
  static constexpr auto theirs = NOPAL_CALL(std::ranges::for_each(in..., note, key));
};

// Loops over indices take no iterators, whatever their functions take.
constexpr auto anything = [](auto&&...) { return std::optional(1L); };
struct for_index : indices {
  static constexpr auto ours = NOPAL_CALL(nopal::for_index(in..., anything));
};
struct for_index_while : indices {
  static constexpr auto ours = NOPAL_CALL(nopal::for_index_while(in..., gives{true}));
};
struct reduce : indices {
  static constexpr auto ours = NOPAL_CALL(nopal::reduce(in..., 0L, std::plus<>{}, key));
};
struct reduce_while : indices {
  static constexpr auto ours = NOPAL_CALL(nopal::reduce_while(in..., 0L, std::plus<>{}, anything));
};
struct accumulate : indices {
  static constexpr auto ours = NOPAL_CALL(nopal::accumulate(in..., gives{0L}, anything, anything));
};
struct for_range : indices {
  static constexpr auto ours = NOPAL_CALL(nopal::for_range(in..., anything));
};
struct for_step : indices {
  static constexpr auto ours = NOPAL_CALL(nopal::for_step(in..., 1, anything));
};
struct for_block : indices {
  static constexpr auto ours = NOPAL_CALL(nopal::for_block(in..., in..., anything));
};

TEST(ranges_read, by_loops) {
  check_rows<for_each, for_each_n, for_each_while, for_worklist, either, pipeline>();
}
TEST(ranges_read, by_questions) {
  check_rows<find_if, count_if, count, count_projected, any_of, all_of, none_of, equal>();
}
TEST(ranges_read, by_extremes_and_reductions) {
  check_rows<min_element, min_element_projected, max_element, min, max, min_max, transform_reduce,
             transform_reduce_mapped>();
}
TEST(ranges_read, by_no_loop_over_indices) {
  check_rows<for_index, for_index_while, reduce, reduce_while, accumulate, for_range, for_step,
             for_block>();
}

} // namespace
} // namespace nopal_test

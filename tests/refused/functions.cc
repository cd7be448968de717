// SPDX-License-Identifier: MIT
// Functions that take elements only as some of what they may be: as objects that can be changed, as
// values, as constants. A comparison that takes an int& satisfied the concept of a sort and failed
// inside. Each algorithm is called with each of them, in each place of a function, with objects and
// with values: a concept refuses the call, or it compiles. There is no case but the accepted one.
#include "nopal/accumulate.h"
#include "nopal/algorithm.h"
#include "nopal/either.h"
#include "nopal/filter.h"
#include "nopal/find.h"
#include "nopal/for_range.h"
#include "nopal/pipeline.h"
#include "nopal/scan.h"
#include "nopal/sort.h"
#include "nopal/worklist.h"

#include <functional>
#include <memory>
#include <optional>
#include <ranges>
#include <type_traits>
#include <vector>

namespace {

// Of one element or two.
struct of_lvalues {
  bool operator()(long& x) const { return x > 1; }
  bool operator()(long& x, long& y) const { return x < y; }
};
struct of_rvalues {
  bool operator()(long&& x) const { return x > 1; }
  bool operator()(long&& x, long&& y) const { return x < y; }
};
struct of_rvalues_alone : of_rvalues {
  using of_rvalues::operator();
  bool operator()(const long& x) const = delete;
  bool operator()(const long& x, const long& y) const = delete;
};
struct of_constants_alone {
  bool operator()(const long& x) const { return x > 1; }
  bool operator()(long& x) const = delete;
  bool operator()(const long& x, const long& y) const { return x < y; }
  bool operator()(long& x, long& y) const = delete;
};
struct of_equal_kinds { // not of an object and a constant
  bool operator()(const long& x) const { return x > 1; }
  template <class X> bool operator()(X& x, X& y) const { return x < y; }
  template <class X> bool operator()(X&& x, X&& y) const { return x < y; }
};
struct of_changing {
  bool operator()(long x) { return x > 1; }
  bool operator()(long x, long y) { return x < y; }
};
struct of_constant_functions { // not as an object that can be changed
  bool operator()(long x) const { return x > 1; }
  bool operator()(long x) = delete;
  bool operator()(long x, long y) const { return x < y; }
  bool operator()(long x, long y) = delete;
};
struct truth {
  bool value;
  operator bool() const { return value; }
};
struct explicit_truth {
  bool value;
  explicit operator bool() const { return value; }
};
template <class Result> struct giving {
  Result operator()(long x) const { return {x > 1}; }
  Result operator()(long x, long y) const { return {x < y}; }
};
struct of_any_lvalues {
  bool operator()(auto& x) const { return x > 1; }
  bool operator()(auto& x, auto& y) const { return x < y; }
};
struct giving_owners {
  std::unique_ptr<long> operator()(long x) const { return std::make_unique<long>(x); }
  std::unique_ptr<long> operator()(long x, long) const { return std::make_unique<long>(x); }
};
struct giving_references {
  const long& operator()(const long& x) const { return x; }
  const long& operator()(const long& x, const long&) const { return x; }
};
struct not_copied {
  not_copied() = default;
  not_copied(const not_copied&) = delete;
  bool operator()(long x) const { return x > 1; }
  bool operator()(long x, long y) const { return x < y; }
};

#define NOPAL_TRY(...)                                                                             \
  [](auto& f, auto* out, auto& same, auto&... in) {                                                \
    static_cast<void>(out), static_cast<void>(same), (static_cast<void>(in), ...);                 \
    if constexpr (requires { __VA_ARGS__; })                                                       \
      static_cast<void>(__VA_ARGS__);                                                              \
    else                                                                                           \
      static_cast<void>(f);                                                                        \
  }(f, out, same, in...)

template <class F, class... In> void in_each_place(const F& f, In&... in) {
  long* const out = nullptr;
  const std::identity same;
  NOPAL_TRY(nopal::for_each(in..., f));
  NOPAL_TRY(nopal::for_each(in..., f, f));
  NOPAL_TRY(nopal::for_each_while(in..., f));
  NOPAL_TRY(nopal::find_if(in..., f));
  NOPAL_TRY(nopal::find_if(in..., same, f));
  NOPAL_TRY(nopal::for_each_n(std::ranges::begin(in)..., 0, f));
  NOPAL_TRY(nopal::transform(in..., out, f));
  NOPAL_TRY(nopal::transform(in..., out, same, f));
  NOPAL_TRY(nopal::transform(in..., in..., out, f));
  NOPAL_TRY(nopal::transform(in..., in..., out, std::plus<>{}, f, same));
  NOPAL_TRY(nopal::generate(in..., f));
  NOPAL_TRY(nopal::transform_reduce(in..., 0L, f));
  NOPAL_TRY(nopal::transform_reduce(in..., 0L, std::plus<>{}, f));
  NOPAL_TRY(nopal::count_if(in..., f));
  NOPAL_TRY(nopal::count_if(in..., same, f));
  NOPAL_TRY(nopal::count(in..., 1L, f));
  NOPAL_TRY(nopal::any_of(in..., f));
  NOPAL_TRY(nopal::all_of(in..., same, f));
  NOPAL_TRY(nopal::none_of(in..., f));
  NOPAL_TRY(nopal::equal(in..., in..., f));
  NOPAL_TRY(nopal::equal(in..., in..., {}, f, same));
  NOPAL_TRY(nopal::min_element(in..., f));
  NOPAL_TRY(nopal::max_element(in..., {}, f));
  NOPAL_TRY(nopal::min(in..., f));
  NOPAL_TRY(nopal::max(in..., {}, f));
  NOPAL_TRY(nopal::min_max(in..., f));
  NOPAL_TRY(nopal::min_max(in..., {}, f));
}
template <class F, class... In> void in_each_place_of_changes(const F& f, In&... in) {
  long* const out = nullptr;
  const std::identity same;
  NOPAL_TRY(nopal::sort(in..., f));
  NOPAL_TRY(nopal::sort(in..., {}, f));
  NOPAL_TRY(nopal::stable_sort(in..., f));
  NOPAL_TRY(nopal::stable_sort(in..., {}, f));
  NOPAL_TRY(nopal::merge(in..., in..., out, f));
  NOPAL_TRY(nopal::merge(in..., in..., out, {}, f, same));
  NOPAL_TRY(nopal::merge(in..., in..., out, {}, same, f));
  NOPAL_TRY(nopal::inclusive_scan(in..., out, f));
  NOPAL_TRY(nopal::inclusive_scan(in..., out, std::plus<>{}, f));
  NOPAL_TRY(nopal::inclusive_scan(in..., out, f, same, 0L));
  NOPAL_TRY(nopal::exclusive_scan(in..., out, 0L, f));
  NOPAL_TRY(nopal::exclusive_scan(in..., out, 0L, std::plus<>{}, f));
  NOPAL_TRY(nopal::copy_if(in..., out, f));
  NOPAL_TRY(nopal::copy_if(in..., out, same, f));
  NOPAL_TRY(nopal::unique_copy(in..., out, f));
  NOPAL_TRY(nopal::unique_copy(in..., out, {}, f));
  NOPAL_TRY(nopal::remove_if(in..., f));
  NOPAL_TRY(nopal::remove_if(in..., same, f));
  NOPAL_TRY(nopal::unique(in..., f));
  NOPAL_TRY(nopal::unique(in..., {}, f));
  NOPAL_TRY(nopal::partition(in..., f));
  NOPAL_TRY(nopal::partition(in..., same, f));
  NOPAL_TRY(nopal::stable_partition(in..., f));
  NOPAL_TRY(nopal::stable_partition(in..., same, f));
  NOPAL_TRY(nopal::for_worklist(in..., [&f](auto&&... x)
                                  requires std::invocable<const F&, decltype(x)...>
                                { return f(x...); }));
  NOPAL_TRY(nopal::either(in..., f));
  NOPAL_TRY(nopal::for_index(0L, 0L, f));
  NOPAL_TRY(nopal::for_index_while(0L, 0L, f));
  NOPAL_TRY(nopal::for_index_while(0L, 0L, f, 3));
  NOPAL_TRY(nopal::for_range(0L, 0L, f));
  NOPAL_TRY(nopal::for_range(0L, 0L, f, 3));
  NOPAL_TRY(nopal::for_step(0L, 0L, 1, f));
  NOPAL_TRY(nopal::reduce(0L, 0L, 0L, f, same));
  NOPAL_TRY(nopal::reduce(0L, 0L, 0L, std::plus<>{}, f));
  NOPAL_TRY(nopal::reduce(0L, 0L, nopal::identity{0L}, std::plus<>{}, f));
  NOPAL_TRY(nopal::reduce_while(0L, 0L, 0L, std::plus<>{}, f));
  NOPAL_TRY(nopal::accumulate(0L, 0L, [] { return 0L; }, f, f));
  NOPAL_TRY(nopal::pipeline(
      1, [] { return std::optional<long>(); }, nopal::parallel_stage(std::ref(f)),
      nopal::ordered_stage(f)));
}
template <class... F> void with_each_kind(const F&... f) {
  std::vector<long> objects;
  auto values = std::views::iota(0L, 0L);
  (in_each_place(f, objects), ...);
  (in_each_place(f, values), ...);
  (in_each_place_of_changes(f, objects), ...);
  (in_each_place_of_changes(f, values), ...);
}

using numbers = std::vector<long>&;
template <class F>
concept sorts = requires(numbers all, F f) { nopal::sort(all, f); };
template <class F>
concept merges = requires(numbers all, F f) { nopal::merge(all, all, all.begin(), f); };
template <class F>
concept chooses = requires(numbers all, F f) { nopal::min_element(all, f); };
template <class F>
concept counts = requires(numbers all, F f) { nopal::count_if(all, f); };
static_assert(!sorts<of_lvalues> && !merges<of_lvalues> && chooses<of_lvalues>);
static_assert(counts<of_lvalues> && !counts<of_rvalues> && !counts<of_changing>);
static_assert(sorts<giving<truth>> && !sorts<giving<explicit_truth>>);
static_assert(!sorts<of_equal_kinds> && merges<of_equal_kinds>);

} // namespace

int main() {
  with_each_kind(of_lvalues{}, of_rvalues_alone{}, of_constants_alone{}, of_equal_kinds{},
                 of_changing{}, of_constant_functions{}, giving<truth>{}, giving<explicit_truth>{},
                 of_any_lvalues{}, giving_owners{}, giving_references{}, not_copied{});
}

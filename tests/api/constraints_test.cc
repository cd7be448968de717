// SPDX-License-Identifier: MIT
// What each function of the interface accepts, its body compiles and does; what the body cannot do
// is refused by the constraint, so that a program can ask.
#include "nopal/affine.h"
#include "nopal/arena.h"
#include "nopal/blocking.h"
#include "nopal/cancelable.h"
#include "nopal/either.h"
#include "nopal/find.h"
#include "nopal/future.h"
#include "nopal/invoke.h"
#include "nopal/loop.h"
#include "nopal/policies.h"
#include "tests/api/support.h"

#include <array>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <ranges>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace nopal_test {
namespace {

const start this_program{2};

struct item {
  int value = 0;
  bool even() const { return value % 2 == 0; }
  void twice() { value *= 2; }
  void only_of_lvalues() & { value += 1; }
};

// Called in ways that differ by the category and the constness of the function object.
struct only_const {
  int operator()() const { return 1; }
};
struct only_mutable {
  int operator()() { return 2; }
  int operator()() const = delete;
};
struct only_lvalue {
  int operator()() & { return 3; }
  int operator()() && = delete;
};
struct only_rvalue {
  int operator()() & = delete;
  int operator()() && { return 4; }
};
struct not_copied {
  not_copied() = default;
  not_copied(const not_copied&) = delete;
  not_copied& operator=(const not_copied&) = delete;
  int operator()() const { return 5; }
  int operator()(int i) const { return i; }
  long operator()(long a, long b) const { return a + b; }
};
// Results: without a default, that only move, and that do not even move.
struct no_default {
  explicit no_default(int given) : value(given) {}
  int value;
};
struct immovable {
  immovable() = default;
  immovable(immovable&&) = delete;
};

template <class F>
concept invokes = requires(F&& f) { nopal::invoke(std::forward<F>(f), [] {}); };
template <class F>
concept calls_affine = requires(F&& f) { nopal::affine(std::forward<F>(f)); };
template <class F>
concept is_shielded = requires(F&& f) { nopal::shielded(std::forward<F>(f)); };
template <class F>
concept is_run = requires(F&& f) { nopal::run(std::forward<F>(f)); };
template <class F>
concept is_spawned = requires(F&& f) { nopal::spawn(std::forward<F>(f)); };
template <class... F>
concept alternates = requires(F&&... f) { nopal::either(std::forward<F>(f)...); };
template <class... F>
concept alternates_with_losers =
    requires(nopal::cancel_scope s, F&&... f) { nopal::either(s, std::forward<F>(f)...); };
template <class Range, class... F>
concept alternates_over =
    requires(Range&& range, F&&... f) { nopal::either(std::forward<Range>(range), f...); };
template <class... Parts>
concept is_forked =
    requires(nopal::scope s, Parts&&... parts) { s.fork(std::forward<Parts>(parts)...); };
template <class... Parts>
concept is_forked_there =
    requires(nopal::cancel_scope s, Parts&&... parts) { s.fork(std::forward<Parts>(parts)...); };
template <class First, class Last, class F>
concept loops = requires(First a, Last b, F f) { nopal::for_index(a, b, f); };
template <class T, class Combine, class Map>
concept reduces = requires(T t, Combine c, Map m) { nopal::reduce(0, 9, std::move(t), c, m); };
template <class Range, class F>
concept visits = requires(Range&& all, F f) { nopal::for_each(std::forward<Range>(all), f); };
template <class T, class F>
concept promises = requires(F f) { nopal::future1<T>{f}; };

using int_of_int = int (*)(int);
using to_unique = std::unique_ptr<int> (*)(int);

TEST(constraints, of_fork) {
  using takes_reference = void (*)(int&);
  static_assert(is_forked<takes_reference, std::reference_wrapper<int>>);
  static_assert(!is_forked<takes_reference, int&>);
  static_assert(is_forked<int&, int_of_int, int> && is_forked<long&, int_of_int, int>);
  static_assert(!is_forked<const int&, int_of_int, int>);
  static_assert(!is_forked<std::string&, int_of_int, std::string>);
  static_assert(is_forked<only_const&> && is_forked<only_mutable&> && is_forked<only_lvalue>);
  static_assert(!is_forked<only_rvalue> && !is_forked<not_copied&> && !is_forked<not_copied>);
  static_assert(is_forked<std::reference_wrapper<not_copied>>);
  static_assert(!is_forked<void (item::*)()&, item&>);
  static_assert(is_forked<void (item::*)()&, item*> && is_forked<void (item::*)(), item&>);
  static_assert(!is_forked<void (*)(std::unique_ptr<int>), std::unique_ptr<int>&>);
  static_assert(is_forked<void (*)(std::unique_ptr<int>), std::unique_ptr<int>>);

  item element;
  int x = 1;
  nopal::scope s;
  s.fork(&item::only_of_lvalues, std::ref(element));
  s.fork([](int& to) { to = 7; }, std::ref(x));
  s.join();
  EXPECT_EQ(element.value, 1);
  EXPECT_EQ(x, 7);
}

TEST(constraints, of_fork_in_a_cancel_scope_are_those_of_a_scope) {
  static_assert(is_forked_there<only_lvalue> && !is_forked_there<not_copied&>);
  static_assert(is_forked_there<int&, int_of_int, int> && !is_forked_there<int&, int_of_int>);
  nopal::cancel_scope s;
  int x = 0;
  s.fork(x, only_lvalue{});
  s.join();
  EXPECT_EQ(x, 3);
}

TEST(constraints, of_invoke) {
  static_assert(invokes<only_const&> && invokes<const only_const&> && invokes<only_mutable&>);
  static_assert(!invokes<const only_mutable&> && invokes<only_lvalue> && !invokes<only_rvalue>);
  static_assert(invokes<not_copied&> && invokes<not_copied> && invokes<void (&)()>);
  static_assert(invokes<no_default (*)()> && invokes<std::unique_ptr<int> (*)()>);
  static_assert(!invokes<immovable (*)()> && !invokes<std::unique_ptr<int>& (*)()>);
  static int referred = 8;
  const auto [a, b, c] =
      nopal::invoke([]() -> int& { return referred; }, not_copied{}, [] { return no_default{6}; });
  EXPECT_EQ(a + b + c.value, 8 + 5 + 6);
}

TEST(constraints, of_calls_that_come_back) {
  static_assert(calls_affine<no_default (*)()> && calls_affine<int& (*)()>);
  static_assert(!calls_affine<immovable (*)()> && !is_shielded<immovable (*)()>);
  static_assert(!is_run<immovable (*)()> && is_run<std::unique_ptr<int> (*)()>);
  static_assert(calls_affine<only_rvalue> && !calls_affine<only_rvalue&>);
  static_assert(is_shielded<const not_copied&> && !is_run<const only_mutable&>);
  int x = 0;
  EXPECT_EQ(&nopal::affine([&x]() -> int& { return x; }), &x);
  EXPECT_EQ(&nopal::shielded([&x]() -> int& { return x; }), &x);
  EXPECT_EQ(&nopal::run([&x]() -> int& { return x; }), &x);
  EXPECT_EQ(nopal::arena{1}.run([] { return no_default{3}; }).value, 3);
  nopal::blocking([] { return immovable{}; });
}

TEST(constraints, of_spawn) {
  static_assert(is_spawned<only_rvalue> && !is_spawned<only_lvalue> && !is_spawned<not_copied&>);
  static_assert(is_spawned<const only_rvalue&> && !is_spawned<int>);
}

TEST(constraints, of_either) {
  static_assert(alternates<void (*)()> && alternates<void (*)(), std::monostate (*)()>);
  static_assert(!alternates<void (*)(), int (*)()>);
  static_assert(alternates<int (*)(), std::optional<long> (*)()>);
  static_assert(!alternates<immovable (*)()> && !alternates<std::string (*)(), int (*)()>);
  static_assert(alternates<not_copied&> && !alternates_with_losers<not_copied&>);
  static_assert(!alternates<const only_mutable&> && alternates_with_losers<only_mutable&>);
  static_assert(alternates<std::unique_ptr<int> (*)()> && alternates<no_default (*)()>);
  static_assert(!alternates<std::unique_ptr<int>& (*)()> && !alternates<>);

  bool ran = false;
  const std::optional<std::monostate> ended = nopal::either([&ran] { ran = true; });
  EXPECT_TRUE(ended.has_value() && ran);
  EXPECT_THROW(nopal::either([] { throw 1; }), int);
  nopal::cancel_scope losers;
  EXPECT_TRUE(nopal::either(losers, [] {}, [] {}).has_value());
}

TEST(constraints, of_loops) {
  static_assert(loops<int, std::size_t, void (*)(std::size_t)>);
  static_assert(!loops<bool, bool, void (*)(bool)> && !loops<int, bool, void (*)(int)>);
  static_assert(!loops<int, double, void (*)(int)> && !loops<int*, int*, void (*)(int*)>);
  __extension__ using wide = __int128;
  static_assert(!loops<wide, wide, void (*)(wide)> && !loops<int, wide, void (*)(int)>);
  static_assert(!loops<int, int, void (*)(int&)> && !loops<int, int, void (*)()>);
  using items = std::vector<item>&;
  static_assert(visits<items, void (item::*)()> && visits<items, int item::*>);
  static_assert(!visits<const std::vector<item>&, void (item::*)()>);
  static_assert(!visits<items, void (item::*)(int)>);
  static_assert(!visits<decltype(std::views::iota(0)), int_of_int>, "it has no end");
  using taken = decltype(std::views::iota(0, 9) | std::views::take(3));
  static_assert(visits<taken, int_of_int>);

  std::vector<item> all(9);
  for (int i = 0; i < 9; ++i)
    all[static_cast<std::size_t>(i)].value = 2 * i + 1;
  nopal::for_each(all, &item::twice, 2);
  EXPECT_EQ(all[8].value, 34);
  all[5].value = 6;
  all[6].value = 0;
  EXPECT_EQ(nopal::find_if(all, &item::even, 1), all.begin());
  EXPECT_EQ(nopal::for_each_while(all, &item::value, 1) - all.begin(), 6);
  EXPECT_EQ(nopal::find_if(all.begin() + 1, all.end(), &item::even) - all.begin(), 1);
  const std::counted_iterator first{all.begin(), 5};
  nopal::for_each(first, std::default_sentinel, &item::twice); // the end is of another type
  nopal::for_each(std::ranges::subrange(first, std::default_sentinel), &item::twice);
  EXPECT_EQ(all[4].value, 72);
  const not_copied f;
  nopal::for_index(0, 10, f);
  using found = decltype(nopal::find_if(std::vector<int>{}, f));
  static_assert(std::is_same_v<found, std::ranges::dangling>);
}

TEST(constraints, of_reduce) {
  using join_unique = std::unique_ptr<int> (*)(std::unique_ptr<int>, std::unique_ptr<int>);
  static_assert(reduces<std::unique_ptr<int>, join_unique, to_unique>);
  static_assert(!reduces<nopal::identity<std::unique_ptr<int>>, join_unique, to_unique>);
  static_assert(reduces<long, std::plus<>, int_of_int>);
  static_assert(!reduces<long, int_of_int, std::plus<>>, "the two change places");
  static_assert(!reduces<std::string, std::plus<>, int_of_int>);
  static_assert(!reduces<immovable, immovable (*)(immovable&&, immovable&&), immovable (*)(int)>);
  static_assert(reduces<no_default, no_default (*)(no_default, no_default), no_default (*)(int)>);

  using text = std::string;
  const auto append = [](text&& to, const text& more) -> text&& { return std::move(to += more); };
  const auto letter = [](int i) { return text(20, static_cast<char>('a' + i % 26)); };
  EXPECT_EQ(nopal::reduce(0, 600, text("begin"), append, letter).size(), 5u + 600 * 20);
  const not_copied plus;
  EXPECT_EQ(nopal::reduce(0, 1000, 10L, plus, plus), 10 + 499500);
  const auto maybe = [](int i) { return i < 7 ? std::make_unique<int>(i) : nullptr; };
  EXPECT_EQ(nopal::reduce_while(0, 1000, 100, std::plus<>{}, maybe, 1), 121);
}

TEST(constraints, of_either_over_a_range) {
  using functions = std::vector<int (*)()>;
  using numbers = std::vector<int>;
  static_assert(alternates_over<functions&> && alternates_over<const functions&>);
  static_assert(alternates_over<functions> && !alternates_over<numbers>);
  static_assert(alternates_over<numbers&, int (*)(int&)> &&
                alternates_over<numbers&, void (*)(int)>);
  static_assert(!alternates_over<const numbers&, int (*)(int&)>);
  static_assert(alternates_over<std::vector<item>, bool (item::*)() const>);
  static_assert(!alternates_over<numbers&, immovable (*)(int)>);
  const not_copied same;
  EXPECT_EQ(nopal::either(numbers{4}, same), 4);
}

TEST(constraints, of_future1) {
  static_assert(std::is_move_constructible_v<std::optional<nopal::future1<int>>>);

  static_assert(promises<void, void (*)()> && promises<void, int (*)()>);
  static_assert(promises<long, int (*)()> && !promises<int, void (*)()>);
  static_assert(promises<int&, int& (*)()> && !promises<const int&, int (*)()>);
  static_assert(promises<no_default, no_default (*)()>);
  int x = 0;
  nopal::run([&x] {
    nopal::future1<void> done{[&x] { x = 9; }};
    done.touch();
    EXPECT_EQ(x, 9);
    EXPECT_EQ(&nopal::future1<int&>([&x]() -> int& { return x; }).touch(), &x);
    EXPECT_EQ(
        *nopal::future1<std::unique_ptr<int>>([] { return std::make_unique<int>(2); }).touch(), 2);
    EXPECT_THROW(nopal::future1<void>([] { throw 1; }).touch(), int);
  });
}

} // namespace
} // namespace nopal_test

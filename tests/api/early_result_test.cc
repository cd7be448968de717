// SPDX-License-Identifier: MIT
// A result that is read before the join: check builds show the mistake even with one worker. After
// the join each result is there, in every build.
#include "nopal/base/sanitizer.h"
#include "tests/api/support.h"

#include <array>
#include <stdexcept>
#include <string>
#include <utility>

namespace nopal_test {
namespace {

class early_result_death : public death {};
using early_result = early_result_death;

constexpr bool checked =
#if defined(NOPAL_CHECKS)
    true;
#else
    false;
#endif

bool addresses_are_sanitized() {
  alignas(8) static char probe[16];
  const bool hidden = nopal::base::hide_object(probe, 8);
  nopal::base::reveal_object(probe, 8);
  return hidden;
}

template <class T> [[gnu::noinline]] T read(const T& value) { return value; }

template <class T> T read_before_join(T wanted) {
  T result{};
  nopal::scope s;
  s.fork(result, [wanted] { return wanted; });
  const T early = read(result);
  s.join();
  return result == wanted ? early : T{-1};
}

TEST_F(early_result_death, is_reported_or_is_not_there) {
  if (!checked)
    GTEST_SKIP() << "about check builds";
  if (addresses_are_sanitized()) {
    EXPECT_DEATH(
        {
          nopal::configure({.num_workers = 1});
          read_before_join(42L);
        },
        "use-after-poison");
    EXPECT_DEATH(
        {
          nopal::configure({.num_workers = 1});
          read_before_join(42);
        },
        "use-after-poison");
    return;
  }
  EXPECT_EQ(apart([] {
              nopal::configure({.num_workers = 1});
              const long wide = read_before_join(42L);
              const int narrow = read_before_join(42);
              return wide != 42 && wide != -1 && narrow != 42 && narrow != -1;
            }),
            1u);
}

TEST_F(early_result, is_there_after_the_join) {
  for (const unsigned workers : {1u, 2u, 8u})
    EXPECT_EQ(apart([workers] {
                nopal::configure({.num_workers = workers});
                long right = 0;
                for (int round = 0; round < 50; ++round) {
                  std::array<char, 20> bytes{};
                  std::array<int, 21> numbers{};
                  std::pair<double, int> both;
                  std::string text;
                  {
                    nopal::scope s; // its destructor joins
                    for (std::size_t i = 0; i < bytes.size(); ++i) {
                      s.fork(bytes[i], [i] { return static_cast<char>(i); });
                      s.fork(numbers[i], [i] { return static_cast<int>(i); });
                    }
                    s.fork(both, [] { return std::pair<double, int>{1.5, 2}; });
                    s.fork(text, [] { return std::string(100, 'a'); });
                  }
                  bool all = both.first == 1.5 && both.second == 2 && text.size() == 100;
                  for (std::size_t i = 0; i < bytes.size(); ++i)
                    all = all && bytes[i] == static_cast<char>(i) &&
                          numbers[i] == static_cast<int>(i);
                  right += all && fib(12) == 144 ? 1 : 0;
                }
                return right;
              }),
              50u)
        << workers << " workers";
}

// The function reads the variable that its result goes to, and a scope is used again.
TEST_F(early_result, of_one_join_may_be_what_the_next_child_begins_with) {
  EXPECT_EQ(apart([] {
              nopal::configure({.num_workers = 2});
              int x = 0;
              nopal::scope s;
              for (int i = 0; i < 100; ++i) {
                s.fork(x, [&x] { return x + 1; });
                s.join();
              }
              return x;
            }),
            100u);
}

TEST_F(early_result, is_there_when_another_child_has_thrown) {
  EXPECT_EQ(apart([] {
              nopal::configure({.num_workers = 2});
              int x = 0;
              int y = 7;
              try {
                nopal::scope s;
                s.fork(x, [] { return 5; });
                s.fork(y, []() -> int { throw std::runtime_error("no result"); });
                s.join();
              } catch (const std::runtime_error&) {
              }
              return 10 * x + y;
            }),
            57u);
}

} // namespace
} // namespace nopal_test

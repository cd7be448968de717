// SPDX-License-Identifier: MIT
// Reducers: what strands add has the order of the serial elision, whatever is stolen.
#include "nopal/affine.h"
#include "nopal/cancel.h"
#include "nopal/fiber.h"
#include "nopal/loop.h"
#include "nopal/mutex.h"
#include "nopal/reducer.h"
#include "tests/api/counted_value.h"
#include "tests/api/support.h"

#include <climits>
#include <list>
#include <memory>
#include <mutex>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace nopal_test {
namespace {

using text = nopal::reducer<nopal::appending<std::string>>;

struct counted_text {
  static counted_value identity() { return counted_value{}; }
  static void combine(counted_value& low, counted_value&& high) { low.text += high.text; }
};

TEST(reducer, of_a_loop_has_the_serial_order) {
  for (int round = 0; round < repetitions(20, 3); ++round) {
    text all;
    nopal::for_index(0, 500, [&](int i) { *all += letter(i); }, 1);
    ASSERT_EQ(all.value(), letters(0, 500));
  }
}

TEST(reducer, is_what_one_strand_after_the_other_has_added) {
  text all{"<"};
  *all += 'a';
  {
    nopal::scope s;
    s.fork([&] { *all += 'b'; });
    *all += 'c';
    s.fork([&] { *all += 'd'; });
    *all += 'e';
    s.join();
    *all += 'f';
    s.fork([&] { *all += 'g'; });
    *all += 'h';
  }
  *all += 'i';
  EXPECT_EQ(all.value(), "<abcdefghi");
  *all += 'j';
  EXPECT_EQ(all.take(), "<abcdefghij");
  EXPECT_EQ(all.value(), "");
}

TEST(reducer, of_a_flat_scope_that_is_stolen_again_and_again) {
  const int n = repetitions(500, 60);
  text all;
  nopal::scope s;
  for (int i = 0; i < n; ++i) {
    s.fork([&all, i] { *all += letter(2 * i); });
    *all += letter(2 * i + 1);
  }
  s.join();
  EXPECT_EQ(all.value(), letters(0, 2 * n));
}

TEST(reducer, is_taken_along_by_a_continuation_that_is_certainly_stolen) {
  if (nopal::num_workers() == 1)
    GTEST_SKIP() << "nobody steals";
  text all;
  *all += 'a';
  gate stolen;
  nopal::scope s;
  s.fork([&] {
    *all += 'b';
    stolen.wait();
    *all += 'c';
  });
  *all += 'd';
  stolen.open();
  *all += 'e';
  s.join();
  EXPECT_EQ(all.value(), "abcde");
}

// A program of random shape, and what its serial elision adds.
class random_program {
public:
  explicit random_program(unsigned seed) : seed_{seed} {}

  void run(text& all) const { below(all, seed_, 5); }
  static std::string serial(unsigned seed) {
    std::string all;
    serial_below(all, seed, 5);
    return all;
  }

private:
  static unsigned next(unsigned seed, unsigned which) {
    std::minstd_rand random{seed * 31 + which + 1};
    random.discard(3);
    return static_cast<unsigned>(random());
  }
  static char own(unsigned seed) { return letter(static_cast<int>(seed % 26)); }

  static void below(text& all, unsigned seed, int depth) {
    *all += own(seed);
    if (depth == 0)
      return;
    const auto part = [&all, seed, depth](unsigned which) {
      below(all, next(seed, which), depth - 1);
    };
    switch (seed % 6) {
    case 0:
      nopal::invoke([&] { part(0); }, [&] { part(1); }, [&] { part(2); });
      break;
    case 1:
      nopal::for_index(0u, 3u, part, 1);
      break;
    case 2: {
      nopal::scope s;
      s.fork([&part] { part(0); });
      part(1);
      s.fork([&part] { part(2); });
      s.join();
      break;
    }
    case 3:
      nopal::affine([&] { part(0); });
      forked_twice(part);
      break;
    case 4:
      nopal::run([&] { part(0); });
      forked_twice(part);
      break;
    default:
      try {
        nopal::invoke([&] { part(0); }, [&] { part(1); }, [] { throw 1; });
      } catch (const int) {
        part(2); // while an exception is handled
      }
    }
    *all += own(seed + 1);
  }
  template <class Part> static void forked_twice(const Part& part) {
    nopal::scope s;
    s.fork([&part] { part(1); });
    part(2);
    s.join();
  }
  static void serial_below(std::string& all, unsigned seed, int depth) {
    all += own(seed);
    if (depth == 0)
      return;
    for (unsigned which = 0; which < 3; ++which)
      serial_below(all, next(seed, which), depth - 1);
    all += own(seed + 1);
  }

  const unsigned seed_;
};

TEST(reducer, of_programs_of_random_shape_has_the_serial_order) {
  for (unsigned seed = 0; seed < static_cast<unsigned>(repetitions(60, 6)); ++seed) {
    text all;
    random_program{seed}.run(all);
    ASSERT_EQ(all.value(), random_program::serial(seed)) << "seed " << seed;
  }
}

TEST(reducer, several_do_not_mix) {
  std::vector<std::unique_ptr<text>> all;
  for (int i = 0; i < 20; ++i)
    all.push_back(std::make_unique<text>());
  nopal::reducer<nopal::adding<long>> sum;
  nopal::for_index(
      0, 400,
      [&](int i) {
        **all[static_cast<std::size_t>(i % 20)] += letter(i);
        *sum += i;
      },
      1);
  EXPECT_EQ(sum.value(), 79800);
  for (int k = 0; k < 20; ++k) {
    std::string expected;
    for (int i = k; i < 400; i += 20)
      expected += letter(i);
    EXPECT_EQ(all[static_cast<std::size_t>(k)]->value(), expected);
  }
}

TEST(reducer, that_is_new_has_nothing_of_one_before) {
  for (int round = 0; round < 100; ++round) {
    text all;
    nopal::invoke([&] { *all += 'a'; }, [&] { *all += 'b'; });
    ASSERT_EQ(all.value(), "ab");
  }
}

TEST(reducer, one_may_be_made_in_a_strand) {
  nopal::for_index(
      0, 100,
      [](int) {
        text own;
        nopal::invoke([&] { *own += 'a'; }, [&] { *own += 'b'; }, [&] { *own += 'c'; });
        EXPECT_EQ(own.value(), "abc");
      },
      1);
}

TEST(reducer, makes_values_for_steals_alone_and_destroys_them) {
  counted_value::reset();
  {
    nopal::reducer<counted_text> all;
    nopal::for_index(0, 1000, [&](int i) { all->text += letter(i); }, 1);
    if (nopal::num_workers() == 1) {
      EXPECT_EQ(counted_value::alive, 2) << "the first, and what the strand has";
    }
    EXPECT_EQ(all.value().text, letters(0, 1000));
    EXPECT_EQ(counted_value::alive, 1);
    EXPECT_EQ(counted_value::copies, 0);
    all->text += "not taken";
  }
  EXPECT_EQ(counted_value::alive, 0);
}

TEST(reducer, appends_lists_and_vectors) {
  nopal::reducer<nopal::appending<std::list<int>>> list;
  nopal::reducer<nopal::appending<std::vector<int>>> vector;
  nopal::for_index(
      0, 200,
      [&](int i) {
        list->push_back(i);
        vector->push_back(i);
      },
      1);
  std::vector<int> expected(200);
  for (int i = 0; i < 200; ++i)
    expected[static_cast<std::size_t>(i)] = i;
  EXPECT_EQ(vector.value(), expected);
  EXPECT_EQ(std::vector<int>(list.value().begin(), list.value().end()), expected);
}

struct largest {
  static int identity() { return INT_MIN; }
  static void combine(int& low, int high) { low = std::max(low, high); }
};

TEST(reducer, of_a_monoid_of_the_program) {
  nopal::reducer<largest> most;
  nopal::for_index(0, 1000, [&](int i) { *most = std::max(*most, i * 37 % 1000); }, 1);
  EXPECT_EQ(most.value(), 999);
}

TEST(reducer, keeps_what_was_added_before_an_exception) {
  for (int round = 0; round < repetitions(50, 5); ++round) {
    text all;
    EXPECT_THROW(nopal::for_index(
                     0, 100,
                     [&](int i) {
                       *all += letter(i);
                       if (i == 10)
                         throw std::runtime_error("meant");
                     },
                     1),
                 std::runtime_error);
    ASSERT_TRUE(all.value().starts_with(letters(0, 11))) << all.value();
  }
}

TEST(reducer, keeps_what_was_added_before_a_scope_is_unwound) {
  text all;
  const auto unwinds = [&] {
    nopal::scope s;
    s.fork([&] { *all += 'a'; });
    *all += 'b';
    throw std::runtime_error("meant");
  };
  EXPECT_THROW(unwinds(), std::runtime_error);
  *all += 'c';
  EXPECT_EQ(all.value(), "abc");
}

TEST(reducer, keeps_what_was_added_before_a_cancellation) {
  text all;
  nopal::cancel_scope s;
  s.fork([&] {
    nopal::for_index(
        0, 10000,
        [&](int i) {
          *all += 'x';
          if (i == 100)
            s.cancel();
        },
        1);
  });
  EXPECT_FALSE(s.try_join());
  EXPECT_GE(all.value().size(), 101u);
}

TEST(reducer, goes_with_a_strand_that_waits) {
  text all;
  nopal::mutex lock;
  nopal::for_index(
      0, 300,
      [&](int i) {
        *all += letter(2 * i);
        {
          const std::lock_guard guard{lock};
          if (i % 3 == 0)
            nopal::invoke([] {}, [] {});
        }
        *all += letter(2 * i + 1);
      },
      1);
  EXPECT_EQ(all.value(), letters(0, 600));
}

TEST(reducer, of_fibers_is_complete_when_run_returns) {
  text all;
  *all += '<';
  nopal::run([&] {
    *all += '(';
    for (int i = 0; i < 100; ++i)
      nopal::spawn([&all] {
        *all += 'x';
        nopal::yield();
        nopal::invoke([&] { *all += 'y'; }, [&] { *all += 'z'; });
      });
    *all += ')';
  });
  *all += '>';
  std::string expected = "<()";
  for (int i = 0; i < 100; ++i)
    expected += "xyz";
  EXPECT_EQ(all.value(), expected + '>');
}

TEST(reducer, of_a_thread_that_forks_in_turn) {
  text all;
  for (int round = 0; round < 50; ++round) {
    *all += '(';
    nopal::invoke([&] { *all += 'a'; }, [&] { *all += 'b'; });
    *all += ')';
  }
  std::string expected;
  for (int round = 0; round < 50; ++round)
    expected += "(ab)";
  EXPECT_EQ(all.value(), expected);
}

} // namespace
} // namespace nopal_test

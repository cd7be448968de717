// SPDX-License-Identifier: MIT
// A fork whose closure cannot be moved: the exception comes out of the fork, and there is no child.
#include "nopal/fork.h"

#include <gtest/gtest.h>

#include <cstddef>

namespace nopal_test {
namespace {

struct no_more_moves {};

// A closure that can be moved `moves` times. It is no trivial type, so a fork moves it.
template <std::size_t Bytes> class moved_with_difficulty {
public:
  moved_with_difficulty(int moves, bool& ran) : moves_{moves}, ran_{&ran} {}
  moved_with_difficulty(moved_with_difficulty&& from) : moves_{from.moves_ - 1}, ran_{from.ran_} {
    if (moves_ < 0)
      throw no_more_moves{};
  }
  void operator()() const { *ran_ = true; }

private:
  int moves_;
  bool* ran_;
  char payload_[Bytes] = {};
};

template <std::size_t Bytes> [[gnu::noinline]] bool fork_moves(int moves, bool& forked) {
  bool ran = false;
  try {
    nopal::scope s;
    s.fork(moved_with_difficulty<Bytes>(moves, ran));
    forked = true;
    s.join();
  } catch (const no_more_moves&) {
    EXPECT_FALSE(forked);
    EXPECT_FALSE(ran);
    return false;
  }
  EXPECT_TRUE(ran);
  return true;
}

template <std::size_t Bytes> void fork_until_it_succeeds() {
  int moves = 0;
  for (bool forked = false; !fork_moves<Bytes>(moves, forked); ++moves)
    ASSERT_LT(moves, 10);
  EXPECT_GE(moves, 1) << "a fork without a move cannot throw, so this test shows nothing";
}

TEST(throwing_move, comes_out_of_the_fork) {
  fork_until_it_succeeds<1>();
  fork_until_it_succeeds<200>();
}

TEST(throwing_move, comes_out_of_a_workers_fork) {
  nopal::scope s;
  s.fork([] {
    fork_until_it_succeeds<1>();
    fork_until_it_succeeds<200>();
  });
  s.join();
}

} // namespace
} // namespace nopal_test

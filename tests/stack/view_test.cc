// SPDX-License-Identifier: MIT
// Views are changed by the fewest calls, and show what the chain of stacks says.
#include "nopal/stack/view_parts.h"

#include "nopal/base/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace {

namespace stack = nopal::stack;
namespace view = nopal::stack::view;

constexpr std::uintptr_t low = 1000; // one address is one page here
constexpr std::uintptr_t end = 1064;

struct chains {
  std::array<view::segment, 40> all; // stack n is the n-th, from 1

  view::segment& segment_of(stack::stack_id stack) { return all[stack]; }
  // Stack n begins below a frame of the parent, of which `top` is the lowest page's low end.
  void begin(stack::stack_id stack, stack::stack_id parent, std::uintptr_t top) {
    segment_of(stack).top = top;
    segment_of(stack).parent = parent;
  }
  bool is_parent(stack::stack_id stack) {
    return std::ranges::any_of(all, [=](view::segment& each) { return each.parent == stack; });
  }
};

// What a view shows at an address: a stack, and how far from that one's end.
struct content {
  stack::stack_id stack = 0;
  std::uintptr_t depth = 0;
  bool operator==(const content&) const = default;
};

// A view as the kernel has it.
struct mapping {
  std::array<content, end - low> shows{};
  std::vector<view::part> now_room = std::vector<view::part>(40);
  std::vector<view::part> next_room = std::vector<view::part>(40);
  view::parts now{now_room.data(), 0};
  view::parts next{next_room.data(), 0};
  int calls = 0;

  void show(chains& in, stack::stack_id leaf) {
    view::list(
        leaf, low, [&](stack::stack_id stack) -> view::segment& { return in.segment_of(stack); },
        next);
    calls = 0;
    view::change(now, next, end,
                 [this](std::uintptr_t from, std::uintptr_t to, const view::part& part) {
                   ASSERT_LT(from, to);
                   ++calls;
                   for (std::uintptr_t at = from; at < to; ++at)
                     shows[at - low] = {part.shows, part.top - at};
                 });
    std::swap(now, next);
  }
  // How often neighbours of what is to change want different stacks.
  int least_calls(chains& in, stack::stack_id leaf) const {
    int least = 0;
    stack::stack_id before = 0;
    for (std::uintptr_t at = end; at-- > low;) {
      const content wants = wanted(in, leaf, at);
      const stack::stack_id changes = wants == shows[at - low] ? 0 : wants.stack;
      least += changes != 0 && changes != before ? 1 : 0;
      before = changes;
    }
    return least;
  }
  static content wanted(chains& in, stack::stack_id leaf, std::uintptr_t at) {
    while (at >= in.segment_of(leaf).top)
      leaf = in.segment_of(leaf).parent;
    return {leaf, in.segment_of(leaf).top - at};
  }
};

TEST(view_parts, a_view_shows_each_stack_below_its_top_and_the_parents_above) {
  chains in;
  in.begin(1, 0, end);
  in.begin(2, 1, 1050);
  in.begin(3, 2, 1030);
  mapping seen;
  seen.show(in, 3);
  EXPECT_EQ(seen.calls, 3);
  EXPECT_EQ(seen.shows[1050 - low].stack, 1u);
  EXPECT_EQ(seen.shows[1049 - low].stack, 2u);
  EXPECT_EQ(seen.shows[1030 - low].stack, 2u);
  EXPECT_EQ(seen.shows[1029 - low].stack, 3u);
  EXPECT_EQ(seen.shows[0].stack, 3u);
  EXPECT_EQ(seen.shows[0].depth, 30u);
}

TEST(view_parts, a_thief_that_steals_the_frame_again_maps_nothing_but_its_own_stack) {
  chains in;
  in.begin(1, 0, end);
  in.begin(2, 1, 1050);
  in.begin(3, 1, 1040);
  mapping seen;
  seen.show(in, 2);
  seen.show(in, 3);
  EXPECT_EQ(seen.calls, 2) << "the pages that stack 1 has more, and stack 3";
  seen.show(in, 3);
  EXPECT_EQ(seen.calls, 0);
}

TEST(view_parts, a_main_path_that_goes_on_after_its_join_maps_its_stack_below_the_frame_at_once) {
  chains in;
  in.begin(1, 0, end);
  in.begin(2, 1, 1050);
  in.begin(3, 2, 1040);
  mapping seen;
  seen.show(in, 3);
  seen.show(in, 1);
  EXPECT_EQ(seen.calls, 1);
  EXPECT_TRUE(std::ranges::all_of(seen.shows, [](content shown) { return shown.stack == 1; }));
}

TEST(view_parts, a_stack_that_begins_elsewhere_is_mapped_anew) {
  chains in;
  in.begin(1, 0, end);
  in.begin(2, 1, 1050);
  mapping seen;
  seen.show(in, 2);
  in.begin(2, 1, 1040);
  seen.show(in, 2);
  EXPECT_EQ(seen.calls, 2) << "the pages that stack 1 has more, and stack 2";
  EXPECT_EQ(seen.shows[1039 - low], (content{2, 1}));
}

// Random trees of stacks, and views of random leaves, one after the other. Stacks begin again.
TEST(view_parts, random_views_are_right_and_take_the_fewest_calls) {
  nopal::base::random random;
  random.reseed(12345, 0);
  for (int round = 0; round < 300; ++round) {
    chains in;
    in.begin(1, 0, end);
    stack::stack_id count = 1;
    mapping seen;
    for (int step = 0; step < 60; ++step) {
      if (count + 1 < in.all.size() && random.below(2) == 0) {
        const stack::stack_id parent = 1 + random.below(static_cast<std::uint32_t>(count));
        const std::uintptr_t above = in.segment_of(parent).top;
        const stack::stack_id old = 1 + random.below(static_cast<std::uint32_t>(count));
        const bool again = old != parent && old != 1 && !in.is_parent(old);
        if (above - low >= 2) {
          const auto room = static_cast<std::uint32_t>(above - low - 1);
          in.begin(again ? old : ++count, parent, low + 1 + random.below(room));
        }
      }
      const stack::stack_id leaf = 1 + random.below(static_cast<std::uint32_t>(count));
      const int least = seen.least_calls(in, leaf);
      seen.show(in, leaf);
      EXPECT_EQ(seen.calls, least) << "round " << round << ", step " << step;
      for (std::uintptr_t at = low; at < end; ++at)
        ASSERT_EQ(seen.shows[at - low], mapping::wanted(in, leaf, at)) << at;
    }
  }
}

} // namespace

// SPDX-License-Identifier: MIT
// A scope's frame before and after a slow path has activated it.
#include "nopal/join/join.h"
#include "nopal/join/scope_state.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>

namespace nopal_test {
namespace {

using nopal::join::scope_frame;

// As a scope's constructor leaves it: what activate() sets holds whatever was there.
class scope_frames : public testing::Test {
protected:
  static void SetUpTestSuite() { nopal::join::open_states(); }
  void SetUp() override { frame_ = make_in(memory_); }
  static scope_frame* make_in(unsigned char* memory) {
    std::memset(memory, 0x5a, sizeof(scope_frame));
    scope_frame* const made = new (memory) scope_frame;
    made->frame_pointer = kFrame;
    return made;
  }
  static constexpr std::uintptr_t kFrame = 0x7f0000001230;
  alignas(scope_frame) unsigned char memory_[sizeof(scope_frame)];
  alignas(scope_frame) unsigned char other_memory_[sizeof(scope_frame)];
  scope_frame* frame_ = nullptr;
};

TEST_F(scope_frames, is_plain_until_it_is_active) {
  EXPECT_FALSE(frame_->active() || frame_->needs_join());
  EXPECT_TRUE(frame_->is_of(kFrame));
  EXPECT_FALSE(frame_->is_of(kFrame + 16));
  EXPECT_EQ(frame_->steals(), 0);
}

TEST_F(scope_frames, activating_it_once_makes_its_fields_valid) {
  frame_->activate();
  EXPECT_TRUE(frame_->needs_join()) << "the fast path of a join would not look";
  EXPECT_TRUE(frame_->is_of(kFrame));
  EXPECT_EQ(frame_->state().failures, nullptr);
  EXPECT_EQ(frame_->steals(), 0);
  frame_->state().join.count_steal();
  frame_->activate();
  EXPECT_EQ(frame_->steals(), 1) << "activated again, it loses nothing";
  frame_->deactivate();
  EXPECT_EQ(frame_->frame_pointer, kFrame);
}

TEST_F(scope_frames, exceptions_set_aside_are_a_note_of_their_own) {
  frame_->note_exceptions_aside();
  EXPECT_TRUE(frame_->exceptions_aside());
  EXPECT_FALSE(frame_->active());
  EXPECT_TRUE(frame_->is_of(kFrame));
  frame_->activate();
  frame_->forget_exceptions_aside();
  EXPECT_FALSE(frame_->exceptions_aside());
  EXPECT_TRUE(frame_->active());
  frame_->deactivate();
}

// Each level of a recursion has a scope on its stack.
TEST_F(scope_frames, take_at_most_80_bytes) { EXPECT_LE(sizeof(scope_frame), 80u); }

TEST_F(scope_frames, have_a_state_while_they_are_active) {
  frame_->activate();
  const auto* const state = &frame_->state();
  frame_->state().join.count_steal();
  frame_->deactivate();
  frame_->activate();
  EXPECT_EQ(&frame_->state(), state) << "a state that was returned is used again";
  EXPECT_EQ(frame_->steals(), 0) << "and is as good as new";
  scope_frame* const other = make_in(other_memory_);
  other->activate();
  EXPECT_NE(&other->state(), state);
  other->deactivate();
  frame_->deactivate();
}

} // namespace
} // namespace nopal_test

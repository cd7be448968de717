// SPDX-License-Identifier: MIT
// A scope's frame before and after a slow path has activated it.
#include "nopal/join/join.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>

namespace nopal_test {
namespace {

using nopal::join::scope_frame;

// As a scope's constructor leaves it: what activate() sets holds whatever was there.
class scope_frames : public testing::Test {
protected:
  void SetUp() override {
    std::memset(memory_, 0x5a, sizeof memory_);
    frame_ = new (memory_) scope_frame;
    frame_->frame_pointer = kFrame;
    frame_->stack_pointer = kFrame - 128;
  }
  static constexpr std::uintptr_t kFrame = 0x7f0000001230;
  alignas(scope_frame) unsigned char memory_[sizeof(scope_frame)];
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
  EXPECT_EQ(frame_->failures, nullptr);
  EXPECT_EQ(frame_->steals(), 0);
  frame_->join.count_steal();
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
}

} // namespace
} // namespace nopal_test

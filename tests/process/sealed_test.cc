// SPDX-License-Identifier: MIT
// Messages that prove where they come from.
#include "nopal/process/transport/sealed.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>

namespace {

namespace process = nopal::process;
using process::direction;
using process::head;
using process::operation;
using process::side;

constexpr process::secret key{11, 22};
constexpr std::array<unsigned char, 13> text{1, 2, 3};
constexpr process::request put{operation::put, text.size(), 64, text.size()};

process::introduction between(std::uint32_t asking, std::uint32_t answering) {
  process::introduction said;
  said.first.asking = asking;
  said.first.answering = answering;
  said.first.number = 5;
  said.answer = 6;
  return said;
}

TEST(sealed, what_was_sent_is_believed_once_and_in_order) {
  direction sends{key, side::asking, between(0, 1)};
  direction receives{key, side::asking, between(0, 1)};
  const head first = sends.seal(put, text.data());
  const head second = sends.seal(put, text.data());
  EXPECT_FALSE(receives.believes(second)); // one is left out
  EXPECT_TRUE(receives.believes(first));
  EXPECT_TRUE(receives.believes(first, text.data()));
  EXPECT_FALSE(receives.believes(first)); // said again
  EXPECT_TRUE(receives.believes(second));
}

TEST(sealed, nothing_that_was_changed_is_believed) {
  direction sends{key, side::asking, between(0, 1)};
  const head sent = sends.seal(put, text.data());
  for (std::size_t byte = 0; byte < sizeof sent; ++byte) {
    direction receives{key, side::asking, between(0, 1)};
    std::array<unsigned char, sizeof sent> bytes;
    std::memcpy(bytes.data(), &sent, sizeof sent);
    bytes[byte] ^= 1;
    head changed;
    std::memcpy(static_cast<void*>(&changed), bytes.data(), sizeof changed);
    EXPECT_FALSE(receives.believes(changed)) << byte;
  }
  direction receives{key, side::asking, between(0, 1)};
  ASSERT_TRUE(receives.believes(sent));
  for (std::size_t byte = 0; byte < text.size(); ++byte) {
    auto changed = text;
    changed[byte] ^= 1;
    EXPECT_FALSE(receives.believes(sent, changed.data())) << byte;
  }
}

// Of another session, side, pair of processes or connection.
TEST(sealed, messages_from_elsewhere_are_not_believed) {
  direction sends{key, side::asking, between(0, 1)};
  const head sent = sends.seal(put, text.data());
  process::introduction later = between(0, 1);
  later.first.number = 7;
  process::introduction answered_otherwise = between(0, 1);
  answered_otherwise.answer = 7;
  for (direction each :
       {direction{{11, 23}, side::asking, between(0, 1)},
        direction{key, side::answering, between(0, 1)}, direction{key, side::asking, between(2, 1)},
        direction{key, side::asking, between(0, 2)}, direction{key, side::asking, later},
        direction{key, side::asking, answered_otherwise}})
    EXPECT_FALSE(each.believes(sent));
}

TEST(sealed, the_proof_of_one_side_is_not_that_of_the_other) {
  const process::introduction said = between(0, 1);
  EXPECT_NE(proof_of_side(key, side::asking, said), proof_of_side(key, side::answering, said));
  EXPECT_NE(proof_of_side(key, side::asking, said), proof_of_side({}, side::asking, said));
  EXPECT_NE(proof_of_side(key, side::asking, said),
            proof_of_side(key, side::asking, between(1, 0)));
}

} // namespace

// SPDX-License-Identifier: MIT
// The keyed hash by which processes prove that they are of one session.
#include "nopal/process/transport/secret.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <set>

namespace {

namespace process = nopal::process;

constexpr process::secret key{0x0706050403020100u, 0x0f0e0d0c0b0a0908u};
constexpr std::uint64_t first_word = 0x0706050403020100u;

// From the paper's appendix: the bytes 0 to 14 under the key of the bytes 0 to 15.
TEST(secret, the_hash_is_the_papers) {
  constexpr std::array<unsigned char, 7> rest{8, 9, 10, 11, 12, 13, 14};
  EXPECT_EQ(process::proof_of(key, first_word, rest.data(), rest.size()), 0xa129ca6149be45e5u);
}

// From the reference's vectors: the bytes 0 to 7.
TEST(secret, a_word_alone_has_a_proof) {
  EXPECT_EQ(process::proof_of(key, first_word), 0x93f5f5799a932462u);
}

TEST(secret, each_byte_the_length_the_word_and_the_key_count) {
  std::array<unsigned char, 24> text{};
  std::set<std::uint64_t> seen;
  for (std::size_t size = 0; size <= text.size(); ++size)
    seen.insert(process::proof_of(key, 1, text.data(), size));
  for (unsigned char& each : text) {
    each = 1;
    seen.insert(process::proof_of(key, 1, text.data(), text.size()));
    each = 0;
  }
  seen.insert(process::proof_of(key, 2, text.data(), text.size()));
  seen.insert(process::proof_of({key.first, key.second + 1}, 1, text.data(), text.size()));
  EXPECT_EQ(seen.size(), text.size() + 1 + text.size() + 2);
}

TEST(secret, unknown_numbers_differ) {
  EXPECT_NE(process::unknown_number(), process::unknown_number());
}

} // namespace

// SPDX-License-Identifier: MIT
// SHA-1 of a message that fits one block: the random numbers of UTS are such digests.
//
// Source: FIPS 180-4, section 6.1.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace bench {

using digest = std::array<std::uint8_t, 20>;

constexpr std::uint32_t big_endian(const std::uint8_t* bytes) {
  return std::uint32_t{bytes[0]} << 24 | std::uint32_t{bytes[1]} << 16 |
         std::uint32_t{bytes[2]} << 8 | std::uint32_t{bytes[3]};
}
constexpr void put_big_endian(std::uint32_t word, std::uint8_t* bytes) {
  for (int i = 0; i < 4; ++i)
    bytes[i] = static_cast<std::uint8_t>(word >> (24 - 8 * i));
}

// What a round mixes of b, c and d, and the constant that it adds: one of each for twenty rounds.
constexpr std::uint32_t mixed(int quarter, std::uint32_t b, std::uint32_t c, std::uint32_t d) {
  return quarter == 0 ? (b & c) | (~b & d) : quarter == 2 ? (b & c) | (b & d) | (c & d) : b ^ c ^ d;
}
inline constexpr std::uint32_t added[] = {0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6};

// Words before the sixteenth are the block's, the others follow from them; sixteen are kept.
constexpr std::uint32_t scheduled(std::array<std::uint32_t, 16>& words, std::size_t round) {
  std::uint32_t& word = words[round & 15];
  if (round >= 16)
    word = std::rotl(
        words[(round + 13) & 15] ^ words[(round + 8) & 15] ^ words[(round + 2) & 15] ^ word, 1);
  return word;
}

// Of a message of Size bytes, at most 55.
template <std::size_t Size> constexpr digest sha1(const std::array<std::uint8_t, Size>& message) {
  static_assert(Size <= 55, "a longer message takes more than one block");
  std::array<std::uint8_t, 64> block{};
  for (std::size_t i = 0; i < Size; ++i)
    block[i] = message[i];
  block[Size] = 0x80;
  put_big_endian(8 * Size, &block[60]);
  std::array<std::uint32_t, 16> words{};
  for (std::size_t i = 0; i < 16; ++i)
    words[i] = big_endian(&block[4 * i]);

  constexpr std::array<std::uint32_t, 5> first{0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476,
                                               0xc3d2e1f0};
  auto [a, b, c, d, e] = first;
#pragma GCC unroll 80
  for (std::size_t round = 0; round < 80; ++round) {
    const int quarter = static_cast<int>(round / 20);
    const std::uint32_t next =
        std::rotl(a, 5) + mixed(quarter, b, c, d) + e + added[quarter] + scheduled(words, round);
    e = d;
    d = c;
    c = std::rotl(b, 30);
    b = a;
    a = next;
  }
  digest result{};
  const std::array<std::uint32_t, 5> last{a, b, c, d, e};
  for (std::size_t i = 0; i < 5; ++i)
    put_big_endian(first[i] + last[i], &result[4 * i]);
  return result;
}

} // namespace bench

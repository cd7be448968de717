// SPDX-License-Identifier: MIT
// The strict parsers, the messages' quoting and the reader of files.
#include "nopal/config/environment.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstdint>
#include <optional>
#include <string>

namespace {

using namespace nopal::config;

TEST(parse, decimal) {
  EXPECT_EQ(parse_decimal("0"), 0u);
  EXPECT_EQ(parse_decimal("007"), 7u);
  EXPECT_EQ(parse_decimal("18446744073709551615"), UINT64_MAX);
  for (const char* text :
       {"", " ", " 1", "1 ", "+1", "-1", "1.5", "0x1", "1e3", "18446744073709551616"}) {
    EXPECT_EQ(parse_decimal(text), std::nullopt) << text;
  }
}

TEST(parse, decimal_or_hex) {
  EXPECT_EQ(parse_decimal_or_hex("10"), 10u);
  EXPECT_EQ(parse_decimal_or_hex("0x10"), 16u);
  EXPECT_EQ(parse_decimal_or_hex("0XfF"), 255u);
  EXPECT_EQ(parse_decimal_or_hex("0xffffffffffffffff"), UINT64_MAX);
  for (const char* text : {"", "0x", "x1", "ff", "0x-1", "-0x1", "0x1g", "0x10000000000000000"}) {
    EXPECT_EQ(parse_decimal_or_hex(text), std::nullopt) << text;
  }
}

TEST(parse, bytes) {
  EXPECT_EQ(parse_bytes("65536"), 65536u);
  EXPECT_EQ(parse_bytes("64K"), 65536u);
  EXPECT_EQ(parse_bytes("2M"), std::uint64_t{2} << 20);
  EXPECT_EQ(parse_bytes("17179869183G"), std::uint64_t{17179869183} << 30);
  for (const char* text : {"", "K", "64k", "64KB", "64 K", "K64", "-1K", "1T", "1.5M", "1MK",
                           "17179869184G", "18446744073709551616"}) {
    EXPECT_EQ(parse_bytes(text), std::nullopt) << text;
  }
}

TEST(in_quotes, is_fit_for_one_line) {
  EXPECT_EQ(in_quotes(""), "\"\"");
  EXPECT_EQ(in_quotes("a\nb\x1b["), "\"a?b?[\"");
  EXPECT_EQ(in_quotes(std::string(60, 'x')), "\"" + std::string(60, 'x') + "\"");
  EXPECT_EQ(in_quotes(std::string(61, 'x')), "\"" + std::string(60, 'x') + "...\"");
}

TEST(read_file, gives_text_or_errno) {
  const file_text fixture = read_file(NOPAL_TEST_DATA "/cgroup/v2/sys/devices/system/cpu/online");
  EXPECT_EQ(fixture.error, 0);
  EXPECT_EQ(fixture.text, "0-7");
  EXPECT_EQ(read_file(NOPAL_TEST_DATA "/no/such/file").error, ENOENT);
  EXPECT_EQ(read_file(NOPAL_TEST_DATA "/cgroup").error, EISDIR);
  EXPECT_FALSE(read_file("/proc/self/cmdline").text.empty());
}

} // namespace

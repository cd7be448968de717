// SPDX-License-Identifier: MIT
// The sequences of model.h in this program, and in one whose workers are threads.
#pragma once

#include "model_calls.h"

#include <fstream>
#include <memory>

namespace test {

inline constexpr char asked_by[] = "NOPAL_TEST_MODEL"; // the first seed, how many, and a file

// What the program of threads does.
TEST(DISABLED_mapped_model, writes_its_lines) {
  unsigned long first = 0, count = 0;
  char name[200];
  const char* const asked = std::getenv(asked_by);
  ASSERT_TRUE(asked != nullptr && std::sscanf(asked, "%lu %lu %199s", &first, &count, name) == 3);
  ASSERT_FALSE(nopal::mapped::on());
  const auto all = std::make_unique<model>();
  std::ofstream out{name};
  for (unsigned long seed = first; seed < first + count; ++seed)
    for (const std::string& line : all->run(seed))
      out << line << '\n';
}

inline void compare_with_threads(unsigned long first, unsigned long count) {
  if (!nopal::mapped::on())
    GTEST_SKIP() << "this system refuses what nopal::mapped needs, as the program's message says";
  char self[400] = {};
  ASSERT_GT(readlink("/proc/self/exe", self, sizeof self - 1), 0);
  std::string name = "/tmp/nopal_model_lines_XXXXXX"; // nobody else has made it
  const int made = mkstemp(name.data());
  ASSERT_GE(made, 0);
  close(made);
  const std::string command = "NOPAL_MAPPED=0 " + std::string{asked_by} + "='" +
                              std::to_string(first) + " " + std::to_string(count) + " " + name +
                              "' '" + self +
                              "' --gtest_also_run_disabled_tests --gtest_brief=1 "
                              "--gtest_filter=DISABLED_mapped_model.writes_its_lines";
  FILE* const threads = popen(command.c_str(), "w");
  ASSERT_NE(threads, nullptr);
  const auto all = std::make_unique<model>();
  std::vector<std::vector<std::string>> lines;
  for (unsigned long seed = first; seed < first + count; ++seed)
    lines.push_back(all->run(seed));
  ASSERT_EQ(pclose(threads), 0);
  std::ifstream in{name};
  unlink(name.c_str());
  unsigned different = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    bool same = true;
    for (std::size_t j = 0; j < lines[i].size(); ++j) {
      std::string expected;
      std::getline(in, expected);
      if (same && expected != lines[i][j] && ++different <= 5)
        ADD_FAILURE() << "seed " << first + i << ", call " << j
                      << "\nbefore:  " << (j ? lines[i][j - 1] : "") << "\nmapped:  " << lines[i][j]
                      << "\nthreads: " << expected;
      same = same && expected == lines[i][j];
    }
  }
  EXPECT_EQ(different, 0u) << "of " << count << " sequences";
  EXPECT_GE(2 * all->succeeded, all->made);
  constexpr auto forks = static_cast<std::size_t>(call::fork); // few, as each takes milliseconds
  for (std::size_t call = 0; call < calls; ++call)
    for (std::size_t kind = 0; kind < kinds; ++kind)
      EXPECT_TRUE(all->seen[call][kind] != 0 || (call == forks && count < 10'000))
          << "call " << call << ", kind " << kind;
  std::printf("%u calls, of which %u succeed\n", all->made, all->succeeded);
}

} // namespace test

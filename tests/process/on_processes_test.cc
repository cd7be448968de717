// SPDX-License-Identifier: MIT
// The program of written_once.h on processes.
#include "tests/process/processes.h"
#include "tests/process/written_once.h"

namespace nopal_test {
namespace {

TEST(written_once, runs_on_processes) {
  for (const unsigned processes : {1u, 2u, 3u, 4u, 7u}) {
    const ended got = apart([&] {
      process::session session{0, nullptr, {.processes = processes}};
      const std::string said = computed(session);
      if (session.rank() == 0)
        std::printf("%s", said.c_str());
      else if (said != "92 std::out_of_range: too deep")
        std::abort(); // every process has the same
      std::fflush(stdout);
    });
    EXPECT_EQ(got.said, "92 std::out_of_range: too deep");
    EXPECT_EQ(got.status, 0);
  }
}

} // namespace
} // namespace nopal_test

// SPDX-License-Identifier: MIT
// Which of the cases that are possible a select takes: each as often as any other, whatever stands
// between them, in a strand as in a thread that runs none.
#include "nopal/channel.h"
#include "nopal/fiber.h"
#include "nopal/submit.h"
#include "tests/api/support.h"

#include <array>
#include <cmath>
#include <cstddef>
#include <memory>
#include <thread>
#include <vector>

namespace nopal_test {
namespace {

constexpr std::size_t kCases = 10;
constexpr int kTimes = 30000;

// Channels of which those with these numbers have a value, or room for one, at each select.
class ten {
public:
  explicit ten(const std::vector<std::size_t>& possible) {
    for (auto& each : channels_)
      each = std::make_unique<nopal::channel<int>>(std::size_t{1});
    for (const std::size_t number : possible)
      channels_[number]->send(0);
  }
  nopal::channel<int>& operator[](std::size_t number) { return *channels_[number]; }

private:
  std::array<std::unique_ptr<nopal::channel<int>>, kCases> channels_;
};

using counts = std::array<int, kCases>;

// Receives, and sends again what it has received.
counts by_receiving(const std::vector<std::size_t>& possible) {
  ten all{possible};
  counts taken{};
  std::vector<nopal::any_case> cases;
  for (std::size_t i = 0; i < kCases; ++i)
    cases.emplace_back(nopal::recv(all[i], [&, i](int value) {
      ++taken[i];
      all[i].send(value);
    }));
  for (int i = 0; i < kTimes; ++i)
    nopal::select(cases);
  return taken;
}

// Three cases in a list: a value comes or goes, and there is always one, and room for another.
counts one_sends() {
  nopal::channel<int> both{2};
  nopal::channel<int> never;
  counts taken{};
  both.send(0);
  for (int i = 0; i < kTimes; ++i) {
    const std::size_t done =
        nopal::select(nopal::recv(both, [](int) {}), nopal::recv(never, [](int) {}),
                      nopal::send(both, 1), nopal::otherwise());
    ++taken[done];
    if (done == 0)
      both.send(0);
    else
      both.recv();
  }
  return taken;
}

// Each of the possible ones was taken as often as it is likely to be, within six deviations.
void expect_fair(const counts& taken, const std::vector<std::size_t>& possible) {
  const double share = kTimes / static_cast<double>(possible.size());
  const double six_deviations = 6 * std::sqrt(share);
  int sum = 0;
  for (const std::size_t number : possible) {
    EXPECT_NEAR(taken[number], share, six_deviations) << number << " of " << possible.size();
    sum += taken[number];
  }
  EXPECT_EQ(sum, kTimes);
}

const std::vector<std::vector<std::size_t>> kPossible{
    {8, 9}, {0, 1}, {0, 9}, {0, 1, 2}, {0, 4, 5, 9}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}};

template <class Count> void is_fair(Count count) {
  for (const auto& possible : kPossible)
    expect_fair(count(possible), possible);
}

TEST(select, is_fair_in_a_strand) {
  nopal::run([] { is_fair(by_receiving); });
}

TEST(select, is_fair_in_a_thread_that_runs_no_strands) {
  std::thread{[] { is_fair(by_receiving); }}.join();
}

TEST(select, is_fair_in_a_strand_that_was_stolen) {
  gate stolen;
  nopal::scope s;
  s.fork([&stolen] { stolen.wait(); });
  stolen.open();
  is_fair(by_receiving);
  s.join();
}

TEST(select, is_fair_in_what_was_submitted) {
  nopal::submit([] { is_fair(by_receiving); }).get();
}

TEST(select, is_fair_among_cases_of_which_one_sends) {
  expect_fair(one_sends(), {0, 2});
  expect_fair(nopal::run(one_sends), {0, 2});
}

} // namespace
} // namespace nopal_test

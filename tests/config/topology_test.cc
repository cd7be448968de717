// SPDX-License-Identifier: MIT
// The order of binding on machines made of files, on this one, and the binding of a thread.
#include "nopal/config/topology.h"

#include "nopal/config/cpus.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace {

using nopal::config::affinity_cpus;
using nopal::config::bind_order;
using nopal::config::bind_thread;

class machine : public testing::Test {
protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "nopal_topology_XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    root_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  void add_cpu(int cpu, const std::string& package, const std::string& siblings,
               const std::string& siblings_file = "core_cpus_list") {
    const std::filesystem::path folder =
        root_ + "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology";
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "physical_package_id") << package << '\n';
    std::ofstream(folder / siblings_file) << siblings << '\n';
  }

  std::vector<int> order(const std::vector<int>& affinity) { return bind_order(affinity, root_); }

  std::string root_;
};

TEST_F(machine, takes_one_cpu_of_each_core_first) {
  for (const int first : {0, 2, 4}) {
    const std::string pair = std::to_string(first) + "-" + std::to_string(first + 1);
    add_cpu(first, "0", pair);
    add_cpu(first + 1, "0", pair);
  }
  EXPECT_EQ(order({0, 1, 2, 3, 4, 5}), (std::vector<int>{0, 2, 4, 1, 3, 5}));
}

TEST_F(machine, fills_a_package_before_the_next) {
  for (const int cpu : {0, 1, 2, 3}) {
    const std::string package = cpu % 2 == 0 ? "0" : "1";
    const std::string pair = std::to_string(cpu) + "," + std::to_string(cpu + 4);
    add_cpu(cpu, package, pair);
    add_cpu(cpu + 4, package, pair);
  }
  EXPECT_EQ(order({0, 1, 2, 3, 4, 5, 6, 7}), (std::vector<int>{0, 2, 1, 3, 4, 6, 5, 7}));
}

TEST_F(machine, keeps_to_the_affinity_mask) {
  for (const int first : {0, 2}) {
    const std::string pair = std::to_string(first) + "-" + std::to_string(first + 1);
    add_cpu(first, "0", pair);
    add_cpu(first + 1, "0", pair);
  }
  EXPECT_EQ(order({1, 2, 3}), (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(order({2, 3}), (std::vector<int>{2, 3}));
  EXPECT_EQ(order({}), std::vector<int>{});
}

TEST_F(machine, reads_older_kernels_and_unnumbered_packages) {
  add_cpu(0, "-1", "0-1", "thread_siblings_list");
  add_cpu(1, "-1", "0-1", "thread_siblings_list");
  add_cpu(2, "-1", "2", "thread_siblings_list");
  EXPECT_EQ(order({0, 1, 2}), (std::vector<int>{0, 2, 1}));
}

TEST_F(machine, leaves_the_order_where_a_core_is_not_told) {
  add_cpu(0, "0", "0-1");
  add_cpu(1, "0", "0-1");
  add_cpu(2, "0", "2");
  EXPECT_EQ(order({0, 1, 2}), (std::vector<int>{0, 2, 1}));
  add_cpu(2, "0", "2-");
  EXPECT_EQ(order({0, 1, 2}), (std::vector<int>{0, 1, 2}));
}

TEST(this_machine, order_is_a_permutation_of_the_mask) {
  const std::vector<int> affinity = affinity_cpus();
  std::vector<int> sorted = bind_order(affinity);
  std::ranges::sort(sorted);
  EXPECT_EQ(sorted, affinity);
}

TEST(this_machine, a_bound_thread_runs_on_its_cpu_only) {
  const int last = affinity_cpus().back();
  std::vector<int> seen;
  int refused = -1;
  std::thread([&] {
    refused = bind_thread(pthread_self(), {last});
    seen = affinity_cpus();
  }).join();
  EXPECT_EQ(refused, 0);
  EXPECT_EQ(seen, std::vector<int>{last});
}

TEST(this_machine, a_refused_binding_gives_the_error) {
  EXPECT_EQ(bind_thread(pthread_self(), {1 << 19}), EINVAL);
}

} // namespace

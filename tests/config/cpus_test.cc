// SPDX-License-Identifier: MIT
// The number of CPUs against fixture trees of cgroup v1, v2 and hybrid machines, and its
// explanation.
#include "nopal/config/cpus.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <string>
#include <vector>

namespace {

using nopal::config::affinity_cpus;
using nopal::config::available_cpus;
using nopal::config::cpu_count;
using nopal::config::parse_cpu_list;

cpu_count count_in(const std::string& fixture, unsigned affinity = 8) {
  return available_cpus(affinity, std::string(NOPAL_TEST_DATA "/cgroup/") + fixture);
}

void expect_quota(const std::string& fixture, unsigned count, const std::string& reason) {
  const cpu_count cpus = count_in(fixture);
  EXPECT_EQ(cpus.count, count) << fixture;
  EXPECT_EQ(cpus.why, reason + "; affinity mask allows 8; 8 CPUs online") << fixture;
}

void expect_mention(const cpu_count& cpus, const std::string& part) {
  EXPECT_NE(cpus.why.find(part), std::string::npos) << cpus.why << "\nlacks\n" << part;
}

TEST(cpus, v1_quota_is_rounded_up) {
  expect_quota("v1", 3,
               "cgroup quota 250000/100000 in /sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us "
               "rounds up to 3");
}

TEST(cpus, v1_limit_on_an_ancestor_binds) {
  expect_quota("v1_ancestor", 2,
               "cgroup quota 200000/100000 in /sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us "
               "allows 2");
}

TEST(cpus, v1_container_sees_a_subtree) {
  expect_quota("v1_container", 2,
               "cgroup quota 150000/100000 in /sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us "
               "rounds up to 2");
}

TEST(cpus, v2_quota) {
  expect_quota("v2", 3, "cgroup quota 300000/100000 in /sys/fs/cgroup/job/cpu.max allows 3");
}

TEST(cpus, v2_limit_on_an_ancestor_binds) {
  expect_quota("v2_ancestor", 2,
               "cgroup quota 150000/100000 in /sys/fs/cgroup/a/cpu.max rounds up to 2");
}

TEST(cpus, half_a_cpu_is_one) {
  expect_quota("v2_half", 1,
               "cgroup quota 50000/100000 in /sys/fs/cgroup/job/cpu.max rounds up to 1");
}

TEST(cpus, v2_cgroup_namespace) {
  expect_quota("v2_namespace", 2, "cgroup quota 200000/100000 in /sys/fs/cgroup/cpu.max allows 2");
}

// The mount's root holds a backslash, which mountinfo writes as \134.
TEST(cpus, v2_container_without_namespace) {
  expect_quota("v2_container", 4,
               "cgroup quota 350000/100000 in /sys/fs/cgroup/cpu.max rounds up to 4");
}

// The first mount shows the process's own cgroup only; its parent is seen through the second.
TEST(cpus, every_mount_is_used) {
  expect_quota("v2_two_mounts", 5,
               "cgroup quota 500000/100000 in /mnt/host cgroup/a/cpu.max allows 5");
}

TEST(cpus, hybrid_takes_the_v1_controller) {
  expect_quota("hybrid", 2,
               "cgroup quota 100000/50000 in /sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us "
               "allows 2");
}

TEST(cpus, no_limit) {
  for (const char* fixture : {"v1_no_limit", "v2_no_limit"}) {
    const cpu_count cpus = count_in(fixture);
    EXPECT_EQ(cpus.count, 8u) << fixture;
    EXPECT_EQ(cpus.why, "8 CPUs online; affinity mask allows 8; no cgroup quota") << fixture;
  }
}

TEST(cpus, affinity_wins_when_it_is_smallest) {
  const cpu_count cpus = count_in("v2", 2);
  EXPECT_EQ(cpus.count, 2u);
  EXPECT_EQ(cpus.why, "affinity mask allows 2; cgroup quota 300000/100000 in "
                      "/sys/fs/cgroup/job/cpu.max allows 3; 8 CPUs online");
}

TEST(cpus, online_wins_over_a_loose_quota) {
  const cpu_count cpus = count_in("v2_loose");
  EXPECT_EQ(cpus.count, 4u);
  EXPECT_EQ(cpus.why, "4 CPUs online; cgroup quota 1600000/100000 in /sys/fs/cgroup/job/cpu.max "
                      "allows 16; affinity mask allows 8");
}

TEST(cpus, online_list_with_gaps) {
  const cpu_count cpus = count_in("sparse");
  EXPECT_EQ(cpus.count, 7u);
  expect_mention(cpus, "7 CPUs online");
}

TEST(cpus, unknown_affinity_is_said) {
  const cpu_count cpus = count_in("v2", 0);
  EXPECT_EQ(cpus.count, 3u);
  expect_mention(cpus, "; ignored: the affinity mask cannot be read");
}

TEST(cpus, malformed_v2_files_are_ignored_and_said) {
  const cpu_count cpus = count_in("v2_malformed");
  EXPECT_EQ(cpus.count, 3u);
  EXPECT_TRUE(
      cpus.why.starts_with("cgroup quota 300000/100000 in /sys/fs/cgroup/a/cpu.max allows 3"))
      << cpus.why;
  expect_mention(cpus, "/proc/self/cgroup holds \"nonsense\", which is not a line");
  expect_mention(cpus, "/proc/self/cgroup holds \"0:no-path\", which is not a line");
  expect_mention(cpus, "/proc/self/mountinfo holds \"not a mount\", which is not a description");
  expect_mention(cpus, "/sys/fs/cgroup/a/b/cpu.max holds \"plenty\", which is not a quota");
  expect_mention(cpus, "/sys/fs/cgroup/a/b/c/cpu.max holds \"100000 0\", which is not a quota");
  expect_mention(cpus, "/sys/fs/cgroup/a/b/c/d/cpu.max cannot be read (Is a directory)");
}

TEST(cpus, malformed_v1_files_are_ignored_and_said) {
  const cpu_count cpus = count_in("v1_malformed");
  EXPECT_EQ(cpus.count, 3u);
  expect_mention(cpus, "/a/b/cpu.cfs_period_us holds \"0\", which is not a number of microseconds");
  expect_mention(cpus, "/a/b/c/cpu.cfs_quota_us holds \"-7\", which is not a number");
}

TEST(cpus, v1_quota_without_period_is_said) {
  const cpu_count cpus = count_in("v1_no_period");
  EXPECT_EQ(cpus.count, 8u);
  expect_mention(cpus, "/job/cpu.cfs_period_us cannot be read (No such file or directory)");
}

TEST(cpus, malformed_online_list_is_said) {
  const cpu_count cpus = count_in("bad_online", 6);
  EXPECT_EQ(cpus.count, 6u);
  EXPECT_TRUE(cpus.why.starts_with("affinity mask allows 6;")) << cpus.why;
  expect_mention(cpus, "/sys/devices/system/cpu/online holds \"0-\", which is not a list of CPUs");
}

TEST(cpus, cgroup_outside_every_mount_is_said) {
  const cpu_count v2 = count_in("v2_outside_namespace");
  EXPECT_EQ(v2.count, 8u);
  expect_mention(v2, "no mount shows the cgroup /../other, so a quota of v2 cannot be seen");
  const cpu_count v1 = count_in("v1_other_mount");
  EXPECT_EQ(v1.count, 8u);
  expect_mention(v1, "no mount shows the cgroup /docker/abc");
}

TEST(cpus, nothing_readable_is_one_cpu) {
  const cpu_count cpus = count_in("there_is_no_such_tree", 0);
  EXPECT_EQ(cpus.count, 1u);
  EXPECT_TRUE(cpus.why.starts_with("nothing tells how many CPUs there are")) << cpus.why;
  expect_mention(cpus, "/sys/devices/system/cpu/online cannot be read");
  expect_mention(cpus, "/proc/self/cgroup cannot be read");
}

TEST(cpus, this_machine) {
  const std::vector<int> affinity = affinity_cpus();
  ASSERT_FALSE(affinity.empty());
  const cpu_count cpus = available_cpus(static_cast<unsigned>(affinity.size()));
  EXPECT_GE(cpus.count, 1u);
  EXPECT_LE(cpus.count, affinity.size());
}

// A kernel for 4,096 CPUs that refuses shorter masks, as the real one does.
int big_machine(pid_t, std::size_t bytes, cpu_set_t* mask) {
  if (bytes * 8 < 4096) {
    errno = EINVAL;
    return -1;
  }
  CPU_SET_S(0, bytes, mask);
  CPU_SET_S(1024, bytes, mask);
  CPU_SET_S(4095, bytes, mask);
  return 0;
}

int refusing_machine(pid_t, std::size_t, cpu_set_t*) {
  errno = EPERM;
  return -1;
}

int never_satisfied_machine(pid_t, std::size_t, cpu_set_t*) {
  errno = EINVAL;
  return -1;
}

TEST(affinity, mask_grows_beyond_1024_cpus) {
  EXPECT_EQ(affinity_cpus(big_machine), (std::vector<int>{0, 1024, 4095}));
}

TEST(affinity, refusal_is_empty) {
  EXPECT_TRUE(affinity_cpus(refusing_machine).empty());
  EXPECT_TRUE(affinity_cpus(never_satisfied_machine).empty());
}

TEST(cpu_list, well_formed) {
  EXPECT_EQ(parse_cpu_list("0"), (std::vector<int>{0}));
  EXPECT_EQ(parse_cpu_list("0-3,8"), (std::vector<int>{0, 1, 2, 3, 8}));
}

TEST(cpu_list, malformed) {
  for (const char* text : {"", ",", "0-", "-3", "3-1", "0,0", "0-3,2", "0 1", "0-3\n", "a", "0,",
                           "0-99999999999", "0-18446744073709551615", "99999999999999999999"}) {
    EXPECT_EQ(parse_cpu_list(text), std::nullopt) << text;
  }
}

} // namespace

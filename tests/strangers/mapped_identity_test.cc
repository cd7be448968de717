// SPDX-License-Identifier: MIT
// setgid, setgroups, seteuid, setresuid and initgroups hung or aborted in a strand: the C library
// makes all threads do as the caller does, and what they are to do lies in the caller's frame.
#include "nopal/base/die.h"
#include "nopal/fork.h"
#include "nopal/invoke.h"
#include "tests/api/support.h"
#include "tests/strangers/elsewhere.h"

#include <gtest/gtest.h>

#include <grp.h>
#include <spawn.h>
#include <sys/fsuid.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace nopal_test {
namespace {

const start this_program{3};

const auto change = [](int how) {
  const uid_t user = getuid();
  const gid_t group = getgid();
  const gid_t groups[] = {group};
  switch (how) {
  case 0:
    return setuid(user);
  case 1:
    return setgid(group);
  case 2:
    return seteuid(user);
  case 3:
    return setegid(group);
  case 4:
    return setreuid(user, user);
  case 5:
    return setregid(group, group);
  case 6:
    return setresuid(user, user, user);
  case 7:
    return setresgid(group, group, group);
  case 8:
    return setgroups(1, groups);
  case 9:
    return initgroups("root", group);
  case 10:
    return setfsuid(user);
  case 11:
    return setfsgid(group);
  case 12:
    return static_cast<int>(syscall(SYS_setuid, user));
  default:
    return static_cast<int>(syscall(SYS_capset, nullptr, nullptr));
  }
};
constexpr int ways = 14;

class mapped_identity : public death {
protected:
  void SetUp() override {
    death::SetUp();
    if (!on_views())
      GTEST_SKIP() << "this system does not let memory be shared, and the program has said so";
  }
};

TEST_F(mapped_identity, is_the_programs_so_a_strand_is_told_that_it_changes_one_process) {
  for (int how = 0; how < ways; ++how)
    EXPECT_EXIT(elsewhere([how] { change(how); }),
                testing::ExitedWithCode(nopal::base::exit_status_died),
                "^nopal: (set|cap).* would change one process of nopal::mapped and not the "
                "others; change it before the program's first fork of a strand.*\n$")
        << how;
}

TEST_F(mapped_identity, is_not_changed_by_main_or_another_thread_either_when_there_are_workers) {
  for (const int how : {1, 6, 8}) {
    EXPECT_EXIT(elsewhere([] {}); change(how);
                , testing::ExitedWithCode(nopal::base::exit_status_died), "would change one")
        << how;
    EXPECT_EXIT(elsewhere([] {}); (std::thread{change, how}.join());
                , testing::ExitedWithCode(nopal::base::exit_status_died), "would change one")
        << how;
  }
}

// A server that gives its rights up, and then forks strands; so does a child of a strand.
bool changes_before_workers_begin() {
  std::thread other{[] { pause(); }};
  other.detach();
  const bool may = geteuid() == 0;
  const uid_t nobody = may ? 65534 : geteuid();
  bool right = !may || setgroups(0, nullptr) == 0;
  right &= setresgid(nobody, nobody, nobody) == 0 || !may;
  right &= setuid(nobody) == 0 && seteuid(nobody) == 0;
  uid_t seen[2] = {};
  nopal::invoke([&] { seen[0] = geteuid(); }, [&] { seen[1] = geteuid(); });
  return right && seen[0] == nobody && seen[1] == nobody;
}

TEST_F(mapped_identity, may_be_changed_while_there_is_one_process) {
  EXPECT_EXIT(_exit(changes_before_workers_begin() ? 3 : 4), testing::ExitedWithCode(3), "^$");
  EXPECT_EXIT(elsewhere([] {
                const pid_t child = fork();
                if (child == 0)
                  _exit(changes_before_workers_begin() ? 5 : 6);
                int status = 0;
                waitpid(child, &status, 0);
                _exit(WEXITSTATUS(status));
              }),
              testing::ExitedWithCode(5), "^$");
}

TEST_F(mapped_identity, of_a_program_that_a_strand_begins_may_be_another) {
  elsewhere([] {
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_RESETIDS);
    pid_t program = 0;
    char name[] = "true";
    char* const arguments[] = {name, nullptr};
    EXPECT_EQ(posix_spawnp(&program, name, nullptr, &attributes, arguments, environ), 0);
    int status = -1;
    EXPECT_EQ(waitpid(program, &status, 0), program);
    EXPECT_EQ(status, 0);
    posix_spawnattr_destroy(&attributes);
  });
}

} // namespace
} // namespace nopal_test

// SPDX-License-Identifier: MIT
// The message of a process that dies, how it ends, and what it must not do before.
#include "nopal/base/die.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <string>
#include <unistd.h>

namespace {

using nopal::base::die;
using nopal::base::die_in_signal_handler;
using nopal::base::exit_status_died;
using nopal::base::say;

// What `action` writes to file descriptor 2.
template <class Action> std::string stderr_of(Action action) {
  testing::internal::CaptureStderr();
  action();
  return testing::internal::GetCapturedStderr();
}

void die_with_atexit_handler() {
  std::atexit([] { say("an atexit handler ran"); });
  die("%s is %d", "the answer", 42);
}

TEST(die, says_one_sentence_and_runs_no_exit_handler) {
  EXPECT_EXIT(die_with_atexit_handler(), testing::ExitedWithCode(exit_status_died),
              "^nopal: the answer is 42\n$");
}

TEST(die, works_in_a_handler_of_sigsegv) {
  const auto crash = [] {
    std::signal(SIGSEGV, [](int) { die_in_signal_handler("a stack overflowed"); });
    std::raise(SIGSEGV);
  };
  EXPECT_EXIT(crash(), testing::ExitedWithCode(exit_status_died), "^nopal: a stack overflowed\n$");
}

TEST(die, a_long_sentence_in_a_handler_is_cut_visibly) {
  const std::string sentence(5000, 'x');
  EXPECT_EXIT(die_in_signal_handler(sentence.c_str()), testing::ExitedWithCode(exit_status_died),
              "^nopal: x+\\.\\.\\.\n$");
}

TEST(say, prefixes_one_line) {
  EXPECT_EQ(stderr_of([] { say("%u workers", 2u); }), "nopal: 2 workers\n");
}

TEST(say, keeps_errno_even_when_it_cannot_write) {
  const int saved = dup(STDERR_FILENO);
  close(STDERR_FILENO);
  errno = ENOENT;
  say("nobody hears this");
  const int after = errno;
  dup2(saved, STDERR_FILENO);
  close(saved);
  EXPECT_EQ(after, ENOENT);
}

TEST(say, cuts_a_long_line_visibly) {
  const std::string longest(4096 - 7 - 1, 'x');
  EXPECT_EQ(stderr_of([&] { say("%s", longest.c_str()); }), "nopal: " + longest + "\n");
  const std::string cut = stderr_of([&] { say("%sy", longest.c_str()); });
  EXPECT_EQ(cut, "nopal: " + longest.substr(3) + "...\n");
}

TEST(say, writes_once) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_DIRECT), 0);
  const int saved = dup(STDERR_FILENO);
  ASSERT_EQ(dup2(ends[1], STDERR_FILENO), STDERR_FILENO);
  say("one %s", "packet");
  say("another");
  dup2(saved, STDERR_FILENO);
  close(saved);
  close(ends[1]);
  // A pipe in packet mode keeps writes apart: each read returns exactly one of them.
  char packet[256];
  const auto next = [&] {
    const ssize_t got = read(ends[0], packet, sizeof packet);
    return std::string(packet, got > 0 ? static_cast<std::size_t>(got) : 0);
  };
  EXPECT_EQ(next(), "nopal: one packet\n");
  EXPECT_EQ(next(), "nopal: another\n");
  EXPECT_EQ(next(), "");
  close(ends[0]);
}

} // namespace

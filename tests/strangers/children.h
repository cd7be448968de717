// SPDX-License-Identifier: MIT
// How tests run a function in a child of fork(), and what became of it.
#pragma once

#include "tests/patience.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <ostream>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

namespace nopal_test {

// How a child ended, and what it wrote on standard error.
struct ended {
  int status = 0; // of exit; 1000 + the signal that ended it
  std::string said;

  bool operator==(int wanted) const { return status == wanted; }
  friend std::ostream& operator<<(std::ostream& out, const ended& what) {
    return out << "status " << what.status << ", \"" << what.said << "\"";
  }
};

class child {
public:
  // Calls fork(); where it returns 0, `f`, and then _exit with what f returns. A child that hangs
  // is ended by SIGALRM. The program's own handlers and destructors are f's affair (exit).
  template <class F> explicit child(F f) {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    std::fflush(nullptr); // or a child that exits writes it again
    pid_ = fork();
    if (pid_ == 0) {
      alarm(static_cast<unsigned>(patience.count()));
      dup2(ends[1], STDERR_FILENO);
      close(ends[0]);
      close(ends[1]);
      _exit(f());
    }
    close(ends[1]);
    said_ = ends[0];
  }
  child(const child&) = delete;
  child& operator=(const child&) = delete;
  ~child() { EXPECT_TRUE(waited_); }

  ended wait() {
    ended how;
    char text[512];
    for (ssize_t got; (got = read(said_, text, sizeof text)) > 0;)
      how.said.append(text, static_cast<std::size_t>(got));
    close(said_);
    int status = 0;
    EXPECT_EQ(waitpid(pid_, &status, 0), pid_);
    how.status = WIFSIGNALED(status) ? 1000 + WTERMSIG(status) : WEXITSTATUS(status);
    waited_ = true;
    return how;
  }

private:
  pid_t pid_ = 0;
  int said_ = -1;
  bool waited_ = false;
};

// The same, waited for.
template <class F> ended in_child(F f) { return child{f}.wait(); }

} // namespace nopal_test

// SPDX-License-Identifier: MIT
// What the examples' main functions share: bad input ends in one sentence and a non-zero status.
#pragma once

#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <vector>

// Throws "WHAT: No such file or directory", or what errno says of the system call that just failed.
[[noreturn]] void throw_errno(const std::string& what);

// The whole of a file.
std::string contents(const std::string& path);

// Reads a program's arguments into variables. The library that does so takes long to compile, so
// the programs do not include it.
class command_line {
public:
  explicit command_line(const char* about);
  ~command_line();

  // An argument that must be there, or an option, whose name begins with dashes.
  void number(const char* name, int& value, int least, int most, const char* what);
  void text(const char* name, std::string& value, const char* what);
  // One argument or more; `check` throws std::invalid_argument.
  void texts(const char* name, std::vector<std::string>& values, const char* what,
             void (*check)(const std::string&));

  // Parses the command line and runs `body`. Returns the exit status: 1 for an error, 2 for a
  // command line that is not accepted.
  int run(int argc, char** argv, const std::function<void()>& body);

private:
  struct parser;
  std::unique_ptr<parser> parser_;
};

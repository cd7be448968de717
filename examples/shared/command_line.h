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

// Reads a program's arguments into variables.
class command_line {
public:
  explicit command_line(const char* about);

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
  struct argument {
    std::string name;
    std::string what;
    bool many;
    bool given;
    std::function<void(const std::string&)> take;
  };

  argument& argument_for(const std::string& word, bool named);
  bool parse(const std::vector<std::string>& words); // false: help is asked for
  void help(const char* program) const;

  std::string about_;
  std::vector<argument> arguments_;
};

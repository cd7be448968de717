// SPDX-License-Identifier: MIT
// What the examples' main functions share: bad input ends in one sentence and a non-zero status.
#pragma once

#include <CLI/CLI.hpp>

#include <cerrno>
#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <system_error>

// Throws "WHAT: No such file or directory", or what errno says of the system call that just failed.
[[noreturn]] inline void throw_errno(const std::string& what) {
  throw std::system_error(errno, std::generic_category(), what);
}

// The whole of a file.
inline std::string contents(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file{std::fopen(path.c_str(), "r"),
                                                             std::fclose};
  std::string text;
  char part[1 << 16];
  while (file != nullptr && std::feof(file.get()) == 0 && std::ferror(file.get()) == 0)
    text.append(part, std::fread(part, 1, sizeof part, file.get()));
  if (file == nullptr || std::ferror(file.get()) != 0)
    throw_errno("cannot read the file '" + path + "'");
  return text;
}

// Parses the command line and runs `body`. Returns the exit status: 1 for an error, 2 for a command
// line that is not accepted.
template <class Body> int run_program(CLI::App& app, int argc, char** argv, Body body) {
  try {
    app.parse(argc, argv);
    body();
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
      throw_errno("cannot write the output");
    return 0;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) // --help
      return app.exit(error);
    std::fprintf(stderr, "%s: %s; --help says what is accepted\n", argv[0], error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
    return 1;
  }
}

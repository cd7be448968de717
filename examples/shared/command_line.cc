// SPDX-License-Identifier: MIT
// The command lines of the examples, by CLI11.
#include "command_line.h"

#include <CLI/CLI.hpp>

#include <cerrno>
#include <exception>
#include <stdexcept>
#include <system_error>

void throw_errno(const std::string& what) {
  throw std::system_error(errno, std::generic_category(), what);
}

std::string contents(const std::string& path) {
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

struct command_line::parser {
  CLI::App app;
};

command_line::command_line(const char* about) : parser_{new parser{CLI::App{about}}} {}
command_line::~command_line() = default;

void command_line::number(const char* name, int& value, int least, int most, const char* what) {
  CLI::Option* const option = parser_->app.add_option(name, value, what);
  option->check(CLI::Range(least, most));
  if (name[0] == '-')
    option->capture_default_str();
  else
    option->required();
}

void command_line::text(const char* name, std::string& value, const char* what) {
  parser_->app.add_option(name, value, what)->required();
}

void command_line::texts(const char* name, std::vector<std::string>& values, const char* what,
                         void (*check)(const std::string&)) {
  parser_->app.add_option(name, values, what)->required()->each([=](const std::string& text) {
    try {
      check(text);
    } catch (const std::invalid_argument& error) {
      throw CLI::ValidationError(name, error.what());
    }
  });
}

int command_line::run(int argc, char** argv, const std::function<void()>& body) {
  try {
    parser_->app.parse(argc, argv);
    body();
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
      throw_errno("cannot write the output");
    return 0;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) // --help
      return parser_->app.exit(error);
    std::fprintf(stderr, "%s: %s; --help says what is accepted\n", argv[0], error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
    return 1;
  }
}

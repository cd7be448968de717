// SPDX-License-Identifier: MIT
// The command lines of the examples.
#include "command_line.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
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

namespace {

bool is_option(const std::string& name) { return name.starts_with("--"); }

int number_of(const std::string& text, int least, int most) {
  int number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error == std::errc{} && stop == end && number >= least && number <= most)
    return number;
  throw std::invalid_argument("'" + text + "' is not a number from " + std::to_string(least) +
                              " to " + std::to_string(most));
}

} // namespace

command_line::command_line(const char* about) : about_{about} {}

void command_line::number(const char* name, int& value, int least, int most, const char* what) {
  const std::string usual = is_option(name) ? ", else " + std::to_string(value) : "";
  arguments_.push_back({name, what + usual, false, false, [&value, least, most](auto& text) {
                          value = number_of(text, least, most);
                        }});
}

void command_line::text(const char* name, std::string& value, const char* what) {
  arguments_.push_back({name, what, false, false, [&value](auto& text) { value = text; }});
}

void command_line::texts(const char* name, std::vector<std::string>& values, const char* what,
                         void (*check)(const std::string&)) {
  arguments_.push_back({name, what, true, false, [&values, check](auto& text) {
                          check(text);
                          values.push_back(text);
                        }});
}

command_line::argument& command_line::argument_for(const std::string& word, bool named) {
  const auto fits = [&](const argument& each) {
    return named ? each.name == word : !is_option(each.name) && (each.many || !each.given);
  };
  const auto found = std::ranges::find_if(arguments_, fits);
  if (found == arguments_.end())
    throw std::invalid_argument("'" + word + "' was not expected");
  return *found;
}

bool command_line::parse(const std::vector<std::string>& words) {
  bool options = true; // none come behind "--"
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (options && (words[i] == "--help" || words[i] == "-h"))
      return false;
    if (options && words[i] == "--") {
      options = false;
      continue;
    }
    const bool named = options && words[i].size() > 1 && words[i][0] == '-';
    argument& to = argument_for(words[i], named);
    if (named && ++i == words.size())
      throw std::invalid_argument(to.name + " needs a value");
    try {
      to.take(words[i]);
    } catch (const std::invalid_argument& error) {
      throw std::invalid_argument(to.name + ": " + error.what());
    }
    to.given = true;
  }
  for (const argument& each : arguments_)
    if (!each.given && !is_option(each.name))
      throw std::invalid_argument(each.name + " is required");
  return true;
}

void command_line::help(const char* program) const {
  std::printf("%s\nusage: %s", about_.c_str(), program);
  for (const argument& each : arguments_)
    std::printf(is_option(each.name) ? " [%s VALUE]"
                : each.many          ? " %s..."
                                     : " %s",
                each.name.c_str());
  std::printf("\n");
  for (const argument& each : arguments_)
    std::printf("  %-16s %s\n", each.name.c_str(), each.what.c_str());
}

int command_line::run(int argc, char** argv, const std::function<void()>& body) {
  try {
    if (!parse({argv + std::min(argc, 1), argv + argc})) {
      help(argv[0]);
      return 0;
    }
  } catch (const std::invalid_argument& error) {
    std::fprintf(stderr, "%s: %s; --help says what is accepted\n", argv[0], error.what());
    return 2;
  }
  try {
    body();
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
      throw_errno("cannot write the output");
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
    return 1;
  }
}

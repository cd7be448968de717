// SPDX-License-Identifier: MIT
// sort_lines FILE: writes the lines of a text file in the order of their bytes, as LC_ALL=C sort
// does. A merge sort whose merges are parallel too: each halves its longer input and finds the
// place in the other by bisection.
#include "shared/command_line.h"

#include <nopal/fork.h>

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

namespace {

using line = std::string_view;
using lines = std::span<line>;

constexpr std::size_t grain = 4096; // lines

void merge_into(lines a, lines b, lines out) {
  if (a.size() < b.size())
    std::swap(a, b);
  if (a.size() + b.size() <= grain)
    return nopal::leaf([=] { std::ranges::merge(a, b, out.begin()); });
  const std::size_t i = a.size() / 2;
  const auto j = static_cast<std::size_t>(std::ranges::lower_bound(b, a[i]) - b.begin());
  nopal::scope s;
  s.fork([=] { merge_into(a.first(i), b.first(j), out.first(i + j)); });
  merge_into(a.subspan(i), b.subspan(j), out.subspan(i + j));
  s.join();
}

// Sorts the lines `all`. The result is in `all` or, if `over`, in `spare`; both are of one length.
void sort_lines(lines all, lines spare, bool over) {
  if (all.size() <= grain) {
    std::ranges::sort(all);
    if (over)
      std::ranges::copy(all, spare.begin());
    return;
  }
  const std::size_t half = all.size() / 2;
  nopal::scope s;
  s.fork([=] { sort_lines(all.first(half), spare.first(half), !over); });
  sort_lines(all.subspan(half), spare.subspan(half), !over);
  s.join();
  const lines from = over ? all : spare;
  merge_into(from.first(half), from.subspan(half), over ? spare : all);
}

void print_sorted(const std::string& text) {
  std::vector<line> all;
  for (std::size_t at = 0, end; at < text.size(); at = end + 1) {
    end = std::min(text.find('\n', at), text.size()); // the last line may lack its end
    all.emplace_back(text.data() + at, end - at);
  }
  std::vector<line> spare(all.size());
  sort_lines(all, spare, false);
  for (const line each : all) {
    std::fwrite(each.data(), 1, each.size(), stdout);
    std::putchar('\n');
  }
}

} // namespace

int main(int argc, char** argv) {
  command_line line{"Writes the lines of a text file in the order of their bytes."};
  std::string file;
  line.text("FILE", file, "a text file");
  return line.run(argc, argv, [&] { print_sorted(contents(file)); });
}

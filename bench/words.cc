// SPDX-License-Identifier: MIT
// Words counted in a hash map: a serial loop, and the ways to add to a value in parallel, as one
// JSON line of medians.
//
// usage: words [--workers N] [--rounds N]
//
// The text has a million words of 20,000, the k-th of which is about k times rarer than the first.
// All ways run in turn, round after round. Times are in milliseconds. `update_ns` is what an
// addition to a reducer of numbers takes where nothing is stolen, and `plain_ns` to a variable.
#include <nopal/accumulate.h>
#include <nopal/loop.h>
#include <nopal/reducer.h>
#include <nopal/runtime.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace {

using counts = std::unordered_map<std::string, std::uint32_t>;
using clock_type = std::chrono::steady_clock;

constexpr std::size_t number_of_words = 1'000'000;
constexpr double vocabulary = 20'000;

std::vector<std::string> make_text() {
  std::mt19937_64 random{1};
  std::uniform_real_distribution<double> rank{0, std::log(vocabulary)};
  std::vector<std::string> text(number_of_words);
  for (std::string& each : text)
    each = "word" + std::to_string(static_cast<int>(std::exp(rank(random))));
  return text;
}

void merge(counts& low, const counts& high) {
  for (const auto& [word, number] : high)
    low[word] += number;
}

struct count_words {
  void operator()(counts& all, const std::string* word) const { ++all[*word]; }
  void operator()(counts& low, counts&& high) const { merge(low, high); }
};
struct all_counts {
  static counts identity() { return {}; }
  static void combine(counts& low, counts&& high) { merge(low, high); }
};

counts serially(const std::vector<std::string>& text) {
  counts all;
  for (const std::string& each : text)
    ++all[each];
  return all;
}
counts by_reduce(const std::vector<std::string>& text) {
  return nopal::reduce(std::size_t{0}, text.size(), nopal::identity{counts{}}, count_words{},
                       [&](std::size_t i) { return &text[i]; });
}
counts by_accumulate(const std::vector<std::string>& text) {
  return nopal::accumulate(
      std::size_t{0}, text.size(), [] { return counts{}; },
      [&](counts& some, std::size_t i) { ++some[text[i]]; },
      [](counts& low, counts&& high) { merge(low, high); });
}
counts by_reducer(const std::vector<std::string>& text) {
  nopal::reducer<all_counts> all;
  nopal::for_index(std::size_t{0}, text.size(), [&](std::size_t i) { ++(*all)[text[i]]; });
  return all.take();
}

template <class F> double ms_of(F f) {
  const auto begin = clock_type::now();
  f();
  return std::chrono::duration<double, std::milli>(clock_type::now() - begin).count();
}
double median(std::vector<double> of) {
  std::ranges::nth_element(of, of.begin() + static_cast<std::ptrdiff_t>(of.size() / 2));
  return of[of.size() / 2];
}

constexpr long updates = 10'000'000;

double update_ns() {
  nopal::reducer<nopal::adding<long>> sum;
  const auto add_all = [&sum] {
    for (long i = 0; i < updates; ++i) {
      *sum += i;
      asm volatile("" ::: "memory");
    }
  };
  double ms = 0;
  nopal::invoke([&] { ms = ms_of(add_all); }, [] {}); // in a strand
  return sum.value() == updates * (updates - 1) / 2 ? ms * 1e6 / updates : -1;
}
double plain_ns() {
  long sum = 0;
  return ms_of([&sum] {
           for (long i = 0; i < updates; ++i) {
             sum += i;
             asm volatile("" ::"r"(&sum) : "memory");
           }
         }) *
         1e6 / updates;
}

} // namespace

int main(int argc, char** argv) {
  unsigned workers = 0;
  std::size_t rounds = 11;
  for (int i = 1; i + 1 < argc; i += 2)
    if (std::strcmp(argv[i], "--workers") == 0)
      workers = static_cast<unsigned>(std::strtoul(argv[i + 1], nullptr, 10));
    else if (std::strcmp(argv[i], "--rounds") == 0)
      rounds = std::strtoul(argv[i + 1], nullptr, 10);
  nopal::configure({.num_workers = workers});
  const std::vector<std::string> text = make_text();
  const counts expected = serially(text);
  constexpr std::pair<const char*, counts (*)(const std::vector<std::string>&)> ways[] = {
      {"serial", serially},
      {"reduce", by_reduce},
      {"accumulate", by_accumulate},
      {"reducer", by_reducer}};
  std::vector<double> taken[std::size(ways)];
  for (std::size_t round = 0; round < rounds; ++round)
    for (std::size_t way = 0; way < std::size(ways); ++way) {
      counts all;
      taken[way].push_back(ms_of([&] { all = ways[way].second(text); }));
      if (all != expected) {
        std::fprintf(stderr, "words: %s has counted other words\n", ways[way].first);
        return 1;
      }
    }
  std::printf("{\"workers\": %u", nopal::num_workers());
  for (std::size_t way = 0; way < std::size(ways); ++way)
    std::printf(", \"%s\": %.1f", ways[way].first, median(taken[way]));
  std::printf(", \"update_ns\": %.2f, \"plain_ns\": %.2f}\n", update_ns(), plain_ns());
}

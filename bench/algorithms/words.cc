// SPDX-License-Identifier: MIT
// Words counted in a hash map: `serial`, and in parallel: `words`. Of Nopal `words` is
// `accumulate`; `reduce` and `reducer` are beside it, and `update_ns` is what an addition to a
// reducer of numbers takes where nothing is stolen, `plain_ns` to a variable.
//
// The text has a million words of 20,000, the k-th of which is about k times rarer than the first.
#include "bench/algorithms/in_turn.h"
#include "bench/algorithms/runtime.h"

#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#if defined(BENCH_NOPAL)
#include <nopal/accumulate.h>
#include <nopal/reducer.h>
#elif defined(BENCH_TBB)
#include <tbb/blocked_range.h>
#include <tbb/parallel_reduce.h>
#endif

namespace bench {
namespace {

using texts = std::vector<std::string>;
using counts = std::unordered_map<std::string, std::uint32_t>;

texts make_text(std::size_t number) {
  std::mt19937_64 random{1};
  std::uniform_real_distribution<double> rank{0, std::log(20'000.0)};
  texts text(number);
  for (std::string& each : text)
    each = "word" + std::to_string(static_cast<int>(std::exp(rank(random))));
  return text;
}

void count_part(const texts& text, std::size_t from, std::size_t to, counts& all) {
  for (std::size_t i = from; i < to; ++i)
    ++all[text[i]];
}
void merge(counts& low, const counts& high) {
  for (const auto& [word, number] : high)
    low[word] += number;
}

counts serially(const texts& text) {
  counts all;
  count_part(text, 0, text.size(), all);
  return all;
}

#if defined(BENCH_NOPAL)

struct count_words {
  void operator()(counts& all, const std::string* word) const { ++all[*word]; }
  void operator()(counts& low, counts&& high) const { merge(low, high); }
};
struct all_counts {
  static counts identity() { return {}; }
  static void combine(counts& low, counts&& high) { merge(low, high); }
};

counts in_parallel(const texts& text) {
  return nopal::accumulate(
      std::size_t{0}, text.size(), [] { return counts{}; },
      [&](counts& some, std::size_t i) { ++some[text[i]]; },
      [](counts& low, counts&& high) { merge(low, high); });
}
counts by_reduce(const texts& text) {
  return nopal::reduce(std::size_t{0}, text.size(), nopal::identity{counts{}}, count_words{},
                       [&](std::size_t i) { return &text[i]; });
}
counts by_reducer(const texts& text) {
  nopal::reducer<all_counts> all;
  nopal::for_index(std::size_t{0}, text.size(), [&](std::size_t i) { ++(*all)[text[i]]; });
  return all.take();
}

constexpr long updates = 10'000'000;

double update_ns() {
  nopal::reducer<nopal::adding<long>> sum;
  double ms = 0;
  nopal::invoke( // in a strand
      [&] {
        ms = ms_of([&] {
          for (long i = 0; i < updates; ++i) {
            *sum += i;
            asm volatile("" ::: "memory");
          }
        });
      },
      [] {});
  return sum.value() == updates * (updates - 1) / 2 ? ms * 1e6 / updates : -1;
}
double plain_ns() {
  long sum = 0;
  return ms_of([&] {
           for (long i = 0; i < updates; ++i) {
             sum += i;
             asm volatile("" ::"r"(&sum) : "memory");
           }
         }) *
         1e6 / updates;
}

#elif defined(BENCH_TBB)

// The body of a reduction in oneTBB's own way: it adds where its value lies.
struct counting_body {
  const texts* text;
  counts all = {};

  explicit counting_body(const texts& given) : text(&given) {}
  counting_body(counting_body& other, tbb::split) : text(other.text) {}
  void operator()(const tbb::blocked_range<std::size_t>& part) {
    count_part(*text, part.begin(), part.end(), all);
  }
  void join(counting_body& behind) { merge(all, behind.all); }
};

counts in_parallel(const texts& text) {
  counting_body body{text};
  tbb::parallel_reduce(tbb::blocked_range<std::size_t>(0, text.size()), body);
  return std::move(body.all);
}

#else

counts in_parallel(const texts& text) {
  counts all;
  const long number = static_cast<long>(text.size());
#pragma omp parallel
  {
    counts own;
#pragma omp for nowait
    for (long i = 0; i < number; ++i)
      ++own[text[static_cast<std::size_t>(i)]];
#pragma omp critical
    if (all.empty())
      all.swap(own);
    else
      merge(all, own);
  }
  return all;
}

#endif

class word_counts final : public in_turn {
public:
  word_counts(bool test, unsigned workers)
      : in_turn(test ? 1 : 3), threads_(workers), text_(make_text(test ? 10'000 : 1'000'000)),
        expected_(serially(text_)) {
    add_way("serial", serially);
    add_way("words", in_parallel);
#if defined(BENCH_NOPAL)
    add_way("reduce", by_reduce);
    add_way("reducer", by_reducer);
#endif
  }

#if defined(BENCH_NOPAL)
  std::map<std::string, double> metrics() const override {
    std::map<std::string, double> all = in_turn::metrics();
    all["update_ns"] = update_ns();
    all["plain_ns"] = plain_ns();
    return all;
  }
#endif

private:
  void add_way(const char* name, counts (*way)(const texts&)) {
    add({.name = name,
         .run = [this, way] { counted_ = way(text_); },
         .right = [this] { return counted_ == expected_; },
         .before = [this] { counted_ = {}; }});
  }

  const own_threads threads_;
  const texts text_;
  const counts expected_;
  counts counted_;
};

} // namespace
} // namespace bench

int main(int argc, char** argv) {
  return bench::run_in_turn<bench::word_counts>("words", argc, argv);
}

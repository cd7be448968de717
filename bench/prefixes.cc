// SPDX-License-Identifier: MIT
// What a thief pays to see a stolen prefix of m pages that lie in r runs of the file, and a page of
// its own below: by runs, page by page, and by copying the same bytes (bench/baseline/tlmm.h).
//
// usage: prefixes [SAMPLES]
//
// It prints one JSON line. Times are medians in microseconds; each contains the first access to
// every page. Crossings are calls of mmap. TLMM-Linux, a changed kernel, needs one for any prefix.
#include "bench/baseline/tlmm.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

using bench::tlmm::mapping;
using bench::tlmm::memory;
using bench::tlmm::page_size;
using bench::tlmm::PD_NULL;
using bench::tlmm::pd_t;

constexpr std::size_t most_pages = 64;

struct cost {
  double us;
  std::uint64_t crossings;
};

template <class F> double median_us(int samples, F sample) {
  std::vector<double> taken;
  for (int i = 0; i < samples; ++i)
    taken.push_back(sample());
  std::nth_element(taken.begin(), taken.begin() + samples / 2, taken.end());
  return taken[static_cast<std::size_t>(samples / 2)];
}

template <class F> double us_of(F step) {
  using clock = std::chrono::steady_clock;
  const auto from = clock::now();
  step();
  return std::chrono::duration<double, std::micro>(clock::now() - from).count();
}

void refuse(const char* what) {
  std::fprintf(stderr, "prefixes: %s: %s\n", what, std::strerror(errno));
  std::exit(1);
}

// The descriptors of m pages in r runs, each with a gap before it, and one more for the thief.
std::vector<pd_t> prefix(memory& pages, std::size_t m, std::size_t r) {
  std::vector<pd_t> made;
  for (std::size_t run = 0; run <= r; ++run) {
    pages.palloc();
    const std::size_t from = m * run / r;
    const std::size_t until = run == r ? from + 1 : m * (run + 1) / r;
    for (std::size_t i = from; i < until; ++i)
      made.push_back(pages.palloc());
  }
  return made;
}

cost mapped(int samples, std::size_t m, std::size_t r, mapping how) {
  memory pages(4 * most_pages, how);
  auto* const at = static_cast<volatile char*>(pages.reserve((m + 1) * page_size));
  const std::vector<pd_t> made = prefix(pages, m, r);
  const std::vector<pd_t> none(made.size(), PD_NULL);
  const auto map = [&](const std::vector<pd_t>& p) {
    if (pages.pmap(p.data(), p.size(), const_cast<char*>(at)) != 0)
      refuse("pmap");
    for (std::size_t i = 0; p[0] != PD_NULL && i < p.size(); ++i)
      at[i * page_size] = at[i * page_size] + 1;
  };
  map(made); // the pages have memory from now on
  const std::uint64_t crossings = pages.crossings();
  return {median_us(samples,
                    [&] {
                      map(none);
                      return us_of([&] { map(made); });
                    }),
          crossings};
}

double copied(int samples, std::size_t m) {
  const std::vector<char> from(m * page_size, 'f');
  std::vector<char> to(m * page_size);
  return median_us(samples, [&] {
    return us_of([&] {
      std::memcpy(to.data(), from.data(), from.size());
      asm volatile("" : : "r"(to.data()) : "memory");
    });
  });
}

} // namespace

int main(int argc, char** argv) {
  const int samples = argc == 1 ? 500 : std::atoi(argv[1]);
  if (argc > 2 || samples < 1 || samples > 1'000'000) {
    std::fprintf(stderr, "prefixes: accepted is one number of samples, 1 to 1000000\n");
    return 2;
  }
  const char* before = "{\"cases\":[";
  for (const std::size_t m : {1UL, 4UL, 16UL, most_pages})
    for (std::size_t r = 1; r <= m; r *= 4) {
      const cost runs = mapped(samples, m, r, mapping::by_runs);
      const cost single = mapped(samples, m, r, mapping::page_wise);
      std::printf("%s{\"pages\":%zu,\"runs\":%zu,\"crossings\":%llu,\"us\":%.2f,"
                  "\"page_wise_crossings\":%llu,\"page_wise_us\":%.2f,\"copy_us\":%.3f}",
                  before, m, r, static_cast<unsigned long long>(runs.crossings), runs.us,
                  static_cast<unsigned long long>(single.crossings), single.us, copied(samples, m));
      before = ",";
    }
  std::printf("]}\n");
  return 0;
}

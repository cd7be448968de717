// SPDX-License-Identifier: MIT
// Six recursions, each with another kind of serial code in its leaves, and a loop. The command
// `leaves KIND TIMES` computes one of them TIMES times and prints a number. leaves_test.py counts
// the instructions.
#include <nopal/fork.h>
#include <nopal/loop.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <vector>

namespace {

std::uint32_t random_number() {
  static std::uint64_t state = 1;
  state = state * 6364136223846793005 + 1442695040888963407;
  return static_cast<std::uint32_t>(state >> 33);
}

template <class T> std::vector<T> random_vector(std::size_t count, std::uint32_t below) {
  std::vector<T> all(count);
  for (T& each : all)
    each = static_cast<T>(random_number() % below);
  return all;
}

// Returns the number, but compilers do not know it: else they would compile a copy of the elision
// for this number alone.
int given(int number) {
  const volatile int unknown = number;
  return unknown;
}

// An integer product: compilers unroll it if they know that n is small.
void add_product(const int* a, const int* b, int* c, int n, int stride) {
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < n; ++k)
      for (int j = 0; j < n; ++j)
        c[i * stride + j] += a[i * stride + k] * b[k * stride + j];
}

void multiply(const int* a, const int* b, int* c, int n, int stride) {
  if (n <= 32)
    return nopal::leaf([=] { add_product(a, b, c, std::min(n, 32), stride); });
  const int half = n / 2;
  const int below = half * stride;
  nopal::scope s;
  s.fork(multiply, a, b, c, half, stride);
  s.fork(multiply, a, b + half, c + half, half, stride);
  s.fork(multiply, a + below, b, c + below, half, stride);
  multiply(a + below, b + half, c + below + half, half, stride);
  s.join();
  s.fork(multiply, a + half, b + below, c, half, stride);
  s.fork(multiply, a + half, b + below + half, c + half, half, stride);
  s.fork(multiply, a + below + half, b + below, c + below, half, stride);
  multiply(a + below + half, b + below + half, c + below + half, half, stride);
  s.join();
}

std::uint64_t product(int times) {
  const int n = given(128);
  const auto a = random_vector<int>(n * n, 100);
  const auto b = random_vector<int>(n * n, 100);
  std::vector<int> c(n * n);
  for (int i = 0; i < times; ++i)
    multiply(a.data(), b.data(), c.data(), n, n);
  std::uint64_t sum = 0;
  for (const int each : c)
    sum = sum * 31 + static_cast<std::uint64_t>(each);
  return sum;
}

// A stencil: one vectorised loop.
void relax(const double* from, double* to, std::size_t begin, std::size_t end, double rate) {
  if (end - begin <= 16384) {
    return nopal::leaf([=] {
      for (std::size_t i = begin; i < end; ++i)
        to[i] = from[i] + rate * (from[i - 1] - 2 * from[i] + from[i + 1]);
    });
  }
  const std::size_t middle = begin + (end - begin) / 2;
  nopal::scope s;
  s.fork([&] { relax(from, to, begin, middle, rate); });
  relax(from, to, middle, end, rate);
  s.join();
}

std::uint64_t stencil(int times) {
  auto a = random_vector<double>(1 << 19, 100);
  auto b = a;
  for (int i = 0; i < times; ++i) {
    relax(a.data(), b.data(), 1, a.size() - 1, 0.25);
    std::swap(a, b);
  }
  std::uint64_t sum = 0;
  for (const double each : a)
    sum = sum * 31 + static_cast<std::uint64_t>(std::floor(each * 1024));
  return sum;
}

// An insertion sort: branches, and a key that stays in a register while others move.
void insert_each(std::uint32_t* first, std::uint32_t* last) {
  for (std::uint32_t* next = first; next < last; ++next) {
    const std::uint32_t key = *next;
    std::uint32_t* at = next;
    for (; at > first && at[-1] > key; --at)
      *at = at[-1];
    *at = key;
  }
}

void sort_between(std::uint32_t* first, std::uint32_t* last) {
  if (last - first <= 256)
    return nopal::leaf([=] { insert_each(first, last); });
  const std::uint32_t pivot = first[(last - first) / 2];
  std::uint32_t* low = first;
  std::uint32_t* high = last - 1;
  while (low <= high) {
    while (*low < pivot)
      ++low;
    while (*high > pivot)
      --high;
    if (low <= high)
      std::swap(*low++, *high--);
  }
  nopal::scope s;
  s.fork(sort_between, first, high + 1);
  sort_between(low, last);
  s.join();
}

std::uint64_t sort(int times) {
  const auto unsorted = random_vector<std::uint32_t>(1 << 16, 1U << 30);
  std::uint64_t sum = 0;
  for (int i = 0; i < times; ++i) {
    auto keys = unsorted;
    sort_between(keys.data(), keys.data() + keys.size());
    sum = sum * 31 + (std::is_sorted(keys.begin(), keys.end()) ? keys[keys.size() / 2] : 0U);
  }
  return sum;
}

// A digest: eight words that mix with one another, more than there are registers to spare.
void mix(std::uint32_t& a, std::uint32_t b, std::uint32_t c, std::uint32_t d, std::uint32_t x,
         int bits) {
  a += ((b & c) | (~b & d)) + x;
  a = (a << bits | a >> (32 - bits)) + b;
}

std::uint32_t digest(const std::uint32_t* words, std::size_t blocks) {
  std::uint32_t a = 0x67452301, b = 0xefcdab89, c = 0x98badcfe, d = 0x10325476;
  std::uint32_t e = 0x9e3779b9, f = 0x7f4a7c15, g = 0xf39cc060, h = 0x5cedc834;
  for (; blocks > 0; --blocks, words += 16) {
    for (int i = 0; i < 16; i += 4) {
      mix(a, b, c, d, words[i], 7);
      mix(e, f, g, h, words[i + 1] ^ a, 12);
      mix(d, a, b, c, words[i + 2], 17);
      mix(h, e, f, g, words[i + 3] + d, 22);
      mix(c, d, a, b, words[i] ^ h, 5);
      mix(g, h, e, f, words[i + 1] ^ c, 9);
      mix(b, c, d, a, words[i + 2], 14);
      mix(f, g, h, e, words[i + 3] ^ b, 20);
    }
  }
  return a ^ b ^ c ^ d ^ e ^ f ^ g ^ h;
}

std::uint32_t digest_all(const std::uint32_t* words, std::size_t blocks) {
  if (blocks <= 128)
    return nopal::leaf([=] { return digest(words, blocks); });
  const std::size_t half = blocks / 2;
  std::uint32_t low;
  nopal::scope s;
  s.fork(low, digest_all, words, half);
  const std::uint32_t high = digest_all(words + 16 * half, blocks - half);
  s.join();
  return low * 31 + high;
}

std::uint64_t bits(int times) {
  auto words = random_vector<std::uint32_t>(1 << 18, 1U << 30);
  std::uint32_t sum = 0;
  for (int i = 0; i < times; ++i) {
    words[0] = sum; // else a compiler may make the elision's calls once
    sum += digest_all(words.data(), words.size() / 16);
  }
  return sum;
}

// A histogram. The fork captures the function's own numbers by reference, so they live in memory,
// and for all the compiler knows each count that is stored might change them.
void count_keys(const int* keys, int count, int shift, int mask, int* counts) {
  if (count <= 4096) {
    return nopal::leaf([=] {
      for (int i = 0; i < count; ++i)
        ++counts[(keys[i] >> shift) & mask];
    });
  }
  const int half = count / 2;
  int low[64] = {};
  nopal::scope s;
  s.fork([&] { count_keys(keys, half, shift, mask, low); });
  count_keys(keys + half, count - half, shift, mask, counts);
  s.join();
  for (int i = 0; i <= mask; ++i)
    counts[i] += low[i];
}

std::uint64_t histogram(int times) {
  const auto keys = random_vector<int>(1 << 18, 1U << 30);
  std::uint64_t sum = 0;
  for (int i = 0; i < times; ++i) {
    int counts[64] = {};
    count_keys(keys.data(), 1 << 18, 5, 63, counts);
    for (const int each : counts)
      sum = sum * 31 + static_cast<std::uint64_t>(each);
  }
  return sum;
}

// Forces between bodies, which lie as arrays: divisions, and seven pointers.
struct bodies {
  const float *x, *y, *mass;
  float *force_x, *force_y;
  std::size_t count;
};

void attract(const bodies& all, std::size_t begin, std::size_t end) {
  if (end - begin <= 8) {
    return nopal::leaf([=] {
      for (std::size_t i = begin; i < end; ++i) {
        float force_x = 0;
        float force_y = 0;
        for (std::size_t j = 0; j < all.count; ++j) {
          const float x = all.x[j] - all.x[i];
          const float y = all.y[j] - all.y[i];
          const float square = x * x + y * y + 1;
          const float force = all.mass[j] / (square * std::sqrt(square));
          force_x += force * x;
          force_y += force * y;
        }
        all.force_x[i] += force_x;
        all.force_y[i] += force_y;
      }
    });
  }
  const std::size_t middle = begin + (end - begin) / 2;
  nopal::scope s;
  s.fork([&all, begin, middle] { attract(all, begin, middle); });
  attract(all, middle, end);
  s.join();
}

std::uint64_t forces(int times) {
  constexpr std::size_t count = 512;
  const auto x = random_vector<float>(count, 64);
  const auto y = random_vector<float>(count, 64);
  const auto mass = random_vector<float>(count, 16);
  std::vector<float> force_x(count);
  std::vector<float> force_y(count);
  const bodies all{x.data(), y.data(), mass.data(), force_x.data(), force_y.data(), count};
  for (int i = 0; i < times; ++i)
    attract(all, 0, count);
  double sum = 0;
  for (std::size_t i = 0; i < count; ++i)
    sum += std::abs(double{force_x[i]}) + std::abs(double{force_y[i]});
  return static_cast<std::uint64_t>(sum);
}

// The digests, by a loop of the library, which calls its leaves itself.
std::uint64_t loop(int times) {
  const auto words = random_vector<std::uint32_t>(1 << 18, 1U << 30);
  std::uint64_t sum = 0;
  for (int i = 0; i < times; ++i) {
    sum += nopal::reduce(
        std::size_t{0}, words.size() / 16, std::uint32_t{0}, std::bit_xor<>{},
        [&](std::size_t block) { return digest(&words[block * 16], 1); }, 256);
  }
  return sum;
}

struct {
  const char* name;
  std::uint64_t (*compute)(int times);
} const kinds[] = {{"product", product},     {"stencil", stencil}, {"sort", sort}, {"bits", bits},
                   {"histogram", histogram}, {"forces", forces},   {"loop", loop}};

} // namespace

int main(int count, char** arguments) {
  for (const auto& kind : kinds) {
    if (count != 3 || std::strcmp(kind.name, arguments[1]) != 0)
      continue;
    // The outermost fork starts the workers and begins a group, so no leaf is counted with it.
    std::uint64_t sum = 0;
    nopal::scope s;
    s.fork(sum, kind.compute, std::atoi(arguments[2]));
    s.join();
    std::printf("%llx\n", static_cast<unsigned long long>(sum));
    return 0;
  }
  std::fprintf(stderr, "usage: leaves product|stencil|sort|bits|histogram|forces|loop TIMES\n");
  return 2;
}

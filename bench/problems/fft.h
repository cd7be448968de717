// SPDX-License-Identifier: MIT
// fft: the discrete Fourier transform of complex doubles; 2^26 of them in the papers
// (fibril-spaa16 Table 1, nowa-ipdps21 Table I, cilk-m-pact10 Figure 7).
//
// Cooley and Tukey's decimation in time, with radix 32 as long as the parts keep 32 elements: sort
// the elements by their index modulo the radix, fork a transform of each class, combine. Sorting
// and combining go by halves, a fork for the lower half, down to 16 rows of one element from each
// class. The base case is a transform of 32 elements. Two arrays take turns as source and target.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/base_case.h"
#include "bench/harness.h"

namespace bench {

struct complex_number {
  double re;
  double im;

  friend complex_number operator+(complex_number a, complex_number b) {
    return {a.re + b.re, a.im + b.im};
  }
  friend complex_number operator-(complex_number a, complex_number b) {
    return {a.re - b.re, a.im - b.im};
  }
  friend complex_number operator*(complex_number a, complex_number b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
};

inline constexpr int fft_base = 32;
inline constexpr std::ptrdiff_t fft_rows_min = 16;

// Powers of w = exp(-2 pi i / n). Small enough for a cache, a product gives any power:
// w^e = coarse[e >> bits] * fine[e & (2^bits - 1)].
struct fft_roots {
  const complex_number* coarse;
  const complex_number* fine;
  const complex_number* base; // exp(-2 pi i k / 32), k < 16
  std::ptrdiff_t n;
  int bits;

  complex_number power(std::ptrdiff_t e) const {
    return coarse[e >> bits] * fine[e & ((std::ptrdiff_t{1} << bits) - 1)];
  }
};

// The transform of in[0], in[Stride], ..., in[(N - 1) * Stride].
template <int N, int Stride>
void small_transform(const complex_number* in, complex_number* out, const complex_number* base) {
  if constexpr (N == 2) {
    out[0] = in[0] + in[Stride];
    out[1] = in[0] - in[Stride];
  } else {
    constexpr int half = N / 2;
    small_transform<half, 2 * Stride>(in, out, base);
    small_transform<half, 2 * Stride>(in + Stride, out + half, base);
    for (int k = 0; k < half; ++k) {
      const complex_number turned = out[k + half] * base[k * (fft_base / N)];
      out[k + half] = out[k] - turned;
      out[k] = out[k] + turned;
    }
  }
}

inline std::ptrdiff_t fft_radix(std::ptrdiff_t n) {
  return std::min<std::ptrdiff_t>(fft_base, n / fft_base);
}

// Four neighbours at a time fill a cache line, before parts that lie a power of two apart push it
// out.
BENCH_BASE_CASE inline void sort_rows(const complex_number* in, complex_number* out,
                                      std::ptrdiff_t n, std::ptrdiff_t first, std::ptrdiff_t last) {
  const std::ptrdiff_t radix = fft_radix(n);
  const std::ptrdiff_t part = n / radix;
  for (std::ptrdiff_t row = first; row < last; row += 4) {
    const complex_number* from = in + row * radix;
    for (std::ptrdiff_t j = 0; j < radix; ++j) {
      complex_number* to = out + j * part + row;
      for (std::ptrdiff_t i = 0; i < 4; ++i)
        to[i] = from[i * radix + j];
    }
  }
}

template <int Radix>
BENCH_BASE_CASE void combine_rows(const complex_number* in, complex_number* out,
                                  const fft_roots* roots, std::ptrdiff_t part, std::ptrdiff_t first,
                                  std::ptrdiff_t last) {
  const std::ptrdiff_t step = roots->n / (part * Radix);
  for (std::ptrdiff_t row = first; row < last; row += 4) {
    complex_number turned[4][Radix];
    complex_number combined[4][Radix];
    for (std::ptrdiff_t j = 0; j < Radix; ++j) {
      for (std::ptrdiff_t i = 0; i < 4; ++i) {
        const complex_number root = roots->power(j * (row + i) * step);
        turned[i][j] = in[j * part + row + i] * root;
      }
    }
    for (std::ptrdiff_t i = 0; i < 4; ++i)
      small_transform<Radix, 1>(turned[i], combined[i], roots->base);
    for (int j = 0; j < Radix; ++j) {
      for (std::ptrdiff_t i = 0; i < 4; ++i)
        out[j * part + row + i] = combined[i][j];
    }
  }
}

inline void combine_rows(const complex_number* in, complex_number* out, const fft_roots* roots,
                         std::ptrdiff_t n, std::ptrdiff_t first, std::ptrdiff_t last) {
  const std::ptrdiff_t radix = fft_radix(n);
  const std::ptrdiff_t part = n / radix;
  switch (radix) {
  case 2:
    return combine_rows<2>(in, out, roots, part, first, last);
  case 4:
    return combine_rows<4>(in, out, roots, part, first, last);
  case 8:
    return combine_rows<8>(in, out, roots, part, first, last);
  case 16:
    return combine_rows<16>(in, out, roots, part, first, last);
  default:
    return combine_rows<fft_base>(in, out, roots, part, first, last);
  }
}

BENCH_TASK void fft_sort(const complex_number* in, complex_number* out, std::ptrdiff_t n,
                         std::ptrdiff_t first, std::ptrdiff_t last) {
  if (last - first <= fft_rows_min) {
    sort_rows(in, out, n, first, last);
    return;
  }
  const std::ptrdiff_t middle = first + (last - first) / 2;
  BENCH_SCOPE(s);
  BENCH_FORK_VOID(s, fft_sort, in, out, n, first, middle);
  fft_sort(in, out, n, middle, last);
  BENCH_JOIN(s);
}

BENCH_TASK void fft_combine(const complex_number* in, complex_number* out, const fft_roots* roots,
                            std::ptrdiff_t n, std::ptrdiff_t first, std::ptrdiff_t last) {
  if (last - first <= fft_rows_min) {
    combine_rows(in, out, roots, n, first, last);
    return;
  }
  const std::ptrdiff_t middle = first + (last - first) / 2;
  BENCH_SCOPE(s);
  BENCH_FORK_VOID(s, fft_combine, in, out, roots, n, first, middle);
  fft_combine(in, out, roots, n, middle, last);
  BENCH_JOIN(s);
}

// Puts the transform of `in` into `out`; what was in `in` is lost.
BENCH_TASK void fft(complex_number* in, complex_number* out, const fft_roots* roots,
                    std::ptrdiff_t n) {
  if (n == fft_base) {
    small_transform<fft_base, 1>(in, out, roots->base);
    return;
  }
  const std::ptrdiff_t part = n / fft_radix(n);
  fft_sort(in, out, n, 0, part);
  const std::ptrdiff_t of_last = n - part;
  BENCH_SCOPE(s);
  for (std::ptrdiff_t of_part = 0; of_part < of_last; of_part += part) {
    BENCH_FORK_VOID(s, fft, out + of_part, in + of_part, roots, part);
  }
  fft(out + of_last, in + of_last, roots, part);
  BENCH_JOIN(s);
  fft_combine(in, out, roots, n, 0, part);
}

class fft_problem {
public:
  static constexpr const char* name = "fft";

  explicit fft_problem(size chosen)
      : n_(std::ptrdiff_t{1} << (chosen == size::test    ? 12
                                 : chosen == size::quick ? 22
                                                         : 26)) {}
  fft_problem(size, long n) : n_(n) {
    if (n < n_min || n > n_max || !std::has_single_bit(static_cast<std::uint64_t>(n))) {
      throw std::invalid_argument("fft cannot transform " + std::to_string(n) +
                                  " elements; accepted are powers of two, --n " +
                                  std::to_string(n_min) + " to " + std::to_string(n_max));
    }
  }

  long n() const { return n_; }
  std::uint64_t forks() const { return forks(n_); }

  // One wave that dies away: z^t, where |z|^n = e^-16.
  void prepare() {
    const int bits = std::countr_zero(static_cast<std::uint64_t>(n_)) / 2;
    const std::ptrdiff_t fine = std::ptrdiff_t{1} << bits;
    fill_roots(&fine_, fine, 1);
    fill_roots(&coarse_, n_ / fine, fine);
    fill_roots(&base_, fft_base / 2, n_ / fft_base);
    roots_ = {coarse_.data(), fine_.data(), base_.data(), n_, bits};
    signal_.resize(static_cast<std::size_t>(n_));
    result_.resize(signal_.size());
    for (std::ptrdiff_t t = 0; t < n_; ++t) {
      const double size = std::exp(per_sample() * static_cast<double>(t));
      const complex_number turned = root(bin() * t % n_);
      signal_[static_cast<std::size_t>(t)] = {size * turned.re, -size * turned.im};
    }
  }

  void compute() { fft(signal_.data(), result_.data(), &roots_, n_); }

  // A geometric series: bin k holds (1 - z^n) / (1 - z w^k). The same holds for every part on the
  // way, so that no number is near zero: the least of them are the last of the signal, e^-16, and
  // none can be lost unseen. Neighbouring bins differ by pi / n of their modulus at least; the
  // tolerance is below a 20th of that for 2^26 elements.
  bool verify() const {
    const double damping = std::exp(per_sample());
    for (std::ptrdiff_t k = 0; k < n_; ++k) {
      // 1 - z w^k without cancellation.
      const double half =
          std::numbers::pi * static_cast<double>(bin() - k) / static_cast<double>(n_);
      const double re =
          2 * std::sin(half) * std::sin(half) - std::expm1(per_sample()) * std::cos(2 * half);
      const double im = -damping * std::sin(2 * half);
      const double scale = -std::expm1(-damping_of_all) / (re * re + im * im);
      const complex_number wanted{re * scale, -im * scale};
      const complex_number error = result_[static_cast<std::size_t>(k)] - wanted;
      if (!(std::hypot(error.re, error.im) <= 2e-9 * std::hypot(wanted.re, wanted.im)))
        return false;
    }
    return true;
  }

protected:
  static constexpr long n_min = long{1} << 12;
  static constexpr long n_max = long{1} << 26;
  static constexpr double damping_of_all = 16;

  std::ptrdiff_t bin() const { return n_ / 3; }
  double per_sample() const { return -damping_of_all / static_cast<double>(n_); }

  void fill_roots(std::vector<complex_number>* roots, std::ptrdiff_t count,
                  std::ptrdiff_t step) const {
    roots->resize(static_cast<std::size_t>(count));
    for (std::ptrdiff_t k = 0; k < count; ++k)
      (*roots)[static_cast<std::size_t>(k)] = root(k * step);
  }

  // exp(-2 pi i e / n), 0 <= e < n, to the last bit or nearly so: from an angle of pi / 4 at most.
  complex_number root(std::ptrdiff_t e) const {
    const std::ptrdiff_t quarters = (8 * e + n_) / (2 * n_); // to the nearest quarter turn
    const double angle = 2 * std::numbers::pi *
                         (static_cast<double>(4 * e - quarters * n_) / static_cast<double>(4 * n_));
    const double c = std::cos(angle);
    const double s = std::sin(angle);
    const complex_number turned[] = {{c, -s}, {-s, -c}, {-c, s}, {s, c}};
    return turned[quarters % 4];
  }

  static std::uint64_t forks(std::ptrdiff_t n) {
    if (n == fft_base)
      return 0;
    const std::ptrdiff_t radix = fft_radix(n);
    const std::ptrdiff_t part = n / radix;
    const auto per_pass =
        static_cast<std::uint64_t>(std::max<std::ptrdiff_t>(part / fft_rows_min, 1) - 1);
    return 2 * per_pass + static_cast<std::uint64_t>(radix - 1) +
           static_cast<std::uint64_t>(radix) * forks(part);
  }

  std::ptrdiff_t n_;
  std::vector<complex_number> coarse_;
  std::vector<complex_number> fine_;
  std::vector<complex_number> base_;
  fft_roots roots_{};
  std::vector<complex_number> signal_;
  std::vector<complex_number> result_;
};

} // namespace bench

// SPDX-License-Identifier: MIT
// Matrix programs about values that are in registers when a fork returns, perhaps on another
// thread.
#include "matrix.h"

#include <cstddef>
#include <cstdint>

namespace matrix {

namespace {

void run_integers(const char* name, int round) {
  long a = opaque(long{round});
  long b = opaque(a + 1);
  long c = opaque(b + 1);
  long d = opaque(c + 1);
  long e = opaque(d + 1);
  long f = opaque(e + 1);
  long g = opaque(f + 1);
  long h = opaque(g + 1);
  bool right = true;
  nopal::scope s;
  for (int i = 0; i < 6; ++i) {
    s.fork([] { fib(kBusy); });
    const long first = a;
    a = b, b = c, c = d, d = e, e = f, f = g, g = h, h = first;
    right = right && a + b + c + d + e + f + g + h == 8L * round + 28;
  }
  s.join();
  expect(right && a == round + 6 && h == round + 5, name, "a register has the wrong value");
}

void run_floating_point(const char* name, int round) {
  double a = opaque(double(round));
  double b = a + 0.5;
  float c = opaque(1.25F);
  float d = c + float(round);
  long double e = opaque(3.5L);
  double values[12];
  for (int i = 0; i < 12; ++i)
    values[i] = opaque(a + i);
  double v0 = values[0], v1 = values[1], v2 = values[2], v3 = values[3], v4 = values[4];
  double v5 = values[5], v6 = values[6], v7 = values[7], v8 = values[8], v9 = values[9];
  double x = 0;
  nopal::scope s;
  s.fork(x, [](double y) { return y + double(fib(kBusy)); }, a);
  v0 += b, v1 += b, v2 += b, v3 += b, v4 += b, v5 += b, v6 += b, v7 += b, v8 += b, v9 += b;
  s.fork([] {
    scribble();
    fib(kBusy);
  });
  const double sum = v0 + v1 + v2 + v3 + v4 + v5 + v6 + v7 + v8 + v9;
  e += c;
  s.join();
  const double r = round;
  expect(x == r + double(kBusyResult), name, "a child's result is wrong");
  expect(sum == 10 * r + 45 + 10 * b && b == r + 0.5, name, "a double has the wrong value");
  expect(d == 1.25F + float(round) && e == 4.75L, name, "a float or long double is wrong");
}

// Vectors wider than what the target has are lowered by the compiler: the same source everywhere.
template <class T, std::size_t Bytes> struct vector_of {
  typedef T type __attribute__((vector_size(Bytes)));
};

template <class T, std::size_t Bytes> void run_vectors(const char* name, int round) {
  using vector = typename vector_of<T, Bytes>::type;
  constexpr std::size_t lanes = Bytes / sizeof(T);
  vector a;
  vector b;
  vector c;
  for (std::size_t i = 0; i < lanes; ++i) {
    a[i] = opaque(T(round) + T(i));
    b[i] = opaque(T(i));
    c[i] = opaque(T(2));
  }
  vector sum = a + b;
  long x = 0;
  nopal::scope s;
  s.fork(x, fib, kBusy);
  vector product = a * c;
  sum += c;
  scribble();
  s.fork([] { fib(kBusy); });
  product += b;
  s.join();
  bool right = x == kBusyResult;
  for (std::size_t i = 0; i < lanes; ++i)
    right = right && sum[i] == T(round) + T(2 * i) + T(2) &&
            product[i] == T(2) * (T(round) + T(i)) + T(i);
  expect(right, name, "a vector register has the wrong value");
}

// Loops that compilers vectorise, before the fork, in the continuation, and after the join.
void run_loops(const char* name, int round) {
  constexpr int size = 512;
  alignas(64) float a[size];
  alignas(64) std::int32_t b[size];
  float c[size];
  const int count = opaque(size);
  for (int i = 0; i < count; ++i) {
    a[i] = float(i);
    b[i] = i ^ round;
  }
  long x = 0;
  nopal::scope s;
  s.fork(x, fib, kBusy);
  for (int i = 0; i < count; ++i)
    c[i] = a[i] * 2.0F + 1.0F;
  s.fork([&b, count] {
    for (int i = 0; i < count; ++i)
      b[i] = b[i] * 3 + 1;
  });
  float largest = 0;
  for (int i = 0; i < count; ++i)
    largest = c[i] > largest ? c[i] : largest;
  s.join();
  std::int32_t sum = 0;
  for (int i = 0; i < count; ++i)
    sum += b[i];
  std::int32_t want = 0;
  for (int i = 0; i < size; ++i)
    want += (i ^ round) * 3 + 1;
  expect(x == kBusyResult && sum == want && largest == 1023.0F, name, "a loop's result is wrong");
}

// A vector argument and a vector result in registers, around and in forks.
typedef float four_floats __attribute__((vector_size(16)));

[[gnu::noinline]] four_floats scaled(four_floats v, float by) {
  four_floats result = v * by;
  nopal::scope s;
  s.fork([&result] { result += 1.0F; });
  scribble();
  s.join();
  return result;
}

void run_vector_arguments(const char* name, int round) {
  const float r = opaque(float(round));
  four_floats x = {};
  nopal::scope s;
  s.fork(x, scaled, four_floats{r, 1, 2, 3}, 2.0F);
  const four_floats y = scaled(four_floats{4, 5, 6, r}, 3.0F);
  s.join();
  expect(x[0] == 2 * r + 1 && x[3] == 7 && y[0] == 13 && y[3] == 3 * r + 1, name,
         "a vector argument or result is wrong");
}

void run_wide_integers(const char* name, int round) {
  __extension__ typedef unsigned __int128 wide;
  const wide a = (wide{opaque(1UL)} << 100) + opaque(static_cast<unsigned long>(round));
  wide product = 0;
  nopal::scope s;
  s.fork(product, [](wide x) { return x * 3; }, a);
  const wide twice = a + a;
  scribble();
  s.join();
  expect(product == twice + a, name, "a 128-bit integer has the wrong value");
}

} // namespace

const program register_programs[] = {
    {"integers", run_integers},
    {"floating_point", run_floating_point},
    {"vectors_16", run_vectors<double, 16>},
    {"vectors_32", run_vectors<float, 32>},
    {"vectors_32_integers", run_vectors<std::int32_t, 32>},
    {"vectors_64", run_vectors<double, 64>},
    {"loops", run_loops},
    {"vector_arguments", run_vector_arguments},
    {"wide_integers", run_wide_integers},
    {nullptr, nullptr},
};

} // namespace matrix

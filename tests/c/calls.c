// SPDX-License-Identifier: MIT
// Every kind of call that a fork in C can make: arguments in registers and not, and each result.
#include "tests/c/check.h"

#include <fibril.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

// Forks itself, so that thieves have something to take.
static fibril int fib(int n) {
  if (n < 2)
    return n;
  int x, y;
  fibril_t fr;
  fibril_init(&fr);
  fibril_fork(&fr, x, fib, (n - 1));
  y = fib(n - 2);
  fibril_join(&fr);
  return x + y;
}

// Each result.
static void nothing(int* to, int a) { *to = fib(5) + a; }
static _Bool truth(int a) { return fib(5) + a > 10; }
static signed char i8(signed char a) { return (signed char)(fib(5) - 5 - a); }
static unsigned char u8(unsigned char a) { return (unsigned char)(a + 1); }
static short i16(short a) { return (short)(fib(5) - 5 - a); }
static unsigned short u16(unsigned short a) { return (unsigned short)(a + 1); }
static int i32(int a) { return fib(5) - 5 - a; }
static unsigned u32(unsigned a) { return a + 1; }
static long i64(long a) { return fib(5) - 5 - a; }
static unsigned long u64(unsigned long a) { return a + 1; }
static float real(float a) { return a + (float)fib(5); }
static double longer(double a) { return a + fib(5); }
static char* place(char* a, long by) { return a + by; }
enum color { red, green = -7 };
static enum color other(enum color a) { return a == red ? green : red; }

static void results(int r) {
  fibril_t fr;
  fibril_init(&fr);
  // What lies beside a result must stay.
  struct {
    signed char before, c, after;
    unsigned char b;
    short s, next;
    unsigned short t;
    int i, behind;
    unsigned u;
    float f, beside;
  } v;
  memset(&v, 0x55, sizeof v);
  int n;
  _Bool yes, no;
  long l;
  unsigned long m;
  double d;
  char text[4] = "abc";
  char* p;
  enum color c;
  volatile int shown;
  fibril_fork(&fr, nothing, (&n, r));
  fibril_fork(&fr, yes, truth, (6));
  fibril_fork(&fr, &no, truth, (5));
  fibril_fork(&fr, v.c, i8, (100));
  fibril_fork(&fr, &v.b, u8, (255));
  fibril_fork(&fr, v.s, i16, (32000));
  fibril_fork(&fr, &v.t, u16, (65535));
  fibril_fork(&fr, v.i, i32, (2000000000));
  fibril_fork(&fr, &v.u, u32, (0xffffffffu));
  fibril_fork(&fr, l, i64, (1L << 60));
  fibril_fork(&fr, &m, u64, (~0ul));
  fibril_fork(&fr, v.f, real, (1));
  fibril_fork(&fr, &d, longer, (1));
  fibril_fork(&fr, p, place, (text, 2));
  fibril_fork(&fr, &c, other, (red));
  fibril_fork(&fr, &shown, fib, (6));
  fibril_join(&fr);
  CHECK(n == 5 + r && yes == 1 && no == 0 && v.c == -100 && v.b == 0 && v.s == -32000);
  CHECK(v.t == 0 && v.i == -2000000000 && v.u == 0 && l == -(1L << 60) && m == 0);
  CHECK(v.f == 6 && d == 6 && p == text + 2 && c == green && shown == 8);
  CHECK(v.before == 0x55 && v.after == 0x55 && v.next == 0x5555 && v.behind == 0x55555555);
  float beside;
  memset(&beside, 0x55, sizeof beside);
  CHECK(v.beside == beside);
}

// Each number of arguments in registers, of different kinds.
static long none(void) { return fib(5); }
static long one(double a) { return (long)a; }
static long two(int a, float b) { return a * 10 + (long)b; }
static long three(const char* a, double b, short c) {
  return (a[1] - a[0]) * 100 + (long)b * 10 + c;
}
static long four(float a, long b, double c, unsigned char d) {
  return (long)a * 1000 + b * 100 + (long)c * 10 + d;
}
static long five(int a, int* b, int c, _Bool d, long e) {
  return a * 10000 + *b * 1000 + c * 100 + d * 10 + e;
}
static long six(int a, double b, long c, float d, char* e, short f) {
  return a * 100000 + (long)b * 10000 + c * 1000 + (long)d * 100 + *e * 10 + f;
}
static double six_reals(double a, float b, double c, double d, double e, float f) {
  return a - b + c - d + e - f;
}
__attribute__((const)) static int twice(int a) { return 2 * a; }
static int sum_of(int n, ...) {
  va_list list;
  va_start(list, n);
  double sum = 0;
  for (int i = 0; i < n; ++i)
    sum += va_arg(list, double);
  va_end(list);
  return (int)sum;
}

static void registers(void) {
  fibril_t fr;
  fibril_init(&fr);
  long v[7];
  double d;
  int two_of_21, sum, by_pointer, by_star, b = 2;
  char e = 5;
  int (*pointer)(int) = fib;
  fibril_fork(&fr, &v[0], none, ());
  fibril_fork(&fr, &v[1], one, (7));
  fibril_fork(&fr, &v[2], two, (1, 2));
  fibril_fork(&fr, &v[3], three, ("bc", 2, 3));
  fibril_fork(&fr, v + 4, four, (1, 2, 3, 4));
  fibril_fork(&fr, v[5], five, (1, &b, 3, 7, 5));
  fibril_fork(&fr, v[6], six, (1, 2, 3, 4, &e, 6));
  fibril_fork(&fr, &d, six_reals, (1, 2, 3.5, 4, 5, 6));
  fibril_fork(&fr, two_of_21, twice, (21));
  fibril_fork(&fr, sum, sum_of, (3, 1.0, 2.0, 3.5));
  fibril_fork(&fr, by_pointer, pointer, (10));
  fibril_fork(&fr, by_star, *pointer, (9));
  fibril_join(&fr);
  CHECK(v[0] == 5 && v[1] == 7 && v[2] == 12 && v[3] == 123 && v[4] == 1234 && v[5] == 12315);
  CHECK(v[6] == 123456 && d == -2.5 && two_of_21 == 42 && sum == 6);
  CHECK(by_pointer == 55 && by_star == 34);
}

// What does not fit registers.
struct large {
  long words[5];
};
struct small {
  int a, b;
};
static long sixteen(long double a, char b, int c, double d, float e, long f, const int* g, int h,
                    int i, double j, double k, double l, double m, double n, double o, double p) {
  return fib(5) + (long)a + b + c + (long)d + (long)e + f + *g + h + i +
         (long)(j + k + l + m + n + o + p);
}
static long nine(int a, int b, int c, int d, int e, int f, int g, int h, signed char i) {
  return a + b + c + d + e + f + g * 10 + h * 100 + i * 1000;
}
static double ten_reals(double a, double b, double c, double d, double e, double f, double g,
                        double h, double i, float j) {
  return a + b + c + d + e + f + g + h + i * 100 + j * 1000;
}
static long of_large(struct large a, int b) { return a.words[0] + a.words[4] * 10 + b * 100; }
static int of_small(struct small a, struct small b) {
  return a.a + a.b * 10 + b.a * 100 + b.b * 1000;
}
static float of_long(long double a) { return (float)a; }

static void blocks(void) {
  fibril_t fr;
  fibril_init(&fr);
  long a, b, d;
  double c;
  int e, seven = 7;
  float f;
  struct large large = {{1, 0, 0, 0, 5}};
  struct small x = {1, 2}, y = {3, 4};
  fibril_fork(&fr, a, sixteen, (1, 2, 3, 4, 5, 6, &seven, 8, 9, 10, 11, 12, 13, 14, 15, 16));
  for (int i = 0; i < 3; ++i) // no branch but those of the fork
    fibril_fork(&fr, &b, nine, (1, 2, 3, 4, 5, 6, 7, 8, -1));
  fibril_fork(&fr, c, ten_reals, (1, 2, 3, 4, 5, 6, 7, 8, 9, 10));
  fibril_fork(&fr, &d, of_large, (large, 3));
  fibril_fork(&fr, e, of_small, (x, y));
  fibril_fork(&fr, f, of_long, (2.5L));
  fibril_join(&fr);
  CHECK(a == 141 && b == -109 && c == 10936 && d == 351 && e == 4321 && f == 2.5f);
}

static int calls;
__attribute__((noinline)) static int eight(int a, int b, int c, int d, int e, int f, int g, int h) {
  __atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
  return a + b + c + d + e + f + g + h;
}

static int nine_of_i32(int a, int b, int c, int d, int e, int f, int g, int h, int i) {
  return fib(5) - 5 + a + b + c + d + e + f + g + h + i;
}

// Each result of a child that has arguments on the stack, and writes to its own copies of them.
#define SUM(type, name)                                                                            \
  static type name(int a, int b, int c, int d, int e, int f, int g, type h) {                      \
    const int sum = a + b + c + d + e + f;                                                         \
    g += fib(5);                                                                                   \
    h = (type)(h + (type)g);                                                                       \
    return (type)(h - (type)sum);                                                                  \
  }
SUM(signed char, sum_i8)
SUM(short, sum_i16)
SUM(int, sum_i32)
SUM(long, sum_i64)
SUM(float, sum_real)
SUM(double, sum_longer)
static void sum_nothing(long* to, int a, int b, int c, int d, int e, int f, int g) {
  *to = fib(5) + a + b + c + d + e + f + g;
}

// Forks with words on the stack, with none, and with other numbers of them, in one frame.
static void words(int n) {
  _Alignas(64) int v[8];
  fibril_t fr;
  fibril_init(&fr);
  for (int i = 0; i < 3; ++i) {
    struct {
      signed char before, c, after;
      short s, next;
      int i, behind;
      float f, beside;
    } to;
    memset(&to, 0x55, sizeof to);
    long l, sum, many;
    double d;
    struct large large = {{n, 0, 0, 0, i}};
    fibril_fork(&fr, to.c, sum_i8, (1, 2, 3, 4, 5, 6, 7, 20));
    fibril_fork(&fr, &to.s, sum_i16, (1, 2, 3, 4, 5, 6, 7, 30000));
    fibril_fork(&fr, v[i], i32, (i));
    fibril_fork(&fr, &to.i, sum_i32, (1, 2, 3, 4, 5, 6, 7, n));
    fibril_fork(&fr, l, sum_i64, (1, 2, 3, 4, 5, 6, 7, 1L << 60));
    fibril_fork(&fr, to.f, sum_real, (1, 2, 3, 4, 5, 6, 7, 0.5f));
    fibril_fork(&fr, &v[7], eight, (1, 2, 3, 4, 5, 6, 7, eight(1, 2, 3, 4, 5, 6, 7, n)));
    fibril_fork(&fr, d, sum_longer, (1, 2, 3, 4, 5, 6, 7, 0.25));
    fibril_fork(&fr, sum_nothing, (&sum, 1, 2, 3, 4, 5, 6, 7));
    fibril_fork(&fr, many, of_large, (large, n));
    if (i == 1)
      fibril_join(&fr);
    fibril_fork(&fr, &v[6], nine_of_i32, (1, 2, 3, 4, 5, 6, 7, 8, n));
    fibril_join(&fr);
    CHECK(to.c == 11 && to.s == 29991 && to.i == n - 9 && l == (1L << 60) - 9);
    CHECK(to.f == -8.5f && d == -8.75 && sum == 33 && many == n + i * 10 + n * 100);
    CHECK(to.before == 0x55 && to.after == 0x55 && to.next == 0x5555 && to.behind == 0x55555555);
    CHECK(v[i] == -i && v[7] == 56 + n && v[6] == 36 + n && (uintptr_t)v % 64 == 0);
  }
}

// Calls with arguments on the stack, before forks, between them, and as their arguments.
static void stacked(int n) {
  fibril_t fr;
  fibril_init(&fr);
  int v[8], sum = eight(1, 2, 3, 4, 5, 6, 7, n);
  for (int i = 0; i < 8; ++i) {
    fibril_fork(&fr, v[i], i32, (eight(1, 2, 3, 4, 5, 6, 7, i)));
    eight(1, 2, 3, 4, 5, 6, 7, n);
  }
  sum += eight(1, 2, 3, 4, 5, 6, 7, n);
  fibril_join(&fr);
  for (int i = 0; i < 8; ++i)
    CHECK(v[i] == -28 - i);
  CHECK(sum == 2 * (28 + n));
}

// The arguments of a child, which GCC would leave on the stack if it might.
static void eights(void) {
  fibril_t fr;
  fibril_init(&fr);
  int v[8];
  for (int i = 0; i < 8; ++i)
    fibril_fork(&fr, &v[i], eight, (1, 2, 3, 4, 5, 6, 7, i));
  fibril_join(&fr);
  for (int i = 0; i < 8; ++i)
    CHECK(v[i] == 28 + i);
}

// A frame whose locals are aligned for vector registers.
static void aligned(int n) {
  _Alignas(64) int v[16];
  fibril_t fr;
  fibril_init(&fr);
  for (int i = 0; i < 16; ++i)
    fibril_fork(&fr, &v[i], i32, (n + i));
  fibril_join(&fr);
  for (int i = 0; i < 16; ++i)
    CHECK(v[i] == -n - i);
  CHECK((uintptr_t)v % 64 == 0);
}

// The library's qsort calls a comparator that forks.
static int compare(const void* a, const void* b) {
  int x, y;
  fibril_t fr;
  fibril_init(&fr);
  fibril_fork(&fr, x, i32, (*(const int*)a));
  y = -*(const int*)b;
  fibril_join(&fr);
  return y < x ? -1 : y > x;
}

static void sorted(void) {
  int v[40];
  for (int i = 0; i < 40; ++i)
    v[i] = i * 27 % 40;
  qsort(v, 40, sizeof v[0], compare);
  for (int i = 0; i < 40; ++i)
    CHECK(v[i] == i);
}

// A frame that joins at the end of its block, and is used again.
static int framed(int n) {
  int x = 0, y = 0;
  {
    FIBRIL_FRAME(fr);
    fibril_fork(&fr, x, fib, (n));
    fibril_join(&fr);
    fibril_fork(&fr, y, fib, (n + 1));
  }
  return x + y;
}

static int all(int r) {
  results(r);
  registers();
  blocks();
  words(r);
  stacked(r);
  eights();
  aligned(r);
  sorted();
  CHECK(framed(8) == 55);
  return r;
}

int main(int argc, char** argv) {
  force_steals_if(argc, argv);
  CHECK(fibril_rt_init(3) == FIBRIL_SUCCESS);
  CHECK(fibril_rt_nprocs() == 3);
  for (int r = 0; r < 5; ++r) {
    fibril_t fr;
    fibril_init(&fr);
    int x;
    fibril_fork(&fr, &x, all, (r));
    all(r + 100);
    fibril_join(&fr);
    CHECK(x == r);
  }
  CHECK(fib(16) == 987);
  CHECK(fibril_rt_exit() == FIBRIL_SUCCESS);
  return 0;
}

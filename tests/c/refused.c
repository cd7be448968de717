// SPDX-License-Identifier: MIT
// Forks that the compiler refuses, each in a sentence; CASE says which is compiled.
#include <fibril.h>

typedef int vector __attribute__((vector_size(16)));
struct pair {
  long a, b;
};
int child(int n);
struct page {
  char bytes[5000];
};
struct line {
  _Alignas(64) char bytes[64];
};
struct pair pair(void);
void takes_page(struct page);
void takes_line(struct line);
long double longest(void);
void takes_vector(vector v);
int seventeen(int, int, int, int, int, int, int, int, int, int, int, int, int, int, int, int, int);

void forks(void) {
  fibril_t fr;
  fibril_init(&fr);
#if CASE == 0
  int x;
  fibril_fork(&fr, x, child, (1));
#elif CASE == 1
  long x;
  fibril_fork(&fr, x, child, (1));
#elif CASE == 2
  struct pair x;
  fibril_fork(&fr, x, pair, ());
#elif CASE == 3
  long double x;
  fibril_fork(&fr, &x, longest, ());
#elif CASE == 4
  const vector v = {1, 2, 3, 4};
  fibril_fork(&fr, takes_vector, (v));
#elif CASE == 5
  int x;
  fibril_fork(&fr, x, seventeen, (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17));
#elif CASE == 6
  static const struct page page;
  fibril_fork(&fr, takes_page, (page));
#elif CASE == 7
  static const struct line line;
  fibril_fork(&fr, takes_line, (line));
#endif
  fibril_join(&fr);
}

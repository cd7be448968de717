// SPDX-License-Identifier: MIT
// Counts the prime numbers below N: primes N
//
// In C. The numbers are sieved in segments, which a recursion forks. It stops where the time is up:
// primes N MILLISECONDS.
#include <nopal/nopal.h>

#include <stdio.h>
#include <stdlib.h>

enum { SEGMENT = 1 << 15 };

static long sieve(unsigned long begin, unsigned long end) {
  unsigned char composite[SEGMENT] = {0};
  long primes = 0;
  for (unsigned long p = 2; p * p < end; p += 1 + p % 2) { // 2, 3, 5, 7, 9, ...
    unsigned long q = (begin + p - 1) / p * p;
    for (q = q < p * p ? p * p : q; q < end; q += p)
      composite[q - begin] = 1;
  }
  for (unsigned long n = begin; n < end; ++n)
    primes += n >= 2 && !composite[n - begin];
  return primes;
}

static long count(unsigned long begin, unsigned long end) {
  if (end - begin <= SEGMENT)
    return sieve(begin, end);
  const unsigned long middle = begin + (end - begin) / 2;
  long low = 0;
  nopal_scope s;
  nopal_scope_begin(&s);
  nopal_fork(&s, low, count, (begin, middle)); // skipped where the time is up
  const long high = count(middle, end);
  nopal_join(&s);
  return low + high;
}

struct question {
  unsigned long n;
  long answer;
};
static int answer(void* context) {
  struct question* asked = context;
  asked->answer = count(0, asked->n);
  return 0;
}

static unsigned long number(const char* word, unsigned long most) {
  char* end;
  const unsigned long n = strtoul(word, &end, 10);
  if (*word < '0' || *word > '9' || *end != '\0' || n > most) {
    fprintf(stderr, "primes: '%s' is not accepted: a number up to %lu is\n", word, most);
    exit(2);
  }
  return n;
}

int main(int words, char** word) {
  if (words < 2 || words > 3) {
    fprintf(stderr, "usage: primes N [MILLISECONDS]\n");
    return 2;
  }
  struct question asked = {number(word[1], 1UL << 32), 0};
  const int64_t timeout = words == 3 ? (int64_t)number(word[2], 1000000) * 1000000 : -1;
  if (nopal_call_cancelable(NULL, timeout, answer, &asked) != NOPAL_OK) {
    fprintf(stderr, "primes: %s\n", nopal_message());
    return 1;
  }
  printf("%ld\n", asked.answer);
  return 0;
}

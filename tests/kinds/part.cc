// SPDX-License-Identifier: MIT
// The same calls, compiled twice: as the function PART, with forks and as the serial elision.
#include "outcome.h"

#include <nopal/affine.h>
#include <nopal/blocking.h>
#include <nopal/loop.h>
#include <nopal/mutex.h>
#include <nopal/runtime.h>

#include <functional>
#include <mutex>

// Types that both files share, so that their instantiations would have one name.
struct in_order_map {
  long* next;
  bool* in_order;
  long operator()(long i) const {
    if (i != *next)
      *in_order = false;
    *next = i + 1;
    return i;
  }
};
struct identity_map {
  long operator()(long i) const { return i; }
};

outcome PART() {
  outcome result{nopal::num_workers(), true, 0};
  nopal::mutex all;
  {
    const std::lock_guard guard{all};
    const auto [low, high] = nopal::invoke(
        [] { return nopal::reduce(0L, 500L, 0L, std::plus<>{}, identity_map{}, 10); },
        [] { return nopal::reduce(500L, 1000L, 0L, std::plus<>{}, identity_map{}, 10); });
    result.sum = nopal::affine([&] { return nopal::blocking([&] { return low + high; }); });
  }
#if defined(NOPAL_SERIAL)
  long next = 0;
  static_cast<void>(
      nopal::reduce(0L, 1000L, 0L, std::plus<>{}, in_order_map{&next, &result.in_order}, 10));
#endif
  nopal::scope s;
  s.fork([](long& sum) { sum += 0; }, std::ref(result.sum));
  s.join();
  return result;
}

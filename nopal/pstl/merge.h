// SPDX-License-Identifier: MIT
// The standard's merges, by the parts of algorithms/merge.h.
#pragma once

#include "nopal/algorithms/merge.h"
#include "nopal/config.h"
#include "nopal/pstl/apart.h"
#include "nopal/pstl/loops.h"
#include "nopal/pstl/sort.h"

#include <cstddef>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::pstl {

template <class X, class Y, class Out> class merge_ref {
public:
  using low = algorithms::sequence<X>;
  using high = algorithms::sequence<Y>;

  template <class F>
  explicit merge_ref(const F& f) noexcept
      : f_{&f}, call_{[](const void* at, low x, high y, Out out) {
          (*static_cast<const F*>(at))(x, y, out);
        }} {}
  void operator()(low x, high y, Out out) const { call_(f_, x, y, out); }

private:
  const void* f_;
  void (*call_)(const void* f, low x, high y, Out out);
};

// leaf(x, x_last, y, y_last, out, before) merges a part, and may destroy what it has read.
template <class X, class Y, class Out, class Compare, class Leaf>
void merge(X x, X x_last, Y y, Y y_last, Out out, const Compare& before, const Leaf& leaf) {
  constexpr std::size_t few = 2000;
  const algorithms::sequence<X> low{x, length_of(x, x_last)};
  const algorithms::sequence<Y> high{y, length_of(y, y_last)};
  if (low.count + high.count <= few || workers() == 1) {
    leaf(x, x_last, y, y_last, out, before);
    return;
  }
  const auto part = [&](algorithms::sequence<X> a, algorithms::sequence<Y> b, Out to) {
    leaf(a.begin, at(a.begin, a.count), b.begin, at(b.begin, b.count), to, before);
  };
  apart([&] {
    algorithms::merge_by_parts<algorithms::copying>(
        low, high, out, called_as_const<Compare>{before}, merge_ref<X, Y, Out>{part});
  });
}

} // namespace nopal::inline NOPAL_ABI::pstl
NOPAL_HIDDEN_END

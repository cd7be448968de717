// SPDX-License-Identifier: MIT
// The parallel algorithms of libstdc++ on Nopal: what the headers of its folder pstl ask of a
// backend. The one among them that chooses a backend is left out, by the name that guards it.
//
// Included by the header <execution> in nopal/pstl/include, before the library's own, which is the
// first of its headers that includes a backend. Reserved names are those that the library calls.
//
// GCC 11 to 13 have version 12000 of these headers, GCC 14 has 17000, which says in a first
// argument which backend is meant.
#pragma once

#include "nopal/algorithms/memory.h"
#include "nopal/config.h"
#include "nopal/pstl/apart.h"
#include "nopal/pstl/loops.h"
#include "nopal/pstl/merge.h"
#include "nopal/pstl/order.h"
#include "nopal/pstl/scan.h"
#include "nopal/pstl/sort.h"

#include <cstddef>
#include <utility>

#if !defined(_GLIBCXX_RELEASE)
#error "nopal: std::execution::par on Nopal needs the standard library of GCC (libstdc++)"
#elif _GLIBCXX_RELEASE < 11 || _GLIBCXX_RELEASE > 14
#error "nopal: std::execution::par on Nopal knows the libstdc++ of GCC 11 to 14, and no other one"
#elif defined(_PSTL_PARALLEL_BACKEND_H)
#error "nopal: another parallel backend was included; nopal/pstl/include has to come first"
#endif
#define _PSTL_PARALLEL_BACKEND_H

#if _PSTL_VERSION < 17000
#define NOPAL_PSTL_TAG
#else
#define NOPAL_PSTL_TAG ::nopal::pstl::any_tag,
#endif

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::pstl {
struct any_tag {
  template <class Tag> constexpr any_tag(Tag) noexcept {}
};
} // namespace nopal::inline NOPAL_ABI::pstl

namespace __pstl::__nopal_backend {

namespace pstl = ::nopal::pstl;

template <class T> class __buffer {
public:
  explicit __buffer(std::size_t n) : memory_(n) {}
  explicit operator bool() const noexcept { return true; } // else it has thrown std::bad_alloc
  T* get() const noexcept { return memory_.get(); }

private:
  ::nopal::algorithms::memory<T> memory_;
};

// A hint that the rest of a loop need not run. Each body that calls it looks itself at what the
// algorithm has found, before it does anything, and a loop has few bodies (for_range.h).
inline void __cancel_execution() noexcept {}

template <class Policy, class Index, class Body>
void __parallel_for(NOPAL_PSTL_TAG Policy&&, Index first, Index last, Body body) {
  pstl::for_pieces(first, last, body);
}

template <class Policy, class T, class Index, class Body, class Combine>
T __parallel_reduce(NOPAL_PSTL_TAG Policy&&, Index first, Index last, const T& identity,
                    const Body& body, const Combine& combine) {
  return pstl::reduce(first, last, identity, body, combine);
}

template <class Policy, class Index, class Map, class T, class Combine, class Body>
T __parallel_transform_reduce(NOPAL_PSTL_TAG Policy&&, Index first, Index last, Map map, T init,
                              Combine combine, Body body) {
  return pstl::transform_reduce(first, last, map, std::move(init), combine, body);
}

template <class Policy, class Index, class T, class Sum, class Combine, class Scan, class Total>
void __parallel_strict_scan(NOPAL_PSTL_TAG Policy&&, Index n, T init, Sum sum, Combine combine,
                            Scan scan, Total total) {
  pstl::strict_scan(n, init, sum, combine, scan, total);
}

template <class Policy, class Index, class Map, class T, class Combine, class Sum, class Scan>
T __parallel_transform_scan(NOPAL_PSTL_TAG Policy&&, Index n, Map map, T init, Combine combine,
                            Sum sum, Scan scan) {
  return pstl::transform_scan(n, map, std::move(init), combine, sum, scan);
}

template <class Policy, class It, class Compare, class LeafSort>
void __parallel_stable_sort(NOPAL_PSTL_TAG Policy&&, It first, It last, Compare before,
                            LeafSort sort_leaf, std::size_t wanted = 0) {
  pstl::sort(first, last, before, sort_leaf, wanted);
}

template <class Policy, class X, class Y, class Out, class Compare, class LeafMerge>
void __parallel_merge(NOPAL_PSTL_TAG Policy&&, X x, X x_last, Y y, Y y_last, Out out,
                      Compare before, LeafMerge merge_leaf) {
  pstl::merge(x, x_last, y, y_last, out, before, merge_leaf);
}

template <class Policy, class F, class G>
void __parallel_invoke(NOPAL_PSTL_TAG Policy&&, F&& f, G&& g) {
  pstl::apart(
      [&] { pstl::invoke_both([&] { std::forward<F>(f)(); }, [&] { std::forward<G>(g)(); }); });
}

} // namespace __pstl::__nopal_backend
NOPAL_HIDDEN_END

namespace __pstl {
namespace __par_backend = __nopal_backend;
} // namespace __pstl

#undef NOPAL_PSTL_TAG

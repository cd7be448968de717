// SPDX-License-Identifier: MIT
// How an algorithm of the standard library runs on Nopal's threads: as a call. The program knows
// nothing of Nopal, so the algorithm returns on the thread that called it, meanwhile that thread
// runs nothing else, and a strand that is to stop completes it, since no exception may leave it.
#pragma once

#include "nopal/affine.h"
#include "nopal/cancel.h"
#include "nopal/config.h"

#include <optional>
#include <type_traits>
#include <utility>

#if !defined(NOPAL_SERIAL)
#include "nopal/join/cancelled.h"
#include "nopal/vproc/worker.h"
#endif

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::pstl {

template <class F> void call_apart(const F& f) {
#if defined(NOPAL_SERIAL)
  f();
#else
  if (!vproc::on_strand()) {
    nopal::affine(f);
    return;
  }
  bool complete = false;
  try {
    nopal::affine([&] {
      nopal::shielded(f);
      complete = true;
    });
  } catch (const cancelled& caught) { // thrown by the region's join, where the caller is to stop
    if (!complete)
      throw;
    caught.note_kept();
  }
#endif
}

// Returns what f returns, and throws what f throws.
template <class F> std::invoke_result_t<const F&> apart(const F& f) {
  using result = std::invoke_result_t<const F&>;
  if constexpr (std::is_void_v<result>) {
    call_apart(f);
  } else {
    std::optional<result> returned;
    call_apart([&] { returned.emplace(f()); });
    return *std::move(returned);
  }
}

} // namespace nopal::inline NOPAL_ABI::pstl
NOPAL_HIDDEN_END

// SPDX-License-Identifier: MIT
// How an algorithm of the standard library runs on Nopal's threads: as a call. The program knows
// nothing of Nopal, so the algorithm returns on the thread that called it, meanwhile that thread
// runs nothing else, and a strand that is to stop completes it, since no exception may leave it.
//
// Functions reach Nopal's templates by reference, without their types: the names of closures of
// libstdc++ contain each other, and become megabytes in each name of a fork.
#pragma once

#include "nopal/affine.h"
#include "nopal/cancel.h"
#include "nopal/config.h"
#include "nopal/invoke.h"

#include <optional>
#include <type_traits>
#include <utility>

#if !defined(NOPAL_SERIAL)
#include "nopal/join/cancelled.h"
#include "nopal/sched/affine_call.h"
#include "nopal/vproc/worker.h"
#endif

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::pstl {

class call_ref {
public:
  template <class F>
  explicit call_ref(const F& f) noexcept
      : f_{&f}, call_{[](const void* at) { (*static_cast<const F*>(at))(); }} {}
  void operator()() const { call_(f_); }

private:
  const void* f_;
  void (*call_)(const void* f);
};

inline void call_both(call_ref first, call_ref second) { nopal::invoke(first, second); }
// Calls both, and at the same time where a thief comes.
template <class F, class G> void invoke_both(const F& first, const G& second) {
  call_both(call_ref{first}, call_ref{second});
}

#if !defined(NOPAL_SERIAL)
// Calls f by `region`, which is given a body. A strand that is to stop completes it.
template <class Region> void complete_in(const Region& region, call_ref f) {
  bool complete = false;
  try {
    region([&] {
      nopal::shielded(f);
      complete = true;
    });
  } catch (const cancelled& caught) { // thrown by the region's join, where the caller is to stop
    if (!complete)
      throw;
    caught.note_kept();
  }
}
#endif

inline void call_apart(call_ref f) {
#if !defined(NOPAL_SERIAL)
  if (vproc::on_strand())
    return complete_in([](const auto& body) { nopal::affine(body); }, f);
  nopal::affine(f);
#else
  f();
#endif
}

// How a loop runs apart. Outside of strands it forks once, and returns on its thread.
struct loop_apart {
  template <class F> void operator()(const F& rest) const { call_apart(call_ref{rest}); }

#if !defined(NOPAL_SERIAL)
  // What forks nothing needs no group, unless a body in it forks, and a thief comes. Not called
  // where that cannot be told.
  template <class F> void unshared(const F& begin) const {
    if (!sched::affine_call::possible())
      return;
    complete_in(
        [](const auto& body) {
          sched::affine_call call;
          try {
            body();
          } catch (...) {
            call.end();
            throw;
          }
          call.end();
        },
        call_ref{begin});
  }
#endif
};

// Returns what f returns, and throws what f throws.
template <class F> std::invoke_result_t<const F&> apart(const F& f) {
  using result = std::invoke_result_t<const F&>;
  if constexpr (std::is_void_v<result>) {
    call_apart(call_ref{f});
  } else {
    std::optional<result> returned;
    const auto keep = [&] { returned.emplace(f()); };
    call_apart(call_ref{keep});
    return *std::move(returned);
  }
}

} // namespace nopal::inline NOPAL_ABI::pstl
NOPAL_HIDDEN_END

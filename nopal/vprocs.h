// SPDX-License-Identifier: MIT
// Places: on which of the threads that run strands, the vprocs, a fiber runs.
//
//     nopal::run([&] {
//       for (nopal::place at : nopal::places())
//         nopal::spawn_pinned(at, [&] { serve(at); });   // one fiber on each vproc
//     });
//
// Most programs need no places: a vproc without work takes what another one keeps. Schedulers do
// (manticore-icfp08, section 3), and so do fibers that belong to a device, or a cache.
//
// Thread rules: in a strand of nopal::run, or of what it forks; a place is valid within the
// outermost `run` or affine region in which it was asked for. Elsewhere each ends the program with
// a sentence, or returns an empty place.
#pragma once

#include "nopal/config.h"
#include "nopal/fiber.h"
#include "nopal/fibers/fibers.h"
#include "nopal/fibers/places.h"
#include "nopal/sched/given.h"
#include "nopal/vproc/ready.h"

#include <cstdint>
#include <utility>
#include <vector>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI {

namespace detail {
struct place_access;
}

/// A vproc, or none.
/// @pre It is used within the outermost `run` or affine region in which it was asked for.
class NOPAL_TYPE place {
public:
  place() noexcept = default; // none

  explicit operator bool() const noexcept { return at_ != nullptr; }
  bool operator==(const place&) const noexcept = default;

private:
  friend detail::place_access;
  explicit place(vproc::vproc* at) noexcept : at_{at} {}

  vproc::vproc* at_ = nullptr;
};

namespace detail {

// For the functions below.
struct place_access {
  static place make(vproc::vproc* at) noexcept { return place{at}; }
  static vproc::vproc* vproc_at(place named) noexcept { return named.at_; }
};

} // namespace detail

/// The vproc that the caller runs on now; after the next fork, join or wait it may run on another.
[[nodiscard]] inline place host() noexcept { return detail::place_access::make(fibers::host()); }

/// All vprocs that may run the caller's fibers: the pool's, and the one whose thread waits for
/// them.
[[nodiscard]] inline std::vector<place> places() {
  std::vector<place> all;
  for (std::uint32_t i = 0; i < fibers::places(); ++i)
    all.push_back(detail::place_access::make(fibers::place_at(i)));
  return all;
}

/// The fiber may run, at this place only, before what that vproc keeps ready.
inline void enqueue_on(place at, fiber ready) noexcept {
  vproc::enqueue_on(detail::place_access::vproc_at(at), detail::fiber_access::take(ready));
}

/// The caller goes on at this place. It may leave it again as usual.
/// @throws cancelled if the strand is cancelled.
inline void migrate_to(place at) { fibers::migrate_to(detail::place_access::vproc_at(at)); }

/// A fiber that begins at this place, and goes on there whenever it has waited or given way. What
/// it forks may be stolen by others; an affine region within it stays.
template <class F>
  requires spawnable<F>
[[nodiscard]] fiber make_pinned(place at, F&& f) {
  auto* const made = new detail::spawned_function<std::decay_t<F>>(std::forward<F>(f));
  fibers::join_computation(made);
  NOPAL_IF_CHECKED(sched::check_given(sched::given_to::fiber, made->f));
  fibers::pin(made, detail::place_access::vproc_at(at));
  return detail::fiber_access::make(made);
}
/// Begins such a fiber.
template <class F>
  requires spawnable<F>
void spawn_pinned(place at, F&& f) {
  make_pinned(at, std::forward<F>(f)).start();
}

/// A place that the caller's computation has not been given yet, and of these the one that the
/// fewest computations have been given; an empty one: it has been given all. It says where to run
/// what, and keeps nobody away. Given back by `release`, or when the computation ends.
[[nodiscard]] inline place provision() noexcept {
  return detail::place_access::make(fibers::provision());
}
/// Gives back a place that `provision` has returned.
inline void release(place given) noexcept {
  fibers::release(detail::place_access::vproc_at(given));
}

} // namespace nopal::inline NOPAL_ABI
NOPAL_HIDDEN_END

// SPDX-License-Identifier: MIT
// Check builds, where workers are processes: whether what a strand is given leads to frames that it
// sees (stack/view.h). A pointer into the frame of a strand that is no ancestor shows something
// else in its process.
//
// Judged are pointers and closures of a few words, less their padding: the program has set all of
// that. Padding and large buffers may hold addresses that earlier frames have left there. An
// address at which an ancestor has a frame, too, cannot be told from that one's.
#pragma once

#include "nopal/config.h"

#include <cstddef>
#include <cstring>
#include <type_traits>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::sched {

enum class given_to : bool { strand, fiber }; // the calling strand, or a fiber that it spawns

// Ends the program if one of the words leads to no frame that the receiver sees.
void check_words(const void* words, std::size_t bytes, given_to whom) noexcept;

template <class T>
concept small_class = std::is_class_v<T> && !std::is_volatile_v<T> && sizeof(T) <= 40 &&
                      sizeof(T) % sizeof(void*) == 0;

template <class T> void check_one(given_to whom, const T& given) noexcept {
  if constexpr (std::is_pointer_v<T>) {
    check_words(__builtin_addressof(given), sizeof given, whom);
  } else if constexpr (!small_class<T>) {
    return;
  } else if constexpr (__is_trivially_copyable(T)) { // GCC 12 may answer the trait too early
    alignas(T) std::byte copy[sizeof(T)];
    std::memcpy(copy, __builtin_addressof(given), sizeof copy);
    T* const closure = reinterpret_cast<T*>(copy);
    if constexpr (requires { __builtin_clear_padding(closure); }) // GCC
      __builtin_clear_padding(closure);
    else if constexpr (!std::has_unique_object_representations_v<T>)
      return;
    check_words(copy, sizeof copy, whom);
  }
}
template <class... Given> void check_given(given_to whom, const Given&... given) noexcept {
  (check_one(whom, given), ...);
}

} // namespace nopal::inline NOPAL_ABI::sched
NOPAL_HIDDEN_END

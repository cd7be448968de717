// SPDX-License-Identifier: MIT
// Orders strands by what they meet at, where ThreadSanitizer does not see the lock there.
#pragma once

#include "nopal/base/sanitizer.h"
#include "nopal/config.h"

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::fibers {

// Around what a strand does under the lock of `at`. ThreadSanitizer does not see that lock where
// the library is not instrumented, nor where strands that wait were enqueued by the scheduler, of
// which nothing is seen (base/races.h).
class ordered_strands {
public:
  explicit ordered_strands(const void* at) noexcept : at_{at} {
    if (unseen())
      base::happens_after(at_);
  }
  ~ordered_strands() {
    if (unseen())
      base::happens_before(at_);
  }
  ordered_strands(const ordered_strands&) = delete;
  ordered_strands& operator=(const ordered_strands&) = delete;

private:
  static bool unseen() noexcept {
#if defined(NOPAL_TSAN)
    return base::strands_apart;
#else
    return true;
#endif
  }
  const void* const at_;
};

} // namespace nopal::inline NOPAL_ABI::fibers
NOPAL_HIDDEN_END

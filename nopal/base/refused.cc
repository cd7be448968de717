// SPDX-License-Identifier: MIT
//
// What the linked program shows of how it was compiled.
#include "nopal/base/refused.h"

extern "C" [[gnu::weak]] void __morestack(void); // linked in for split stacks only

namespace nopal::base {

bool splits_stacks() noexcept { return __morestack != nullptr; }

} // namespace nopal::base

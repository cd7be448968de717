// SPDX-License-Identifier: MIT
// Programs whose strands reach frames of their cousins: through a list that is not ours, as the
// callbacks of a stop token are, or where they submit work. The linker takes this file from the
// library if the program may call `need_plain_stacks`, or is linked with -u nopal_plain_stacks. Then
// no stack lies in a view.
#include "nopal/stack/view.h"

NOPAL_HIDDEN_BEGIN
extern "C" {
extern const char nopal_plain_stacks;
const char nopal_plain_stacks = 1;
}
NOPAL_HIDDEN_END

namespace nopal::stack::view {

void need_plain_stacks() noexcept {}

} // namespace nopal::stack::view

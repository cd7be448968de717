// SPDX-License-Identifier: MIT
// The number of meters that exist.
#include "nopal/vproc/meter.h"

namespace nopal::inline NOPAL_ABI::vproc {

base::count meter::alive;

meter::meter() noexcept { alive.add(); }
meter::~meter() { alive.subtract(); }

} // namespace nopal::inline NOPAL_ABI::vproc

// SPDX-License-Identifier: MIT
// The number of meters that exist.
#include "nopal/vproc/meter.h"

#include "nopal/base/count.h"

namespace nopal::inline NOPAL_ABI::vproc {
namespace {

base::count meters;

} // namespace

meter::meter() noexcept { meters.add(); }
meter::~meter() { meters.subtract(); }
bool meter::any() noexcept { return meters.any(); }

} // namespace nopal::inline NOPAL_ABI::vproc

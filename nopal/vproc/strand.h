// SPDX-License-Identifier: MIT
// Moves a strand's state (join/strand_state.h) between its thread and the strand's record.
#pragma once

#include "nopal/config.h"
#include "nopal/join/strand_state.h"
#include "nopal/vproc/worker.h"

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::vproc {

// The strand that this worker runs stops. Its thread has no live exception after that.
join::strand_state take_strand_state(const worker* self) noexcept;
// A strand goes on with this worker. If `own_control` is false, it computes as its group does.
void put_strand_state(worker* self, const join::strand_state& state, bool own_control) noexcept;
// Where the calling strand has what it has added to reducers (join/partials.h), or the thread, if
// it runs no strand.
join::partials*& own_partials() noexcept;
join::partials*& partials_of_thread() noexcept;
// The calling strand has ended a function that somebody may wait for who does not join the strand:
// what it has added to reducers is theirs.
void deliver_partials() noexcept;
// The part of that which a stolen continuation needs: its exceptions and errno come another way.
void put_control(worker* self, const arch::control_words& control, bool own_control) noexcept;

} // namespace nopal::inline NOPAL_ABI::vproc
NOPAL_HIDDEN_END

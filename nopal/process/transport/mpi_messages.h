// SPDX-License-Identifier: MIT
// The engine between machines where MPI alone carries the data: messages, which a thread of the
// other process answers.
//
// The thread polls, since MPI cannot say when something arrives: at once after a message, then
// less and less often, down to once a millisecond. The thread that runs tasks answers too while it
// waits for an answer or for work. One of the two calls MPI at a time (MPI_THREAD_SERIALIZED):
// under the lock, in calls that return at once.
//
// Orders: those of direct.h, by which the answering process executes what was asked. The asking one
// waits for each answer.
#pragma once

#include "nopal/config.h"
#include "nopal/process/transport/layout.h"
#include "nopal/process/transport/transport.h"

#include <functional>
#include <memory>
#include <mutex>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::process {

// A thread holds it while it calls MPI, as long as the thread that answers may call MPI too.
std::mutex& mpi_lock() noexcept;
// Asks under the lock whether something is done, until it is. The lock is free in between.
void wait_for(const std::function<bool()>& is_done);

// Collective. The block is mapped.
std::unique_ptr<far_transport> connect_by_mpi_messages(const layout& memory);

} // namespace nopal::inline NOPAL_ABI::process
NOPAL_HIDDEN_END

// SPDX-License-Identifier: MIT
// What processes of several machines ask of each other where MPI alone carries the data: messages,
// which a thread of the other process answers.
//
// MPI has one-sided operations too. But those would have to be atomic to the owner's instructions
// (queue.h), which MPI promises nowhere; a thread of the owner's process has such instructions.
//
// That thread polls, since MPI cannot say when something arrives: at once after a message, then
// less and less often, down to once a millisecond. The thread that runs tasks answers too while it
// waits for an answer or for work. One of them calls MPI at a time (MPI_THREAD_SERIALIZED): under
// the lock, in calls that return at once.
//
// Orders: those of direct.h, which executes here what was asked there. A process answers what
// another one asks in the order in which it was asked.
#pragma once

#include "nopal/config.h"
#include "nopal/process/transport/transport.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::process {

// Held by who calls MPI while the thread that answers may call it.
std::mutex& mpi_lock() noexcept;
// Asks under the lock whether something is done, until it is. The lock is free in between.
void wait_for(const std::function<bool()>& is_done);

// Collective. A task's frames, which a message may hold, have at most so many bytes.
std::unique_ptr<transport> connect_by_mpi_messages(std::size_t most_frames);

} // namespace nopal::inline NOPAL_ABI::process
NOPAL_HIDDEN_END

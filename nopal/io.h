// SPDX-License-Identifier: MIT
// Waiting for descriptors: sockets, pipes, terminals and what else the system can wait for.
//
//     nopal::run([&] {
//       nopal::io::descriptor server = nopal::io::listen(nopal::io::address::loopback(7000));
//       for (;;)
//         nopal::spawn([peer = nopal::io::accept(server)]() mutable {
//           char line[512];
//           while (const std::size_t got = nopal::io::read_some(peer, line))
//             nopal::io::write_all(peer, {line, got});
//         });
//     });
//
// A strand that waits is taken from its thread, which runs another one: so a waiting connection
// costs a fiber, and no thread. A thread without work watches for the system's events.
//
// Each call takes a time of the steady clock until which it waits, by default for ever; after that
// it throws std::system_error (ETIMEDOUT), or returns false. What fails throws std::system_error. A
// strand that is cancelled while it waits throws nopal::cancelled (cancel.h).
//
// A descriptor may be closed while others use it: they throw std::system_error (EBADF), and no call
// meets a descriptor that gets the number next. In a child of fork() each descriptor is the child's
// copy, which it may use and close.
#pragma once

#include "nopal/config.h"

#if defined(NOPAL_SERIAL)
#error "nopal/io.h: strands that wait run beside one another, so they have no serial elision"
#endif

#include "nopal/io/descriptor.h"
#include "nopal/io/sockets.h"
#include "nopal/io/stream.h"
#include "nopal/io/waits.h"

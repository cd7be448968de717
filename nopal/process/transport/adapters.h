// SPDX-License-Identifier: MIT
// Whether the network's adapters access memory by themselves, so that UCX can be used between
// machines.
//
// Over TCP it is not: whoever reaches UCX's port writes to any address of the process, whatever the
// features of UCX's context are, or makes UCX end the process. A context for one-sided operations
// moreover obeys UCX's emulated ones, which ask for no key, from whoever can connect to its
// adapters. So UCX is begun with adapters alone, and never with a list of transports that may bring
// TCP.
#pragma once

#include "nopal/config.h"

#include <string_view>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::process {

class group;

// The variable by which users choose UCX's transports.
inline constexpr const char* chosen_transports = "NOPAL_UCX_TLS";

// Whether UCX's list of transports can bring TCP: it names it or `all`, or what it leaves out, or
// has a pattern in it.
bool may_have_tcp(std::string_view transports);

// Collective: the same in all processes. True if each of them has an adapter that is connected, or
// if users have chosen transports without TCP.
bool all_access_memory(group& all);

} // namespace nopal::inline NOPAL_ABI::process
NOPAL_HIDDEN_END

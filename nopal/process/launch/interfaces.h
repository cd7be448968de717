// SPDX-License-Identifier: MIT
// By which addresses of this machine the processes of others reach it.
//
// The option NOPAL_INTERFACES chooses: names of interfaces and IPv4 networks, as eth1,10.0.0.0/8.
// Without it these are the addresses that have an address of each other machine in their own
// network; where there are none, all. Loopback leads to no other machine, and is never among them.
#pragma once

#include "nopal/config.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::process {

// An IPv4 address of an interface that is up. The numbers are as the network has them.
struct own_address {
  std::uint32_t address = 0;
  std::uint32_t mask = 0; // of the network that the interface leads to
  std::array<char, 16> interface{};

  bool is_near(std::uint32_t other) const noexcept {
    return other != address && ((other ^ address) & mask) == 0;
  }
};

// Whether the text is a list that NOPAL_INTERFACES may be.
bool is_list_of_interfaces(std::string_view text) noexcept;

// The addresses of this machine that the list names, or all if it is empty; at most so many.
inline constexpr std::size_t most_addresses = 32;
// Ends the program with a sentence that says which there are, if one in the list is none of them.
std::vector<own_address> find_addresses(const std::string& list);

// The choice without a list. Each element of `others` has the addresses of another machine.
std::vector<own_address> choose_addresses(const std::vector<own_address>& own,
                                          const std::vector<std::vector<std::uint32_t>>& others);

// "eth0 (10.0.0.1), eth1 (10.0.1.1)"
std::string names_of(std::span<const own_address> all);

} // namespace nopal::inline NOPAL_ABI::process
NOPAL_HIDDEN_END

// SPDX-License-Identifier: MIT
// The list's grammar, and the system's addresses.
#include "nopal/process/launch/interfaces.h"

#include "nopal/base/die.h"

#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <cstring>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <optional>
#include <sys/socket.h>

namespace nopal::inline NOPAL_ABI::process {
namespace {

struct network {
  std::uint32_t address;
  std::uint32_t mask;
};

// "10.0.0.0/8", or "10.0.0.1", which is a network of one address.
std::optional<network> parse_network(std::string_view text) noexcept {
  const std::size_t slash = text.find('/');
  unsigned bits = 32;
  if (slash != std::string_view::npos) {
    const std::string_view number = text.substr(slash + 1);
    if (number.empty() || number.size() > 2 ||
        number.find_first_not_of("0123456789") != std::string_view::npos)
      return std::nullopt;
    bits = 0;
    for (const char digit : number)
      bits = bits * 10 + static_cast<unsigned>(digit - '0');
  }
  in_addr found{};
  const std::string address{text.substr(0, slash)};
  if (bits > 32 || inet_pton(AF_INET, address.c_str(), &found) != 1)
    return std::nullopt;
  return network{found.s_addr, bits == 0 ? 0 : htonl(~std::uint32_t{0} << (32 - bits))};
}

bool may_be_name(std::string_view text) noexcept {
  return !text.empty() && text.size() < IFNAMSIZ && text.find_first_of("/: \t\n") == text.npos;
}

std::vector<std::string_view> elements(std::string_view list) {
  std::vector<std::string_view> all;
  for (;;) {
    const std::size_t comma = list.find(',');
    all.push_back(list.substr(0, comma));
    if (comma == list.npos)
      return all;
    list.remove_prefix(comma + 1);
  }
}

bool names(std::string_view element, const own_address& each) noexcept {
  const std::optional<network> wanted = parse_network(element);
  return wanted ? ((each.address ^ wanted->address) & wanted->mask) == 0
                : element == each.interface.data();
}

std::vector<own_address> all_addresses() {
  ifaddrs* all = nullptr;
  if (getifaddrs(&all) != 0)
    base::die("the addresses of this machine cannot be read: %s", std::strerror(errno));
  std::vector<own_address> found;
  for (const ifaddrs* each = all; each != nullptr; each = each->ifa_next) {
    if (each->ifa_addr == nullptr || each->ifa_addr->sa_family != AF_INET ||
        (each->ifa_flags & IFF_UP) == 0 || (each->ifa_flags & IFF_LOOPBACK) != 0)
      continue;
    sockaddr_in at{};
    sockaddr_in mask{};
    std::memcpy(&at, each->ifa_addr, sizeof at);
    if (each->ifa_netmask != nullptr)
      std::memcpy(&mask, each->ifa_netmask, sizeof mask);
    else
      mask.sin_addr.s_addr = ~std::uint32_t{0};
    own_address next{at.sin_addr.s_addr, mask.sin_addr.s_addr, {}};
    const std::string_view name{each->ifa_name};
    name.substr(0, name.find(':'))
        .copy(next.interface.data(), next.interface.size() - 1); // no label
    found.push_back(next);
  }
  freeifaddrs(all);
  return found;
}

} // namespace

bool is_list_of_interfaces(std::string_view text) noexcept {
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    const std::string_view element = text.substr(0, comma);
    if (!may_be_name(element) && !parse_network(element))
      return false;
    if (comma == text.npos)
      return true;
    text.remove_prefix(comma + 1);
  }
  return false; // empty, or it ends with a comma
}

std::vector<own_address> find_addresses(const std::string& list) {
  std::vector<own_address> all = all_addresses();
  if (!list.empty()) {
    const std::vector<std::string_view> wanted = elements(list);
    for (const std::string_view element : wanted)
      if (std::ranges::none_of(all, [&](const own_address& at) { return names(element, at); }))
        base::die("NOPAL_INTERFACES or process::options::interfaces names %s, and this machine has "
                  "no such interface that is up and has an IPv4 address; it has %s",
                  std::string(element).c_str(), all.empty() ? "none" : names_of(all).c_str());
    std::erase_if(all, [&](const own_address& at) {
      return std::ranges::none_of(wanted, [&](std::string_view each) { return names(each, at); });
    });
  }
  all.resize(std::min(all.size(), most_addresses));
  return all;
}

std::vector<own_address> choose_addresses(const std::vector<own_address>& own,
                                          const std::vector<std::vector<std::uint32_t>>& others) {
  std::vector<own_address> chosen;
  for (const own_address& each : own)
    if (std::ranges::all_of(others, [&](const std::vector<std::uint32_t>& machine) {
          return std::ranges::any_of(machine, [&](auto other) { return each.is_near(other); });
        }))
      chosen.push_back(each);
  return chosen.empty() ? own : chosen;
}

std::string names_of(std::span<const own_address> all) {
  std::string text;
  for (const own_address& each : all) {
    char address[INET_ADDRSTRLEN] = {};
    inet_ntop(AF_INET, &each.address, address, sizeof address);
    text += (text.empty() ? "" : ", ") + std::string(each.interface.data()) + " (" + address + ")";
  }
  return text;
}

} // namespace nopal::inline NOPAL_ABI::process

// SPDX-License-Identifier: MIT
// By which addresses processes on several machines reach each other.
#include "nopal/process/launch/interfaces.h"

#include "tests/process/processes.h"

#include <arpa/inet.h>
#include <cstring>

namespace nopal_test {
namespace {

using process::own_address;

std::uint32_t number(const char* text) {
  in_addr found{};
  EXPECT_EQ(inet_pton(AF_INET, text, &found), 1) << text;
  return found.s_addr;
}

own_address at(const char* interface, const char* address, unsigned bits) {
  own_address made{number(address), bits == 0 ? 0 : htonl(~std::uint32_t{0} << (32 - bits)), {}};
  std::strncpy(made.interface.data(), interface, made.interface.size() - 1);
  return made;
}

const std::vector<own_address> own = {at("eth0", "192.0.2.7", 24), at("eth1", "10.0.0.7", 8),
                                      at("docker0", "172.17.0.1", 16)};

std::string chosen(const std::vector<std::vector<std::uint32_t>>& others) {
  return process::names_of(process::choose_addresses(own, others));
}

TEST(process_interfaces, those_of_a_common_network_are_chosen) {
  EXPECT_EQ(chosen({{number("10.9.9.9")}}), "eth1 (10.0.0.7)");
  EXPECT_EQ(chosen({{number("10.9.9.9"), number("192.0.2.8")}, {number("192.0.2.9")}}),
            "eth0 (192.0.2.7)");
  EXPECT_EQ(chosen({{number("10.9.9.9"), number("192.0.2.8")}}),
            "eth0 (192.0.2.7), eth1 (10.0.0.7)");
}

TEST(process_interfaces, an_address_that_both_have_leads_nowhere) {
  EXPECT_EQ(chosen({{number("172.17.0.1"), number("10.0.0.8")}}), "eth1 (10.0.0.7)");
}

TEST(process_interfaces, all_are_chosen_where_no_network_is_common) {
  const std::string all = process::names_of(own);
  EXPECT_EQ(chosen({{number("198.51.100.1")}}), all);
  EXPECT_EQ(chosen({{number("10.0.0.8")}, {number("192.0.2.8")}}), all);
  EXPECT_EQ(chosen({{}}), all);
}

TEST(process_interfaces, lists_have_names_and_networks) {
  for (const char* const right : {"eth1", "10.0.0.0/8", "10.0.0.1", "eth1,10.0.0.0/8", "br-0",
                                  "0.0.0.0/0", "a23456789012345"})
    EXPECT_TRUE(process::is_list_of_interfaces(right)) << right;
  for (const char* const wrong : {"", ",", "eth1,", ",eth1", "eth1,,eth2", "10.0.0.0/33",
                                  "10.0.0.0/", "10.0.0/8", "10.0.0.0/-1", "10.0.0.0/8/8", "eth 1",
                                  "a234567890123456", "/8", "::1", "::1/64", "eth0:1"})
    EXPECT_FALSE(process::is_list_of_interfaces(wrong)) << wrong;
}

TEST(process_interfaces, one_that_is_not_there_ends_the_program) {
  for (const char* const wrong : {"nosuch0", "lo", "127.0.0.0/8", "240.1.2.3"}) {
    const ended got = apart([&] { process::find_addresses(wrong); });
    EXPECT_EQ(got.status, 70) << wrong;
    EXPECT_EQ(got.said.rfind(std::string("nopal: NOPAL_INTERFACES or process::options::interfaces "
                                         "names ") +
                                 wrong + ", and this machine has no such interface",
                             0),
              0u)
        << got.said;
  }
}

} // namespace
} // namespace nopal_test

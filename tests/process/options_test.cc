// SPDX-License-Identifier: MIT
// What each option of programs on several processes accepts, and the sentences about what it does
// not.
#include "nopal/process/options.h"

#include "nopal/config/options.h"

#include "tests/process/processes.h"

#include <cstdlib>
#include <map>
#include <string>
#include <variant>

namespace nopal_test {
namespace {

using process::engine;
using process::options;

using variables = std::map<std::string, std::string>;
std::variant<options, std::string> resolve_with(const options& asked, const variables& given) {
  const auto lookup = [&](const char* name) -> const char* {
    const auto found = given.find(name);
    return found == given.end() ? nullptr : found->second.c_str();
  };
  return process::resolve(asked, lookup, 99);
}

options accepted(const options& asked, const variables& given) {
  const auto result = resolve_with(asked, given);
  if (const auto* const complaint = std::get_if<std::string>(&result)) {
    ADD_FAILURE() << *complaint;
    return {};
  }
  return std::get<options>(result);
}

std::string refusal(const options& asked, const variables& given) {
  const auto result = resolve_with(asked, given);
  const auto* const complaint = std::get_if<std::string>(&result);
  return complaint != nullptr ? *complaint : "accepted";
}

TEST(process_options, have_defaults) {
  const options all = accepted({}, {});
  EXPECT_EQ(all.processes, 1u);
  EXPECT_EQ(all.region_size, std::size_t{256} << 10);
  EXPECT_EQ(all.heap_size, std::size_t{16} << 20);
  EXPECT_EQ(all.transport, engine::best);
  EXPECT_FALSE(*all.stats);
  EXPECT_FALSE(*all.verbose);
  EXPECT_EQ(*all.seed, 99u);
  EXPECT_EQ(*all.latency_us, 0u);
  EXPECT_EQ(*all.progress, 0u);
  EXPECT_EQ(all.interfaces, "");
}

TEST(process_options, come_from_the_environment) {
  const options all = accepted({}, {{"NOPAL_PROCESSES", "64"},
                                    {"NOPAL_REGION_SIZE", "1G"},
                                    {"NOPAL_HEAP_SIZE", "16G"},
                                    {"NOPAL_TRANSPORT", "mpi"},
                                    {"NOPAL_STATS", "1"},
                                    {"NOPAL_VERBOSE", "1"},
                                    {"NOPAL_SEED", "0xffffffffffffffff"},
                                    {"NOPAL_LATENCY_US", "1000000"},
                                    {"NOPAL_PROGRESS", "3600"},
                                    {"NOPAL_INTERFACES", "eth1,10.0.0.0/8"}});
  EXPECT_EQ(all.processes, 64u);
  EXPECT_EQ(all.region_size, std::size_t{1} << 30);
  EXPECT_EQ(all.heap_size, std::size_t{16} << 30);
  EXPECT_EQ(all.transport, engine::mpi);
  EXPECT_TRUE(*all.stats);
  EXPECT_TRUE(*all.verbose);
  EXPECT_EQ(*all.seed, ~std::uint64_t{0});
  EXPECT_EQ(*all.latency_us, 1'000'000u);
  EXPECT_EQ(*all.progress, 3600u);
  EXPECT_EQ(all.interfaces, "eth1,10.0.0.0/8");
}

TEST(process_options, name_each_transport) {
  for (const auto& [name, wanted] : {std::pair{"ucx", engine::ucx},
                                     {"ucx_messages", engine::ucx_messages},
                                     {"mpi", engine::mpi},
                                     {"mpi_messages", engine::mpi_messages},
                                     {"local", engine::local}})
    EXPECT_EQ(accepted({}, {{"NOPAL_TRANSPORT", name}}).transport, wanted) << name;
}

TEST(process_options, of_the_program_beat_the_environment) {
  const options all = accepted({.processes = 3,
                                .region_size = std::size_t{64} << 10,
                                .heap_size = std::size_t{1} << 20,
                                .transport = engine::local,
                                .stats = false,
                                .verbose = false,
                                .seed = 5,
                                .latency_us = 0,
                                .progress = 0,
                                .interfaces = "eth2"},
                               {{"NOPAL_PROCESSES", "4"},
                                {"NOPAL_REGION_SIZE", "128K"},
                                {"NOPAL_HEAP_SIZE", "2M"},
                                {"NOPAL_TRANSPORT", "ucx"},
                                {"NOPAL_STATS", "1"},
                                {"NOPAL_VERBOSE", "1"},
                                {"NOPAL_SEED", "6"},
                                {"NOPAL_LATENCY_US", "7"},
                                {"NOPAL_PROGRESS", "8"},
                                {"NOPAL_INTERFACES", "eth3"}});
  EXPECT_EQ(all.interfaces, "eth2");
  EXPECT_EQ(all.processes, 3u);
  EXPECT_EQ(all.region_size, std::size_t{64} << 10);
  EXPECT_EQ(all.heap_size, std::size_t{1} << 20);
  EXPECT_EQ(all.transport, engine::local);
  EXPECT_FALSE(*all.stats);
  EXPECT_FALSE(*all.verbose);
  EXPECT_EQ(*all.seed, 5u);
  EXPECT_EQ(*all.latency_us, 0u);
  EXPECT_EQ(*all.progress, 0u);
}

// Each variable, what it refuses, and what the sentence says is accepted.
TEST(process_options, refuse_with_a_sentence) {
  const std::string number = "a whole number from 1 to 64";
  const std::string in_bytes = ", in bytes or with a suffix K, M or G"; // said of variables alone
  const std::string region = "a power of two from 64K to 1G";
  const std::string heap = "a power of two from 1M to 16G";
  const std::string seed = "an unsigned number of 64 bits, decimal or hexadecimal after 0x";
  const std::string latency = "a whole number of microseconds from 0 to 1000000";
  const std::string interfaces =
      "names of interfaces and IPv4 networks, separated by commas, as eth1,10.0.0.0/8";
  const struct {
    std::string variable, value, accepts;
  } all[] = {
      {"NOPAL_PROCESSES", "0", number},
      {"NOPAL_PROCESSES", "65", number},
      {"NOPAL_PROCESSES", "", number},
      {"NOPAL_PROCESSES", "four", number},
      {"NOPAL_PROCESSES", "-1", number},
      {"NOPAL_REGION_SIZE", "32K", region + in_bytes},
      {"NOPAL_REGION_SIZE", "96K", region + in_bytes},
      {"NOPAL_REGION_SIZE", "2G", region + in_bytes},
      {"NOPAL_REGION_SIZE", "64k ", region + in_bytes},
      {"NOPAL_HEAP_SIZE", "512K", heap + in_bytes},
      {"NOPAL_HEAP_SIZE", "3M", heap + in_bytes},
      {"NOPAL_HEAP_SIZE", "32G", heap + in_bytes},
      {"NOPAL_TRANSPORT", "tcp", "ucx, ucx_messages, mpi, mpi_messages or local"},
      {"NOPAL_TRANSPORT", "", "ucx, ucx_messages, mpi, mpi_messages or local"},
      {"NOPAL_STATS", "2", "0 or 1"},
      {"NOPAL_STATS", "yes", "0 or 1"},
      {"NOPAL_VERBOSE", "01", "0 or 1"},
      {"NOPAL_SEED", "0x", seed},
      {"NOPAL_SEED", "18446744073709551616", seed},
      {"NOPAL_LATENCY_US", "1000001", latency},
      {"NOPAL_LATENCY_US", "1.5", latency},
      {"NOPAL_PROGRESS", "3601", "a whole number of seconds from 0 to 3600"},
      {"NOPAL_INTERFACES", "", interfaces},
      {"NOPAL_INTERFACES", "eth1,", interfaces},
      {"NOPAL_INTERFACES", "10.0.0.0/33", interfaces},
  };
  for (const auto& [variable, value, accepts] : all)
    EXPECT_EQ(refusal({}, {{variable, value}}),
              variable + " is \"" + value + "\", but it must be " + accepts);
  EXPECT_EQ(refusal({.processes = 65}, {}),
            "process::options::processes is 65, but it must be " + number);
  EXPECT_EQ(refusal({.region_size = 1000}, {}),
            "process::options::region_size is 1000, but it must be " + region);
  EXPECT_EQ(refusal({.heap_size = 1000}, {}),
            "process::options::heap_size is 1000, but it must be " + heap);
  EXPECT_EQ(refusal({.latency_us = 1'000'001}, {}),
            "process::options::latency_us is 1000001, but it must be " + latency);
  EXPECT_EQ(refusal({.interfaces = "eth 1"}, {}),
            "process::options::interfaces is \"eth 1\", but it must be " + interfaces);
  EXPECT_EQ(refusal({.interfaces = "eth1"}, {{"NOPAL_INTERFACES", "eth1,,eth2"}}),
            "NOPAL_INTERFACES is \"eth1,,eth2\", but it must be " + interfaces);
  // A wrong variable is an error also where the program has its own value.
  EXPECT_EQ(refusal({.processes = 2}, {{"NOPAL_PROCESSES", "0"}}),
            "NOPAL_PROCESSES is \"0\", but it must be " + number);
}

// The names are written twice: here in rules, and in the layer config, which warns of unknown ones.
TEST(process_options, are_known_to_the_core) {
  const char* const all[] = {"NOPAL_PROCESSES=1",
                             "NOPAL_REGION_SIZE=1",
                             "NOPAL_HEAP_SIZE=1",
                             "NOPAL_TRANSPORT=1",
                             "NOPAL_STATS=1",
                             "NOPAL_VERBOSE=1",
                             "NOPAL_LATENCY_US=1",
                             "NOPAL_SEED=1",
                             "NOPAL_PROGRESS=1",
                             "NOPAL_INTERFACES=1",
                             nullptr};
  EXPECT_TRUE(nopal::config::unknown_variables(all).empty());
}

int seven() { return 7; }

TEST(process_options, end_a_program_that_gets_wrong_ones) {
  const ended got = apart([] {
    setenv("NOPAL_HEAP_SIZE", "1", 1);
    process::session session{0, nullptr};
  });
  EXPECT_EQ(got.said, "nopal: NOPAL_HEAP_SIZE is \"1\", but it must be a power of two from 1M to "
                      "16G, in bytes or with a suffix K, M or G\n");
  EXPECT_EQ(got.status, 70);
}

TEST(process_options, name_what_the_program_was_linked_without) {
  for (const auto& [wanted, name] : {std::pair{engine::ucx, "ucx"},
                                     {engine::ucx_messages, "ucx_messages"},
                                     {engine::mpi, "mpi"},
                                     {engine::mpi_messages, "mpi_messages"}}) {
    const ended got = computed_by({.transport = wanted}, seven);
    EXPECT_EQ(got.said,
              std::string("nopal: NOPAL_TRANSPORT or process::options::transport asks for ") +
                  name +
                  ", and this program was linked with a Nopal without it; accepted is local\n");
    EXPECT_EQ(got.status, 70);
  }
}

TEST(process_options, refuse_a_launcher_that_the_program_is_not_linked_for) {
  const ended got = apart([] {
    setenv("OMPI_COMM_WORLD_SIZE", "4", 1);
    process::session session{0, nullptr};
  });
  EXPECT_EQ(got.said, "nopal: mpirun of Open MPI has begun 4 processes (OMPI_COMM_WORLD_SIZE), and "
                      "the program is linked with nopal::process, which forks processes by itself: "
                      "link nopal::process_openmpi, or begin it without mpirun and with "
                      "NOPAL_PROCESSES\n");
  EXPECT_EQ(got.status, 70);
}

TEST(process_options, accept_a_launcher_of_one_process) {
  const ended got = apart([] {
    setenv("PMI_SIZE", "1", 1);
    process::session session{0, nullptr};
  });
  EXPECT_EQ(got.said, "");
  EXPECT_EQ(got.status, 0);
}

TEST(process_options, take_the_number_of_processes_from_the_environment) {
  const ended got = apart([] {
    setenv("NOPAL_PROCESSES", "3", 1);
    process::session session{0, nullptr};
    std::printf("%u", session.size());
    std::fflush(stdout);
  });
  EXPECT_EQ(got.said, "333");
}

} // namespace
} // namespace nopal_test

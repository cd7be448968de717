// SPDX-License-Identifier: MIT
// Precedence, acceptance and refusal of every option, from the program and from the environment.
#include "nopal/config/options.h"

#include "nopal/base/die.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <string>
#include <variant>

namespace {

using namespace nopal::config;

constexpr std::uint64_t clock_seed = 12345;
const cpu_count four_cpus = {4, "affinity mask allows 4; 8 CPUs online"};

using variables = std::map<std::string, std::string>;
constexpr defaults usual_defaults{std::size_t{64} << 20, 0};

using outcome = std::variant<resolved_options, std::string>;

outcome resolve_with(const options& asked, const variables& environment,
                     const cpu_count& cpus = four_cpus) {
  const auto lookup = [&](const char* name) -> const char* {
    const auto found = environment.find(name);
    return found == environment.end() ? nullptr : found->second.c_str();
  };
  return resolve(asked, usual_defaults, lookup, cpus, clock_seed);
}

resolved_options accepted(const options& asked, const variables& environment,
                          const cpu_count& cpus = four_cpus) {
  const outcome result = resolve_with(asked, environment, cpus);
  if (const auto* const complaint = std::get_if<std::string>(&result)) {
    ADD_FAILURE() << *complaint;
    return std::get<resolved_options>(resolve_with({}, {}));
  }
  return std::get<resolved_options>(result);
}

std::string refusal(const options& asked, const variables& environment) {
  const outcome result = resolve_with(asked, environment);
  const auto* const complaint = std::get_if<std::string>(&result);
  return complaint != nullptr ? *complaint : "accepted";
}

TEST(resolve, defaults) {
  const resolved_options r = accepted({}, {});
  EXPECT_EQ(r.num_workers.value, 4u);
  EXPECT_EQ(r.stack_size.value, std::size_t{1} << 20);
  EXPECT_EQ(r.stack_budget.value, std::size_t{64} << 20);
  EXPECT_EQ(r.max_stacks.value, 0u);
  EXPECT_EQ(r.binding.value, bind::none);
  EXPECT_EQ(r.max_blocking.value, 256u);
  EXPECT_FALSE(r.stats.value);
  EXPECT_FALSE(r.verbose.value);
  EXPECT_EQ(r.seed.value, clock_seed);
  EXPECT_EQ(r.num_workers.from, "");
  EXPECT_EQ(r.seed.from, "from the clock");
}

const variables full_environment = {
    {"NOPAL_NUM_WORKERS", "3"},  {"NOPAL_STACK_SIZE", "256K"}, {"NOPAL_STACK_BUDGET", "unlimited"},
    {"NOPAL_MAX_STACKS", "7"},   {"NOPAL_BIND", "cores"},      {"NOPAL_TICK", "25"},
    {"NOPAL_MAX_BLOCKING", "9"}, {"NOPAL_STATS", "1"},         {"NOPAL_VERBOSE", "1"},
    {"NOPAL_SEED", "0xff"}};

TEST(resolve, environment_beats_defaults) {
  const resolved_options r = accepted({}, full_environment);
  EXPECT_EQ(r.num_workers.value, 3u);
  EXPECT_EQ(r.stack_size.value, 256u << 10);
  EXPECT_EQ(r.stack_budget.value, unlimited);
  EXPECT_EQ(r.max_stacks.value, 7u);
  EXPECT_EQ(r.binding.value, bind::cores);
  EXPECT_TRUE(r.stats.value);
  EXPECT_TRUE(r.verbose.value);
  EXPECT_EQ(r.seed.value, 255u);
  EXPECT_EQ(r.num_workers.from, "NOPAL_NUM_WORKERS");
  EXPECT_EQ(r.binding.from, "NOPAL_BIND");
  EXPECT_EQ(r.tick.value, 25u);
  EXPECT_EQ(r.max_blocking.value, 9u);
}

TEST(resolve, program_beats_environment) {
  const options asked = {.num_workers = 7,
                         .stack_size = 128u << 10,
                         .stack_budget = 0,
                         .max_stacks = 0,
                         .binding = bind::none,
                         .max_blocking = 8,
                         .stats = false,
                         .verbose = false,
                         .seed = 0};
  const resolved_options r = accepted(asked, full_environment);
  EXPECT_EQ(r.num_workers.value, 7u);
  EXPECT_EQ(r.stack_size.value, 128u << 10);
  EXPECT_EQ(r.stack_budget.value, 0u);
  EXPECT_EQ(r.max_stacks.value, 0u);
  EXPECT_EQ(r.binding.value, bind::none);
  EXPECT_EQ(r.max_blocking.value, 8u);
  EXPECT_FALSE(r.stats.value);
  EXPECT_FALSE(r.verbose.value);
  EXPECT_EQ(r.seed.value, 0u);
  EXPECT_EQ(r.num_workers.from, "set by the program");
  EXPECT_EQ(r.seed.from, "set by the program");
}

TEST(resolve, limits_are_accepted) {
  EXPECT_EQ(accepted({}, {{"NOPAL_NUM_WORKERS", "1"}}).num_workers.value, 1u);
  EXPECT_EQ(accepted({}, {{"NOPAL_NUM_WORKERS", "1024"}}).num_workers.value, 1024u);
  EXPECT_EQ(accepted({}, {{"NOPAL_STACK_SIZE", "64K"}}).stack_size.value, 65536u);
  EXPECT_EQ(accepted({}, {{"NOPAL_STACK_SIZE", "32M"}}).stack_size.value, std::size_t{32} << 20);
  EXPECT_EQ(accepted({}, {{"NOPAL_STACK_SIZE", "1048576"}}).stack_size.value, std::size_t{1} << 20);
  EXPECT_EQ(accepted({}, {{"NOPAL_SEED", "18446744073709551615"}}).seed.value, UINT64_MAX);
  EXPECT_EQ(accepted({.num_workers = 1024}, {}).num_workers.value, 1024u);
}

TEST(resolve, more_cpus_than_workers_there_can_be) {
  const cpu_count many = {2000, "2000 CPUs online"};
  const resolved_options r = accepted({}, {}, many);
  EXPECT_EQ(r.num_workers.value, 1024u);
  EXPECT_EQ(explain(r)[0], "1024 workers (the most there can be, for 2000 CPUs: 2000 CPUs online)");
}

void expect_refused(const std::string& variable, const std::vector<std::string>& values,
                    const std::string& accepts) {
  for (const std::string& value : values) {
    EXPECT_EQ(refusal({}, {{variable, value}}),
              variable + " is \"" + value + "\", but it must be " + accepts);
  }
}

TEST(resolve, refuses_what_does_not_parse) {
  expect_refused("NOPAL_NUM_WORKERS",
                 {"abc", "", "0", "1025", "-1", "+2", "2 ", " 2", "2x", "1.5", "0x2", "4294967297",
                  "99999999999999999999"},
                 "a whole number from 1 to 1024");
  expect_refused("NOPAL_STACK_SIZE",
                 {"", "big", "32K", "2G", "100000", "64k", "1MB", "-1M", "0", "3M", "17179869184G"},
                 "a power of two from 64K to 32M, in bytes or with a suffix K, M or G");
  expect_refused("NOPAL_FIBER_STACK_SIZE", {"", "0", "16K", "2M", "48K", "x"},
                 "a power of two from 32K to 1M, in bytes or with a suffix K, M or G");
  expect_refused("NOPAL_FIBER_GUARDS", {"", "2", "yes"}, "0 or 1");
  expect_refused("NOPAL_TICK", {"", "-1", "1001", "10ms", "0.5"},
                 "a whole number of milliseconds from 0 to 1000, where 0 preempts nothing");
  expect_refused("NOPAL_MAX_BLOCKING", {"", "0", "-1", "4097", "many"},
                 "a whole number from 1 to 4096");
  expect_refused("NOPAL_VIRTUAL_WORKERS", {"", "-1", "65", "two"},
                 "a whole number from 0 to 64, where 0 means real ones");
  expect_refused("NOPAL_RACES", {"", "2", "yes"}, "0 or 1");
  expect_refused("NOPAL_BIND", {"", "core", "yes", "1"}, "none or cores");
  expect_refused("NOPAL_STATS", {"", "2", "yes", "true", "01"}, "0 or 1");
  expect_refused("NOPAL_VERBOSE", {"", "2", "on"}, "0 or 1");
  expect_refused("NOPAL_SEED", {"", "-1", "0x", "seed", "18446744073709551616"},
                 "an unsigned number of 64 bits, decimal or hexadecimal after 0x");
}

TEST(resolve, refuses_what_the_program_may_not_ask) {
  EXPECT_EQ(refusal({.num_workers = 1025}, {}),
            "options::num_workers is 1025, but it must be a whole number from 1 to 1024");
  EXPECT_EQ(refusal({.stack_size = 100000}, {}),
            "options::stack_size is 100000, but it must be a power of two from 64K to 32M");
  EXPECT_EQ(refusal({.stack_size = 32u << 10}, {}),
            "options::stack_size is 32K, but it must be a power of two from 64K to 32M");
  EXPECT_EQ(refusal({.stack_budget = (std::size_t{1} << 40) + 1}, {}),
            "options::stack_budget is 1099511627777, but it must be unlimited or a size up to "
            "1024G");
  EXPECT_EQ(refusal({.max_stacks = 16385}, {}),
            "options::max_stacks is 16385, but it must be a whole number from 0 to 16384, where 0 "
            "sets no bound");
  EXPECT_EQ(refusal({.binding = static_cast<bind>(2)}, {}),
            "options::binding is 2, but it must be none or cores");
}

TEST(resolve, bounds_on_stacks) {
  const auto budget = [](const char* text) {
    return accepted({}, {{"NOPAL_STACK_BUDGET", text}}).stack_budget.value;
  };
  EXPECT_EQ(budget("0"), 0u);
  EXPECT_EQ(budget("300K"), 300u << 10);
  EXPECT_EQ(budget("1024G"), std::size_t{1} << 40);
  EXPECT_EQ(budget("unlimited"), unlimited);
  EXPECT_EQ(accepted({.stack_budget = unlimited}, {}).stack_budget.value, unlimited);
  expect_refused("NOPAL_STACK_BUDGET",
                 {"", "Unlimited", "unlimited:1M", "-1", "1T", "1025G", "18446744073709551615"},
                 "unlimited or a size up to 1024G, in bytes or with a suffix K, M or G");
  const auto stacks = [](const char* text) {
    return accepted({}, {{"NOPAL_MAX_STACKS", text}}).max_stacks.value;
  };
  EXPECT_EQ(stacks("0"), 0u);
  EXPECT_EQ(stacks("1"), 1u);
  EXPECT_EQ(stacks("16384"), 16384u);
  expect_refused("NOPAL_MAX_STACKS", {"", "16385", "-1", "many", "unlimited", "4294967297"},
                 "a whole number from 0 to 16384, where 0 sets no bound");
}

// Each preset has its own defaults, and each can be told otherwise.
TEST(resolve, a_bound_of_the_preset_can_be_lifted) {
  const auto lookup = [](const char*) -> const char* { return nullptr; };
  const defaults bounded{unlimited, 2400};
  const auto usual = std::get<resolved_options>(resolve({}, bounded, lookup, four_cpus, 1));
  EXPECT_EQ(usual.stack_budget.value, unlimited);
  EXPECT_EQ(usual.max_stacks.value, 2400u);
  EXPECT_EQ(explain(usual)[4], "stacks at most 2400 (default)");
  const auto lifted =
      std::get<resolved_options>(resolve({.max_stacks = 0}, bounded, lookup, four_cpus, 1));
  EXPECT_EQ(lifted.max_stacks.value, 0u);
}

TEST(resolve, a_hidden_bad_variable_is_refused_too) {
  EXPECT_EQ(refusal({.num_workers = 2}, {{"NOPAL_NUM_WORKERS", "abc"}}),
            "NOPAL_NUM_WORKERS is \"abc\", but it must be a whole number from 1 to 1024");
}

TEST(resolve, complains_of_the_first_option_only) {
  const std::string sentence =
      refusal({}, {{"NOPAL_SEED", "x"}, {"NOPAL_NUM_WORKERS", "0"}, {"NOPAL_BIND", "x"}});
  EXPECT_EQ(sentence, "NOPAL_NUM_WORKERS is \"0\", but it must be a whole number from 1 to 1024");
}

TEST(explain, names_the_machine_when_nobody_asked) {
  const auto lines = explain(accepted({}, {}));
  ASSERT_EQ(lines.size(), 9u);
  EXPECT_EQ(lines[0], "4 workers (affinity mask allows 4; 8 CPUs online)");
  EXPECT_EQ(lines[1], "stack size 1M (default)");
  EXPECT_EQ(lines[2], "fiber stack size 256K (default)");
  EXPECT_EQ(lines[3], "stack budget 64M (default)");
  EXPECT_EQ(lines[4], "as many stacks as there is room for");
  EXPECT_EQ(lines[5], "binding none (default)");
  EXPECT_EQ(lines[6], "milliseconds between ticks 10 (default)");
  EXPECT_EQ(lines[7], "threads in nopal::blocking at most 256 (default)");
  EXPECT_EQ(lines[8], "seed 12345 (from the clock)");
}

TEST(explain, names_the_variables) {
  const auto lines = explain(accepted({}, full_environment));
  ASSERT_EQ(lines.size(), 9u);
  EXPECT_EQ(lines[0], "3 workers (NOPAL_NUM_WORKERS, of the 4 CPUs allowed: affinity mask allows "
                      "4; 8 CPUs online)");
  EXPECT_EQ(lines[1], "stack size 256K (NOPAL_STACK_SIZE)");
  EXPECT_EQ(lines[3], "stack budget unlimited (NOPAL_STACK_BUDGET)");
  EXPECT_EQ(lines[4], "stacks at most 7 (NOPAL_MAX_STACKS)");
  EXPECT_EQ(lines[5], "binding cores (NOPAL_BIND)");
  EXPECT_EQ(lines[6], "milliseconds between ticks 25 (NOPAL_TICK)");
  EXPECT_EQ(lines[7], "threads in nopal::blocking at most 9 (NOPAL_MAX_BLOCKING)");
  EXPECT_EQ(lines[8], "seed 255 (NOPAL_SEED)");
}

TEST(explain, names_virtual_workers) {
  const auto lines = explain(accepted({}, {{"NOPAL_VIRTUAL_WORKERS", "4"}}));
  ASSERT_EQ(lines.size(), 10u);
  EXPECT_EQ(lines[0],
            "1 worker (NOPAL_VIRTUAL_WORKERS, of the 4 CPUs allowed: affinity mask allows "
            "4; 8 CPUs online)");
  EXPECT_EQ(lines[6], "milliseconds between ticks 0 (NOPAL_VIRTUAL_WORKERS)");
  EXPECT_EQ(lines[9], "virtual workers on one thread 4 (NOPAL_VIRTUAL_WORKERS)");
}

// Races are looked for with virtual workers alone, so there is one where the program asks for none.
TEST(resolve, races_need_virtual_workers) {
  const resolved_options r = accepted({}, {{"NOPAL_RACES", "1"}});
  EXPECT_EQ(r.virtual_workers.value, 1u);
  EXPECT_EQ(r.virtual_workers.from, "NOPAL_RACES");
  EXPECT_EQ(r.num_workers.value, 1u);
  EXPECT_EQ(accepted({.virtual_workers = 5, .races = true}, {}).virtual_workers.value, 5u);
  EXPECT_EQ(accepted({}, {{"NOPAL_RACES", "0"}}).virtual_workers.value, 0u);
}

TEST(explain, says_when_more_workers_are_asked_for_than_cpus_allowed) {
  const auto lines = explain(accepted({.num_workers = 5, .seed = 1}, {}));
  EXPECT_EQ(lines[0], "5 workers (set by the program, more than the 4 CPUs allowed: affinity mask "
                      "allows 4; 8 CPUs online)");
  EXPECT_EQ(lines[8], "seed 1 (set by the program)");
  const cpu_count one_cpu = {1, "quota"};
  EXPECT_EQ(explain(accepted({}, {{"NOPAL_NUM_WORKERS", "1"}}, one_cpu))[0],
            "1 worker (NOPAL_NUM_WORKERS, of the 1 CPU allowed: quota)");
}

TEST(unknown_variables, names_each_and_lists_the_known) {
  const char* const environment[] = {"PATH=/bin",         "NOPAL_NUM_WORKERS=2",
                                     "NOPAL_SEED=",       "NOPAL_STACK_POLICY=keep",
                                     "NOPALITO=1",        "NOPAL_",
                                     "NOPAL_SEEDS",       "NOPAL_PROCESSES=4",
                                     "NOPAL_UCX_TLS=tcp", "NOPAL_ROOT=/opt/nopal",
                                     "NOPAL_DIR=/usr",    nullptr};
  const auto sentences = unknown_variables(environment);
  ASSERT_EQ(sentences.size(), 3u);
  EXPECT_EQ(
      sentences[0],
      "NOPAL_STACK_POLICY is not a variable that Nopal knows and has no effect; it knows "
      "NOPAL_NUM_WORKERS, NOPAL_STACK_SIZE, NOPAL_FIBER_STACK_SIZE, NOPAL_FIBER_GUARDS, "
      "NOPAL_STACK_BUDGET, NOPAL_MAX_STACKS, "
      "NOPAL_BIND, NOPAL_TICK, NOPAL_MAX_BLOCKING, NOPAL_VIRTUAL_WORKERS, NOPAL_RACES, "
      "NOPAL_STATS, "
      "NOPAL_VERBOSE, NOPAL_SEED, "
      "NOPAL_PROCESSES, NOPAL_REGION_SIZE, NOPAL_HEAP_SIZE, NOPAL_TRANSPORT, NOPAL_LATENCY_US, "
      "NOPAL_PROGRESS, NOPAL_INTERFACES, NOPAL_MAPPED");
  EXPECT_TRUE(sentences[1].starts_with("NOPAL_ is not")) << sentences[1];
  EXPECT_TRUE(sentences[2].starts_with("NOPAL_SEEDS is not")) << sentences[2];
}

// Runs resolve_or_die in a process of its own that has these NOPAL_ variables only, then exits with
// 0.
[[noreturn]] void resolve_in(const variables& environment) {
  for (const auto& [name, value] : full_environment) {
    unsetenv(name.c_str());
  }
  for (const auto& [name, value] : environment) {
    setenv(name.c_str(), value.c_str(), 1);
  }
  const resolved_options r = resolve_or_die({}, usual_defaults);
  std::_Exit(r.num_workers.value == 3 ? 0 : 1);
}

TEST(resolve_or_die, dies_with_the_sentence) {
  EXPECT_EXIT(resolve_in({{"NOPAL_NUM_WORKERS", "abc"}, {"NOPAL_VERBOSE", "1"}}),
              testing::ExitedWithCode(nopal::base::exit_status_died),
              "^nopal: NOPAL_NUM_WORKERS is \"abc\", but it must be a whole number from 1 to "
              "1024\n$");
}

TEST(resolve_or_die, warns_of_unknown_variables_and_explains) {
  EXPECT_EXIT(
      resolve_in({{"NOPAL_NUM_WORKERS", "3"}, {"NOPAL_VERBOSE", "1"}, {"NOPAL_WORKER", "3"}}),
      testing::ExitedWithCode(0),
      "^nopal: NOPAL_WORKER is not a variable.*\nnopal: 3 workers \\(NOPAL_NUM_WORKERS, .*\n"
      "nopal: stack size 1M .*\nnopal: fiber stack size .*\nnopal: stack budget .*\nnopal: as many "
      ".*\nnopal: binding "
      ".*\nnopal: milliseconds .*\nnopal: seed .*\n$");
}

TEST(resolve_or_die, is_silent_by_default) {
  EXPECT_EXIT(resolve_in({{"NOPAL_NUM_WORKERS", "3"}}), testing::ExitedWithCode(0), "^$");
}

} // namespace

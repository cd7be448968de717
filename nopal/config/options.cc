// SPDX-License-Identifier: MIT
// One rule per option, one function that applies a rule.
#include "nopal/config/options.h"

#include "nopal/base/die.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdlib>
#include <limits>
#include <unistd.h>
#include <utility>

namespace nopal::config {
namespace {

using base::max_stacks_default;
using base::max_stacks_max;
using base::stack_budget_default;
using base::stack_budget_max;

// How one option is called, read, checked and shown.
template <class T> struct rule {
  const char* variable;
  const char* member;
  const char* accepted;
  const char* spelling; // what the text of the variable may be beyond that
  std::optional<T> (*parse)(std::string_view text);
  bool (*valid)(T value);
  std::string (*show)(T value);
};

template <class Enum>
std::optional<Enum> parse_either(std::string_view text, std::string_view first,
                                 std::string_view second) {
  if (text == first || text == second) {
    return static_cast<Enum>(text == second);
  }
  return std::nullopt;
}

// A program may have cast any number to the type: then the number is shown.
template <class Enum> std::string show_either(Enum value, const char* first, const char* second) {
  const auto number = static_cast<unsigned>(value);
  return number == 0 ? first : number == 1 ? second : std::to_string(number);
}

template <class Enum> bool is_either(Enum value) { return static_cast<unsigned>(value) <= 1; }

template <class T> std::optional<T> narrowed(std::optional<std::uint64_t> number) {
  if (!number || *number > std::numeric_limits<T>::max()) {
    return std::nullopt;
  }
  return static_cast<T>(*number);
}

std::string show_bytes(std::size_t bytes) {
  constexpr std::pair<unsigned, const char*> units[] = {{30, "G"}, {20, "M"}, {10, "K"}};
  for (const auto& [shift, suffix] : units) {
    if (bytes != 0 && bytes % (std::size_t{1} << shift) == 0) {
      return std::to_string(bytes >> shift) + suffix;
    }
  }
  return std::to_string(bytes);
}

constexpr rule<unsigned> num_workers_rule = {
    "NOPAL_NUM_WORKERS",
    "options::num_workers",
    "a whole number from 1 to 1024",
    "",
    [](std::string_view text) { return narrowed<unsigned>(parse_decimal(text)); },
    [](unsigned value) { return value >= 1 && value <= num_workers_max; },
    [](unsigned value) { return std::to_string(value); },
};

constexpr rule<std::size_t> stack_size_rule = {
    "NOPAL_STACK_SIZE",
    "options::stack_size",
    "a power of two from 64K to 32M",
    ", in bytes or with a suffix K, M or G",
    [](std::string_view text) { return narrowed<std::size_t>(parse_bytes(text)); },
    [](std::size_t value) {
      return value >= stack_size_min && value <= stack_size_max && std::has_single_bit(value);
    },
    show_bytes,
};

constexpr const char* policy_names[] = {"keep", "dontneed", "free", "remap", "bounded", "budget"};

// What stands after the colon; only two policies have such a number.
std::optional<stack_rule> parse_amount(stack_policy policy, std::string_view text) {
  stack_rule rule{policy};
  if (policy == stack_policy::bounded) {
    const auto stacks = narrowed<unsigned>(parse_decimal(text));
    rule.max_stacks = stacks.value_or(0);
    return stacks ? std::optional(rule) : std::nullopt;
  }
  if (policy == stack_policy::budget) {
    const auto bytes = narrowed<std::size_t>(parse_bytes(text));
    rule.budget_bytes = bytes.value_or(0);
    return bytes ? std::optional(rule) : std::nullopt;
  }
  return std::nullopt;
}

std::optional<stack_rule> parse_policy(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  const auto* const known = std::ranges::find(policy_names, name);
  if (known == std::end(policy_names)) {
    return std::nullopt;
  }
  const auto policy = static_cast<stack_policy>(known - policy_names);
  return colon == text.npos ? stack_rule{policy} : parse_amount(policy, text.substr(colon + 1));
}

bool valid_policy(stack_rule value) {
  return static_cast<unsigned>(value.policy) < std::size(policy_names) && value.max_stacks >= 1 &&
         value.max_stacks <= max_stacks_max && value.budget_bytes <= stack_budget_max;
}

std::string show_policy(stack_rule value) {
  const auto number = static_cast<unsigned>(value.policy);
  const std::string name =
      number < std::size(policy_names) ? policy_names[number] : std::to_string(number);
  switch (value.policy) {
  case stack_policy::bounded:
    return name + ":" + std::to_string(value.max_stacks);
  case stack_policy::budget:
    return name + ":" + show_bytes(value.budget_bytes);
  default:
    return name;
  }
}

constexpr rule<stack_rule> policy_rule = {
    "NOPAL_STACK_POLICY",
    "options::policy",
    "keep, dontneed, free, remap, bounded, bounded:N with N from 1 to 16384, budget or budget:SIZE "
    "with SIZE up to 1024G",
    ", in bytes or with a suffix K, M or G",
    parse_policy,
    valid_policy,
    show_policy,
};

// An amount asks for the policy that it belongs to, if it does not contradict another.
std::optional<stack_rule> asked_policy(const options& asked) {
  if (!asked.policy && asked.max_stacks == 0 && !asked.stack_budget) {
    return std::nullopt;
  }
  return stack_rule{
      asked.policy.value_or(asked.max_stacks != 0 ? stack_policy::bounded : stack_policy::budget),
      asked.max_stacks == 0 ? max_stacks_default : asked.max_stacks,
      asked.stack_budget.value_or(stack_budget_default)};
}

// A program's amount that goes with another policy than the one in force: the sentence, or nothing.
std::string contradiction(const options& asked, stack_rule in_force) {
  const auto sentence = [&](const char* member, const std::string& amount, const char* policy) {
    return "options::" + std::string(member) + " is " + amount + ", but the policy is " +
           show_policy(in_force) + "; it goes with options::policy " + policy + " only";
  };
  if (asked.max_stacks != 0 && in_force.policy != stack_policy::bounded) {
    return sentence("max_stacks", std::to_string(asked.max_stacks), "bounded");
  }
  if (asked.stack_budget && in_force.policy != stack_policy::budget) {
    return sentence("stack_budget", show_bytes(*asked.stack_budget), "budget");
  }
  return {};
}

constexpr rule<bind> binding_rule = {
    "NOPAL_BIND",
    "options::binding",
    "none or cores",
    "",
    [](std::string_view text) { return parse_either<bind>(text, "none", "cores"); },
    is_either<bind>,
    [](bind value) { return show_either(value, "none", "cores"); },
};

constexpr rule<bool> flag_rule(const char* variable, const char* member) {
  return {variable,
          member,
          "0 or 1",
          "",
          [](std::string_view text) { return parse_either<bool>(text, "0", "1"); },
          [](bool) { return true; },
          [](bool value) { return std::string(value ? "1" : "0"); }};
}

constexpr rule<bool> stats_rule = flag_rule("NOPAL_STATS", "options::stats");
constexpr rule<bool> verbose_rule = flag_rule("NOPAL_VERBOSE", "options::verbose");
constexpr rule<bool> census_rule = flag_rule("NOPAL_CENSUS", "options::census");

constexpr rule<std::uint64_t> seed_rule = {
    "NOPAL_SEED",
    "options::seed",
    "an unsigned number of 64 bits",
    ", decimal or hexadecimal after 0x",
    parse_decimal_or_hex,
    [](std::uint64_t) { return true; },
    [](std::uint64_t value) { return std::to_string(value); },
};

// Applies rules and keeps the first complaint.
class resolver {
public:
  explicit resolver(const variable_lookup& lookup) : lookup_(lookup) {}

  template <class T>
  setting<T> decide(const rule<T>& r, const std::optional<T>& asked, T fallback) {
    const std::optional<T> from_environment = read_variable(r);
    if (asked) {
      if (!r.valid(*asked)) {
        complain(std::string(r.member) + " is " + r.show(*asked) + ", but it must be " +
                 r.accepted);
      }
      return {*asked, origin::program};
    }
    if (from_environment) {
      return {*from_environment, origin::environment};
    }
    return {fallback, origin::fallback};
  }

  const std::string& complaint() const { return complaint_; }

private:
  template <class T> std::optional<T> read_variable(const rule<T>& r) {
    const char* const text = lookup_(r.variable);
    if (text == nullptr) {
      return std::nullopt;
    }
    const std::optional<T> value = r.parse(text);
    if (!value || !r.valid(*value)) {
      complain(std::string(r.variable) + " is " + in_quotes(text) + ", but it must be " +
               r.accepted + r.spelling);
    }
    return value;
  }

  void complain(std::string sentence) {
    if (complaint_.empty()) {
      complaint_ = std::move(sentence);
    }
  }

  const variable_lookup& lookup_;
  std::string complaint_;
};

template <class T> std::optional<T> unless_zero(T value) {
  return value == 0 ? std::nullopt : std::optional(value);
}

template <class T>
std::string explain_one(const char* what, const rule<T>& r, const setting<T>& s,
                        const char* fallback) {
  const char* const from = s.from == origin::program       ? "set by the program"
                           : s.from == origin::environment ? r.variable
                                                           : fallback;
  return std::string(what) + " " + r.show(s.value) + " (" + from + ")";
}

std::string explain_workers(const resolved_options& resolved) {
  const unsigned workers = resolved.num_workers.value;
  const unsigned allowed = resolved.cpus.count;
  const std::string cpus = std::to_string(allowed) + (allowed == 1 ? " CPU" : " CPUs");
  std::string line = std::to_string(workers) + (workers == 1 ? " worker (" : " workers (");
  if (resolved.num_workers.from == origin::fallback) {
    line += workers < allowed ? "the most there can be, for " + cpus + ": " : "";
  } else {
    line += resolved.num_workers.from == origin::program ? "set by the program"
                                                         : num_workers_rule.variable;
    line += workers > allowed ? ", more than the " : ", of the ";
    line += cpus + " allowed: ";
  }
  return line + resolved.cpus.why + ")";
}

std::uint64_t seed_from_clock() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
  return static_cast<std::uint64_t>(now);
}

} // namespace

std::variant<resolved_options, std::string>
resolve(const options& asked, const preset_defaults& usual, const variable_lookup& lookup,
        const cpu_count& cpus, std::uint64_t clock_seed) {
  resolver r(lookup);
  if (asked.max_stacks > max_stacks_max) {
    return "options::max_stacks is " + std::to_string(asked.max_stacks) +
           ", but it must be a whole number from 1 to " + std::to_string(max_stacks_max);
  }
  if (asked.stack_budget && *asked.stack_budget > stack_budget_max) {
    return "options::stack_budget is " + show_bytes(*asked.stack_budget) +
           ", but it must be a number of bytes up to " + show_bytes(stack_budget_max);
  }
  const unsigned workers = cpus.count < num_workers_max ? cpus.count : num_workers_max;
  // Braces: evaluated in this order, so the first complaint is that of the first option.
  const resolved_options resolved{
      r.decide(num_workers_rule, unless_zero(asked.num_workers), workers),
      r.decide(stack_size_rule, unless_zero(asked.stack_size), stack_size_default),
      r.decide(policy_rule, asked_policy(asked), {usual.policy}),
      r.decide(binding_rule, asked.binding, bind::none),
      r.decide(stats_rule, asked.stats, false),
      r.decide(verbose_rule, asked.verbose, false),
      r.decide(seed_rule, asked.seed, clock_seed),
      r.decide(census_rule, asked.census, usual.census),
      cpus,
  };
  if (!r.complaint().empty()) {
    return r.complaint();
  }
  if (std::string sentence = contradiction(asked, resolved.policy.value); !sentence.empty()) {
    return sentence;
  }
  return resolved;
}

std::vector<std::string> explain(const resolved_options& resolved) {
  return {
      explain_workers(resolved),
      explain_one("stack size", stack_size_rule, resolved.stack_size, "default"),
      explain_one("stack policy", policy_rule, resolved.policy, "default"),
      explain_one("binding", binding_rule, resolved.binding, "default"),
      explain_one("seed", seed_rule, resolved.seed, "from the clock"),
  };
}

resolved_options resolve_or_die(const options& asked, const preset_defaults& usual) {
  const auto affinity = static_cast<unsigned>(affinity_cpus().size());
  auto outcome = resolve(
      asked, usual, [](const char* name) { return std::getenv(name); },
      available_cpus({"/", affinity}), seed_from_clock());
  if (const auto* const complaint = std::get_if<std::string>(&outcome)) {
    base::die("%s", complaint->c_str());
  }
  for (const std::string& warning : unknown_variables(environ)) {
    base::say("%s", warning.c_str());
  }
  auto& resolved = std::get<resolved_options>(outcome);
  if (resolved.verbose.value) {
    for (const std::string& line : explain(resolved)) {
      base::say("%s", line.c_str());
    }
  }
  return std::move(resolved);
}

} // namespace nopal::config

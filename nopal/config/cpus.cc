// SPDX-License-Identifier: MIT
// Reads the online list, the affinity mask, and the quotas of the cgroups around this process.
#include "nopal/config/cpus.h"

#include "nopal/config/environment.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>

namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::config {
namespace {

// Far above any kernel's limit; it keeps a damaged list or mask from costing memory.
constexpr int cpus_max = 1 << 20;

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos)
      return parts;
    text.remove_prefix(end + 1);
  }
}

enum class cgroup_kind : unsigned char { other, v1_cpu, v2 };

// What two files say in a line. /proc/self/cgroup: this process is in the cgroup `path` of a
// hierarchy. /proc/self/mountinfo: the folder `point` shows the cgroup `path` and all below it.
struct cgroup {
  cgroup_kind kind = cgroup_kind::other;
  std::string path;
  std::string point = {};
};

// Of the hierarchies of v1 only the one with the cpu controller has quotas.
cgroup_kind kind_of(bool v2, std::string_view v1_controllers) {
  const bool cpu = std::ranges::count(split(v1_controllers, ','), std::string_view("cpu")) != 0;
  return v2 ? cgroup_kind::v2 : cpu ? cgroup_kind::v1_cpu : cgroup_kind::other;
}

// The line is id:controllers:path, where the path may contain a colon.
std::optional<cgroup> parse_membership(std::string_view line) {
  const std::vector<std::string_view> fields = split(line, ':');
  if (fields.size() < 3 || !fields[2].starts_with('/'))
    return std::nullopt;
  return cgroup{kind_of(line.starts_with("0::"), fields[1]),
                std::string(fields[2].begin(), line.end())};
}

// Spaces, tabs, newlines and backslashes in mountinfo are written as three octal digits.
std::string unescaped(std::string_view field) {
  std::string text(field);
  for (std::size_t at = 0; (at = text.find('\\', at)) != text.npos; ++at) {
    const char* const digits = text.data() + at + 1;
    unsigned code = 0;
    if (text.size() - at > 3 && std::from_chars(digits, digits + 3, code, 8).ptr == digits + 3)
      text.replace(at, 4, 1, static_cast<char>(code));
  }
  return text;
}

// id parent major:minor root point options [optional fields] - type source super-options
std::optional<cgroup> parse_mount(std::string_view line) {
  const std::vector<std::string_view> fields = split(line, ' ');
  const auto dash = std::ranges::find(fields, std::string_view("-"));
  if (dash - fields.begin() < 6 || fields.end() - dash < 4)
    return std::nullopt;
  return cgroup{kind_of(dash[1] == "cgroup2", dash[1] == "cgroup" ? dash[3] : ""),
                unescaped(fields[3]), unescaped(fields[4])};
}

// The part of `path` below `root` ("" when they are equal), or nothing when the mount does not show
// `path`. A path that begins with ".." lies outside the cgroup namespace of this process.
std::optional<std::string> below(const std::string& path, const std::string& root) {
  const std::string shown = root == "/" ? "" : root;
  if (!(path + '/').starts_with(shown + '/'))
    return std::nullopt;
  const std::string rest = path == "/" ? "" : path.substr(shown.size());
  return (rest + '/').starts_with("/../") ? std::nullopt : std::optional(rest);
}

// Collects what the files say.
struct survey {
  const std::string& root;
  cpu_count quota = {0, ""}; // the tightest so far; 0: none found
  std::string ignored = {};  // what could not be used, and why, each behind "; ignored: "

  void ignore(const std::string& reason) { ignored += "; ignored: " + reason; }
  void ignore(const std::string& path, std::string_view text, const char* expected) {
    ignore(path + " holds " + in_quotes(text) + ", which is not " + expected);
  }

  // The text of `path`, which lies below `root`. Nothing if the file cannot be read; `ignored` then
  // says so, unless the file is absent and may be.
  std::optional<std::string> read(const std::string& path, bool may_be_absent = false) {
    file_text file = read_file(root + path);
    if (file.error == 0)
      return std::move(file.text);
    if (!may_be_absent || (file.error != ENOENT && file.error != ENOTDIR))
      ignore(path + " cannot be read (" + std::strerror(file.error) + ")");
    return std::nullopt;
  }

  unsigned online() {
    const char* const path = "/sys/devices/system/cpu/online";
    const std::optional<std::string> text = read(path);
    const auto cpus = text ? parse_cpu_list(*text) : std::nullopt;
    if (text && !cpus)
      ignore(path, *text, "a list of CPUs such as \"0-3,8\"");
    return cpus ? static_cast<unsigned>(cpus->size()) : 0;
  }

  std::vector<cgroup> read_lines(const char* path, std::optional<cgroup> (*parse)(std::string_view),
                                 const char* expected) {
    std::vector<cgroup> found;
    const std::string text = read(path).value_or("");
    if (text.empty())
      return found;
    for (const std::string_view line : split(text, '\n')) {
      std::optional<cgroup> parsed = parse(line);
      if (!parsed)
        ignore(path, line, expected);
      else if (parsed->kind != cgroup_kind::other)
        found.push_back(*std::move(parsed));
    }
    return found;
  }

  // The cgroup may use so many microseconds of processor time in each period, which is not 0.
  void apply_quota(const std::string& path, std::uint64_t microseconds, std::uint64_t period) {
    const bool exact = microseconds % period == 0;
    const std::uint64_t whole = microseconds / period + (exact ? 0 : 1);
    const auto cpus = static_cast<unsigned>(std::min<std::uint64_t>(whole, cpus_max));
    if (quota.count == 0 || cpus < quota.count)
      quota = {cpus, "cgroup quota " + std::to_string(microseconds) + "/" + std::to_string(period) +
                         " in " + path + (exact ? " allows " : " rounds up to ") +
                         std::to_string(cpus)};
  }

  // The file holds "quota period" in microseconds. Where it is absent there is no limit: the root
  // cgroup lacks it, and so does a cgroup without the controller.
  void read_v2_limit(const std::string& directory) {
    const std::string path = directory + "/cpu.max";
    const std::optional<std::string> text = read(path, true);
    if (!text)
      return;
    const std::vector<std::string_view> words = split(*text, ' ');
    const bool unlimited = words.front() == "max";
    const auto microseconds = parse_decimal(words.front()).value_or(0);
    const auto period = words.size() == 2 ? parse_decimal(words.back()).value_or(0) : 0;
    if (period == 0 || (!unlimited && microseconds == 0))
      ignore(path, *text, "a quota such as \"150000 100000\" or \"max 100000\"");
    else if (!unlimited)
      apply_quota(path, microseconds, period);
  }

  // Two files hold the same numbers; a quota of -1 is no limit.
  void read_v1_limit(const std::string& directory) {
    const std::string path = directory + "/cpu.cfs_quota_us";
    const std::string period_path = directory + "/cpu.cfs_period_us";
    const std::optional<std::string> text = read(path, true);
    if (!text || *text == "-1")
      return;
    const auto microseconds = parse_decimal(*text).value_or(0);
    if (microseconds == 0)
      return ignore(path, *text, "a number of microseconds or -1");
    const std::optional<std::string> period_text = read(period_path);
    if (!period_text)
      return;
    const auto period = parse_decimal(*period_text).value_or(0);
    if (period == 0)
      return ignore(period_path, *period_text, "a number of microseconds");
    apply_quota(path, microseconds, period);
  }

  // Reads the limit at mount.point + rest, and of each folder above it up to the mount.
  void read_limits_upwards(const cgroup& mount, const std::string& rest) {
    const std::string directory = mount.point + rest;
    mount.kind == cgroup_kind::v2 ? read_v2_limit(directory) : read_v1_limit(directory);
    if (!rest.empty())
      read_limits_upwards(mount, rest.substr(0, rest.rfind('/')));
  }

  void read_cgroups() {
    const auto members =
        read_lines("/proc/self/cgroup", parse_membership, "a line such as \"0::/path\"");
    const auto mounts = read_lines("/proc/self/mountinfo", parse_mount, "a description of a mount");
    for (const cgroup& member : members) {
      // Every kernel lists v2, used or not. Where v1 has the cpu controller, v2 can have no quota.
      bool seen = member.kind == cgroup_kind::v2 &&
                  std::ranges::count(members, cgroup_kind::v1_cpu, &cgroup::kind) != 0;
      for (const cgroup& mount : mounts) {
        const std::optional<std::string> rest = below(member.path, mount.path);
        if (mount.kind != member.kind || !rest)
          continue;
        seen = true;
        read_limits_upwards(mount, *rest);
      }
      if (!seen)
        ignore("no mount shows the cgroup " + member.path + ", so a quota of " +
               (member.kind == cgroup_kind::v2 ? "v2" : "the v1 cpu controller") +
               " cannot be seen");
    }
  }
};

} // namespace

cpu_count available_cpus(unsigned affinity, const std::string& root) {
  survey known{root};
  const unsigned online = known.online();
  known.read_cgroups();
  if (affinity == 0)
    known.ignore("the affinity mask cannot be read");

  // The first of equals wins.
  std::vector<cpu_count> limits = {
      {online, std::to_string(online) + (online == 1 ? " CPU online" : " CPUs online")},
      {affinity, "affinity mask allows " + std::to_string(affinity)},
      known.quota};
  std::erase_if(limits, [](const cpu_count& limit) { return limit.count == 0; });
  if (limits.empty())
    limits.push_back({1, "nothing tells how many CPUs there are"});
  const auto least = std::ranges::min_element(limits, {}, &cpu_count::count);
  cpu_count result = *least;
  limits.erase(least);
  // A quota is named before the mask, and the mask before the CPUs online.
  for (auto other = limits.rbegin(); other != limits.rend(); ++other)
    result.why += "; " + other->why;
  result.why += (known.quota.count == 0 ? "; no cgroup quota" : "") + known.ignored;
  return result;
}

std::vector<int> affinity_cpus(int (*get)(pid_t, std::size_t, cpu_set_t*)) {
  std::vector<int> cpus;
  // EINVAL: the mask is shorter than the kernel's own. After any other error no bit is set in it.
  for (int capacity = 1024; capacity <= cpus_max; capacity *= 2) {
    std::vector<cpu_set_t> mask(static_cast<std::size_t>(capacity) / CPU_SETSIZE);
    const std::size_t bytes = mask.size() * sizeof(cpu_set_t);
    if (get(0, bytes, mask.data()) != 0 && errno == EINVAL)
      continue;
    for (int cpu = 0; cpu < capacity; ++cpu)
      if (CPU_ISSET_S(static_cast<std::size_t>(cpu), bytes, mask.data()))
        cpus.push_back(cpu);
    break;
  }
  return cpus;
}

std::optional<std::vector<int>> parse_cpu_list(std::string_view text) {
  std::vector<int> cpus;
  for (const std::string_view range : split(text, ',')) {
    const std::size_t dash = range.find('-');
    const auto first = parse_decimal(range.substr(0, dash));
    const auto last = dash == range.npos ? first : parse_decimal(range.substr(dash + 1));
    if (!first || !last || *last < *first || *last >= cpus_max ||
        (!cpus.empty() && *first <= static_cast<std::uint64_t>(cpus.back())))
      return std::nullopt;
    for (std::uint64_t cpu = *first; cpu <= *last; ++cpu)
      cpus.push_back(static_cast<int>(cpu));
  }
  return cpus;
}

} // namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::config

// SPDX-License-Identifier: MIT
// Reads the online list, the affinity mask and every cgroup quota above this process.
#include "nopal/config/cpus.h"

#include "nopal/config/environment.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>

namespace nopal::config {
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

// A line of /proc/self/cgroup: this process is in the cgroup `path` of a hierarchy. Or a line of
// /proc/self/mountinfo: what is below `path` of a hierarchy is seen at `point`.
struct cgroup {
  cgroup_kind kind = cgroup_kind::other;
  std::string path;
  std::string point = {};
};

bool names_cpu(std::string_view comma_list) {
  return std::ranges::count(split(comma_list, ','), std::string_view("cpu")) != 0;
}

// id:controllers:path
std::optional<cgroup> parse_membership(std::string_view line) {
  const std::size_t first = line.find(':');
  const std::size_t second = first == line.npos ? line.npos : line.find(':', first + 1);
  if (second == line.npos || !line.substr(second + 1).starts_with('/'))
    return std::nullopt;
  const std::string_view controllers = line.substr(first + 1, second - first - 1);
  return cgroup{line.starts_with("0::")  ? cgroup_kind::v2
                : names_cpu(controllers) ? cgroup_kind::v1_cpu
                                         : cgroup_kind::other,
                std::string(line.substr(second + 1))};
}

// Spaces, tabs, newlines and backslashes in mountinfo are written as three octal digits.
std::string unescaped(std::string_view field) {
  std::string result;
  for (std::size_t i = 0; i < field.size(); ++i) {
    const char* const at = field.data() + i;
    unsigned code = 0;
    const bool escaped = *at == '\\' && i + 3 < field.size() &&
                         std::from_chars(at + 1, at + 4, code, 8).ptr == at + 4;
    result += escaped ? static_cast<char>(code) : *at;
    i += escaped ? 3 : 0;
  }
  return result;
}

// id parent major:minor root point options [optional fields] - type source super-options
std::optional<cgroup> parse_mount(std::string_view line) {
  const std::vector<std::string_view> fields = split(line, ' ');
  const auto dash = std::ranges::find(fields, std::string_view("-"));
  if (dash - fields.begin() < 6 || fields.end() - dash < 4)
    return std::nullopt;
  return cgroup{dash[1] == "cgroup2"                        ? cgroup_kind::v2
                : dash[1] == "cgroup" && names_cpu(dash[3]) ? cgroup_kind::v1_cpu
                                                            : cgroup_kind::other,
                unescaped(fields[3]), unescaped(fields[4])};
}

// The part of `path` below `root` ("" when they are equal), or nothing when the mount does not show
// `path`. A path that begins with ".." lies outside the cgroup namespace of this process.
std::optional<std::string> below(const std::string& path, const std::string& root) {
  const std::string shown = root == "/" ? "" : root;
  if (!path.starts_with(shown))
    return std::nullopt;
  const std::string rest = path == "/" ? "" : path.substr(shown.size());
  if ((!rest.empty() && rest.front() != '/') || (rest + '/').starts_with("/../"))
    return std::nullopt;
  return rest;
}

// What is known so far.
class survey {
public:
  explicit survey(const std::string& root) : root_(root) {}

  unsigned online();
  void read_cgroups();

  unsigned quota = 0; // 0: no quota found
  std::string quota_text;
  std::vector<std::string> ignored;

private:
  // Without its last newline. Nothing when it cannot be read, which is said unless it may be
  // absent and is.
  std::optional<std::string> read(const std::string& path, bool may_be_absent = false) {
    file_text file = read_file(root_, path);
    if (file.error != 0) {
      if (!may_be_absent || (file.error != ENOENT && file.error != ENOTDIR))
        ignored.push_back(path + " cannot be read (" + std::strerror(file.error) + ")");
      return std::nullopt;
    }
    if (file.text.ends_with('\n'))
      file.text.pop_back();
    return std::move(file.text);
  }
  void ignore(const std::string& path, std::string_view text, const char* expected) {
    ignored.push_back(path + " holds " + in_quotes(text) + ", which is not " + expected);
  }
  std::vector<cgroup> read_lines(const char* path, std::optional<cgroup> (*parse)(std::string_view),
                                 const char* expected);
  void read_v1_limit(const std::string& directory);
  void read_v2_limit(const std::string& directory);
  void read_limits_upwards(const cgroup& mount, std::string rest);
  void apply_quota(const std::string& path, std::uint64_t microseconds, std::uint64_t period);

  const std::string& root_;
};

unsigned survey::online() {
  const char* const path = "/sys/devices/system/cpu/online";
  const std::optional<std::string> text = read(path);
  const auto cpus = text ? parse_cpu_list(*text) : std::nullopt;
  if (text && !cpus)
    ignore(path, *text, "a list of CPUs such as \"0-3,8\"");
  return cpus ? static_cast<unsigned>(cpus->size()) : 0;
}

std::vector<cgroup> survey::read_lines(const char* path,
                                       std::optional<cgroup> (*parse)(std::string_view),
                                       const char* expected) {
  std::vector<cgroup> found;
  const std::string text = read(path).value_or("");
  if (text.empty())
    return found;
  for (const std::string_view line : split(text, '\n')) {
    std::optional<cgroup> one = parse(line);
    if (!one)
      ignore(path, line, expected);
    else if (one->kind != cgroup_kind::other)
      found.push_back(*std::move(one));
  }
  return found;
}

void survey::apply_quota(const std::string& path, std::uint64_t microseconds,
                         std::uint64_t period) {
  const bool exact = microseconds % period == 0;
  const std::uint64_t whole = microseconds / period + (exact ? 0 : 1);
  const auto cpus = static_cast<unsigned>(std::min<std::uint64_t>(whole, cpus_max));
  if (quota != 0 && quota <= cpus)
    return;
  quota = cpus;
  quota_text = "cgroup quota " + std::to_string(microseconds) + "/" + std::to_string(period) +
               " in " + path + (exact ? " allows " : " rounds up to ") + std::to_string(cpus);
}

// A cgroup without the controller lacks the file, and so does the root cgroup: that means "no limit
// here".
void survey::read_v2_limit(const std::string& directory) {
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

void survey::read_v1_limit(const std::string& directory) {
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

void survey::read_limits_upwards(const cgroup& mount, std::string rest) {
  for (;; rest.resize(rest.rfind('/'))) {
    if (mount.kind == cgroup_kind::v2)
      read_v2_limit(mount.point + rest);
    else
      read_v1_limit(mount.point + rest);
    if (rest.empty())
      return;
  }
}

void survey::read_cgroups() {
  const auto members =
      read_lines("/proc/self/cgroup", parse_membership, "a line such as \"0::/path\"");
  const auto mounts = read_lines("/proc/self/mountinfo", parse_mount, "a description of a mount");
  for (const cgroup& member : members) {
    // Every kernel lists v2, used or not: where the cpu controller belongs to v1, an unmounted v2
    // hides no quota.
    bool seen = member.kind == cgroup_kind::v2 &&
                std::ranges::count(members, cgroup_kind::v1_cpu, &cgroup::kind) != 0;
    for (const cgroup& mount : mounts) {
      std::optional<std::string> rest = below(member.path, mount.path);
      if (mount.kind != member.kind || !rest)
        continue;
      seen = true;
      read_limits_upwards(mount, *std::move(rest));
    }
    if (!seen)
      ignored.push_back("no mount shows the cgroup " + member.path + ", so a quota of " +
                        (member.kind == cgroup_kind::v2 ? "v2" : "the v1 cpu controller") +
                        " cannot be seen");
  }
}

} // namespace

cpu_count available_cpus(unsigned affinity, const std::string& root) {
  survey known{root};
  const unsigned online = known.online();
  known.read_cgroups();
  if (affinity == 0)
    known.ignored.push_back("the affinity mask cannot be read");

  // The first of equals wins.
  std::vector<std::pair<unsigned, std::string>> limits = {
      {online, std::to_string(online) + (online == 1 ? " CPU online" : " CPUs online")},
      {affinity, "affinity mask allows " + std::to_string(affinity)},
      {known.quota, known.quota_text}};
  std::erase_if(limits, [](const auto& limit) { return limit.first == 0; });
  cpu_count result{1, "nothing tells how many CPUs there are"};
  if (!limits.empty()) {
    const auto least =
        std::ranges::min_element(limits, {}, [](const auto& limit) { return limit.first; });
    result = {least->first, std::move(least->second)};
    limits.erase(least);
    // From the tightest kind to the loosest.
    for (auto other = limits.rbegin(); other != limits.rend(); ++other)
      result.why += "; " + other->second;
  }
  result.why += known.quota == 0 ? "; no cgroup quota" : "";
  for (const std::string& reason : known.ignored)
    result.why += "; ignored: " + reason;
  return result;
}

std::vector<int> affinity_cpus(int (*get)(pid_t, std::size_t, cpu_set_t*)) {
  std::vector<int> cpus;
  // The kernel refuses a mask shorter than its own with EINVAL.
  for (int capacity = 1024; capacity <= cpus_max; capacity *= 2) {
    std::vector<cpu_set_t> mask(static_cast<std::size_t>(capacity) / CPU_SETSIZE);
    const std::size_t bytes = mask.size() * sizeof(cpu_set_t);
    if (get(0, bytes, mask.data()) == 0) {
      for (int cpu = 0; cpu < capacity; ++cpu)
        if (CPU_ISSET_S(static_cast<std::size_t>(cpu), bytes, mask.data()))
          cpus.push_back(cpu);
      break;
    }
    if (errno != EINVAL)
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

} // namespace nopal::config

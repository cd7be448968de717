// SPDX-License-Identifier: MIT
// Reads the online list, the affinity mask and every cgroup quota above this process.
#include "nopal/config/cpus.h"

#include "nopal/config/environment.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>

namespace nopal::config {
namespace {

constexpr const char* online_path = "/sys/devices/system/cpu/online";
constexpr const char* membership_path = "/proc/self/cgroup";
constexpr const char* mounts_path = "/proc/self/mountinfo";

// Far above any kernel's limit; it keeps a damaged list or mask from costing memory.
constexpr int cpus_max = 1 << 20;

enum class cgroup_kind : unsigned char { other, v1_cpu, v2 };

// One line of /proc/self/cgroup: the cgroup of this process in one hierarchy.
struct membership {
  cgroup_kind kind = cgroup_kind::other;
  std::string path;
};

// One line of /proc/self/mountinfo: the part of a hierarchy below `root` is seen at `point`.
struct mount {
  cgroup_kind kind = cgroup_kind::other;
  std::string root;
  std::string point;
};

// What is known so far.
struct survey {
  const std::string& root;
  unsigned quota = 0; // 0: no quota found
  std::string quota_text;
  std::vector<std::string> ignored;
};

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) {
      return parts;
    }
    text.remove_prefix(end + 1);
  }
}

std::string_view without_newline(std::string_view text) {
  if (text.ends_with('\n')) {
    text.remove_suffix(1);
  }
  return text;
}

void ignore_unreadable(survey& known, const std::string& path, int error) {
  known.ignored.push_back(path + " cannot be read (" + std::strerror(error) + ")");
}

void ignore_malformed(survey& known, const std::string& path, std::string_view text,
                      const char* expected) {
  known.ignored.push_back(path + " holds " + in_quotes(text) + ", which is not " + expected);
}

std::vector<std::string_view> lines_of(std::string_view text) {
  return text.empty() ? std::vector<std::string_view>{} : split(without_newline(text), '\n');
}

std::optional<std::string> read_required(survey& known, const char* path) {
  file_text file = read_file(known.root, path);
  if (file.error != 0) {
    ignore_unreadable(known, path, file.error);
    return std::nullopt;
  }
  return std::move(file.text);
}

// A cgroup without the controller lacks the file, and so does the root cgroup: that means "no limit
// here".
std::optional<std::string> read_limit_file(survey& known, const std::string& path) {
  file_text file = read_file(known.root, path);
  if (file.error == ENOENT || file.error == ENOTDIR) {
    return std::nullopt;
  }
  if (file.error != 0) {
    ignore_unreadable(known, path, file.error);
    return std::nullopt;
  }
  return std::string(without_newline(file.text));
}

// Spaces, tabs, newlines and backslashes in mountinfo are written as three octal digits.
std::string unescaped(std::string_view field) {
  const auto octal = [](char c) { return c >= '0' && c <= '7'; };
  std::string result;
  for (std::size_t i = 0; i < field.size(); ++i) {
    if (field[i] == '\\' && i + 3 < field.size() && octal(field[i + 1]) && octal(field[i + 2]) &&
        octal(field[i + 3])) {
      result += static_cast<char>((field[i + 1] - '0') * 64 + (field[i + 2] - '0') * 8 +
                                  (field[i + 3] - '0'));
      i += 3;
    } else {
      result += field[i];
    }
  }
  return result;
}

bool names_cpu(std::string_view comma_list) {
  return std::ranges::count(split(comma_list, ','), std::string_view("cpu")) != 0;
}

std::optional<membership> parse_membership(std::string_view line) {
  const std::size_t first = line.find(':');
  const std::size_t second = first == line.npos ? line.npos : line.find(':', first + 1);
  if (second == line.npos || !line.substr(second + 1).starts_with('/')) {
    return std::nullopt;
  }
  const std::string_view id = line.substr(0, first);
  const std::string_view controllers = line.substr(first + 1, second - first - 1);
  membership result;
  if (id == "0" && controllers.empty()) {
    result.kind = cgroup_kind::v2;
  } else if (names_cpu(controllers)) {
    result.kind = cgroup_kind::v1_cpu;
  }
  result.path = line.substr(second + 1);
  return result;
}

// id parent major:minor root point options [optional fields] - type source super-options
std::optional<mount> parse_mount(std::string_view line) {
  const std::vector<std::string_view> fields = split(line, ' ');
  const auto dash = std::ranges::find(fields, std::string_view("-"));
  if (dash - fields.begin() < 6 || fields.end() - dash < 4) {
    return std::nullopt;
  }
  mount result;
  if (dash[1] == "cgroup2") {
    result.kind = cgroup_kind::v2;
  } else if (dash[1] == "cgroup" && names_cpu(dash[3])) {
    result.kind = cgroup_kind::v1_cpu;
  }
  result.root = unescaped(fields[3]);
  result.point = unescaped(fields[4]);
  return result;
}

template <class Item>
std::vector<Item> read_lines(survey& known, const char* path,
                             std::optional<Item> (*parse)(std::string_view), const char* expected) {
  std::vector<Item> items;
  const std::optional<std::string> text = read_required(known, path);
  for (const std::string_view line : lines_of(text ? std::string_view(*text) : "")) {
    std::optional<Item> item = parse(line);
    if (!item) {
      ignore_malformed(known, path, line, expected);
    } else if (item->kind != cgroup_kind::other) {
      items.push_back(*std::move(item));
    }
  }
  return items;
}

// The part of `path` below `root` ("" when they are equal), or nothing when the mount does not show
// `path`. A path that begins with ".." lies outside the cgroup namespace of this process.
std::optional<std::string> below(const std::string& path, const std::string& root) {
  std::string rest = path == "/" ? "" : path;
  if (root != "/") {
    if (!rest.starts_with(root)) {
      return std::nullopt;
    }
    rest.erase(0, root.size());
  }
  if ((!rest.empty() && rest.front() != '/') || rest == "/.." || rest.starts_with("/../")) {
    return std::nullopt;
  }
  return rest;
}

void apply_quota(survey& known, const std::string& path, std::uint64_t quota,
                 std::uint64_t period) {
  const std::uint64_t whole = quota / period + (quota % period != 0 ? 1 : 0);
  const auto cpus = static_cast<unsigned>(std::min<std::uint64_t>(whole, cpus_max));
  if (known.quota != 0 && known.quota <= cpus) {
    return;
  }
  known.quota = cpus;
  known.quota_text = "cgroup quota " + std::to_string(quota) + "/" + std::to_string(period) +
                     " in " + path + (quota % period != 0 ? " rounds up to " : " allows ") +
                     std::to_string(cpus);
}

void read_v2_limit(survey& known, const std::string& directory) {
  const std::string path = directory + "/cpu.max";
  const std::optional<std::string> text = read_limit_file(known, path);
  if (!text) {
    return;
  }
  const std::vector<std::string_view> words = split(*text, ' ');
  const bool unlimited = words.front() == "max";
  const auto quota = parse_decimal(words.front());
  const auto period = words.size() == 2 ? parse_decimal(words.back()) : std::nullopt;
  if (period.value_or(0) == 0 || (!unlimited && quota.value_or(0) == 0)) {
    ignore_malformed(known, path, *text, "a quota such as \"150000 100000\" or \"max 100000\"");
  } else if (!unlimited) {
    apply_quota(known, path, *quota, *period);
  }
}

void read_v1_limit(survey& known, const std::string& directory) {
  const std::string quota_path = directory + "/cpu.cfs_quota_us";
  const std::string period_path = directory + "/cpu.cfs_period_us";
  const std::optional<std::string> quota_text = read_limit_file(known, quota_path);
  if (!quota_text || *quota_text == "-1") {
    return;
  }
  const auto quota = parse_decimal(*quota_text);
  if (quota.value_or(0) == 0) {
    ignore_malformed(known, quota_path, *quota_text, "a number of microseconds or -1");
    return;
  }
  const file_text period_file = read_file(known.root, period_path);
  const auto period = parse_decimal(without_newline(period_file.text));
  if (period_file.error != 0) {
    ignore_unreadable(known, period_path, period_file.error);
  } else if (period.value_or(0) == 0) {
    ignore_malformed(known, period_path, without_newline(period_file.text),
                     "a number of microseconds");
  } else {
    apply_quota(known, quota_path, *quota, *period);
  }
}

void read_limits_upwards(survey& known, const mount& where, std::string rest) {
  for (;;) {
    const std::string directory = where.point + rest;
    if (where.kind == cgroup_kind::v2) {
      read_v2_limit(known, directory);
    } else {
      read_v1_limit(known, directory);
    }
    if (rest.empty()) {
      return;
    }
    rest.resize(rest.rfind('/'));
  }
}

void read_cgroups(survey& known) {
  const auto memberships =
      read_lines(known, membership_path, parse_membership, "a line such as \"0::/path\"");
  const auto mounts = read_lines(known, mounts_path, parse_mount, "a description of a mount");
  for (const membership& member : memberships) {
    // Every kernel lists v2, used or not: where the cpu controller belongs to v1, an unmounted v2
    // hides no quota.
    bool seen = member.kind == cgroup_kind::v2 &&
                std::ranges::count(memberships, cgroup_kind::v1_cpu, &membership::kind) != 0;
    for (const mount& where : mounts) {
      if (where.kind != member.kind) {
        continue;
      }
      if (std::optional<std::string> rest = below(member.path, where.root)) {
        seen = true;
        read_limits_upwards(known, where, *std::move(rest));
      }
    }
    if (!seen) {
      known.ignored.push_back("no mount shows the cgroup " + member.path + ", so a quota of " +
                              (member.kind == cgroup_kind::v2 ? "v2" : "the v1 cpu controller") +
                              " cannot be seen");
    }
  }
}

unsigned read_online(survey& known) {
  const std::optional<std::string> text = read_required(known, online_path);
  if (!text) {
    return 0;
  }
  const auto cpus = parse_cpu_list(without_newline(*text));
  if (!cpus) {
    ignore_malformed(known, online_path, without_newline(*text),
                     "a list of CPUs such as \"0-3,8\"");
    return 0;
  }
  return static_cast<unsigned>(cpus->size());
}

} // namespace

cpu_count available_cpus(const cpu_sources& sources) {
  survey known{sources.root, 0, "", {}};
  const unsigned online = read_online(known);
  read_cgroups(known);

  struct candidate {
    cpu_limit limit;
    unsigned count;
    std::string text;
  };
  std::vector<candidate> candidates;
  if (online != 0) {
    candidates.push_back({cpu_limit::online, online,
                          std::to_string(online) + (online == 1 ? " CPU online" : " CPUs online")});
  }
  if (sources.affinity != 0) {
    candidates.push_back({cpu_limit::affinity, sources.affinity,
                          "affinity mask allows " + std::to_string(sources.affinity)});
  } else {
    known.ignored.push_back("the affinity mask cannot be read");
  }
  if (known.quota != 0) {
    candidates.push_back({cpu_limit::quota, known.quota, known.quota_text});
  }

  cpu_count result;
  if (candidates.empty()) {
    result.why = "nothing tells how many CPUs there are";
  } else {
    // The first of equals wins and leads; the others follow from the tightest kind to the loosest.
    const auto winner = std::ranges::min_element(candidates, {}, &candidate::count);
    result = {winner->count, winner->limit, winner->text};
    for (auto other = candidates.rbegin(); other != candidates.rend(); ++other) {
      result.why += other->limit == result.winner ? "" : "; " + other->text;
    }
  }
  if (known.quota == 0) {
    result.why += "; no cgroup quota";
  }
  for (const std::string& reason : known.ignored) {
    result.why += "; ignored: " + reason;
  }
  return result;
}

std::vector<int> affinity_cpus(int (*get)(pid_t, std::size_t, cpu_set_t*)) {
  std::vector<int> cpus;
  // The kernel refuses a mask shorter than its own with EINVAL.
  for (std::size_t capacity = 1024; capacity <= cpus_max; capacity *= 2) {
    std::vector<cpu_set_t> mask(capacity / CPU_SETSIZE);
    const std::size_t bytes = mask.size() * sizeof(cpu_set_t);
    if (get(0, bytes, mask.data()) == 0) {
      for (std::size_t cpu = 0; cpu < capacity; ++cpu) {
        if (CPU_ISSET_S(cpu, bytes, mask.data())) {
          cpus.push_back(static_cast<int>(cpu));
        }
      }
      return cpus;
    }
    if (errno != EINVAL) {
      break;
    }
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
        (!cpus.empty() && *first <= static_cast<std::uint64_t>(cpus.back()))) {
      return std::nullopt;
    }
    for (std::uint64_t cpu = *first; cpu <= *last; ++cpu) {
      cpus.push_back(static_cast<int>(cpu));
    }
  }
  return cpus;
}

} // namespace nopal::config

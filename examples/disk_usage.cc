// SPDX-License-Identifier: MIT
// disk_usage DIR: the KiB on disk of a directory and all below it, as `du -s` prints them, with a
// fork for each directory. Symbolic links are not followed; a file with several names counts once.
// If something cannot be read, a child throws, and the join throws that exception again.
#include "shared/command_line.h"

#include <nopal/fork.h>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <cstdint>
#include <mutex>
#include <numeric>
#include <set>
#include <vector>

namespace {

// Whether this file, which has several names, is seen for the first time.
bool is_new(const struct stat& file) {
  static std::mutex lock;
  static std::set<std::pair<dev_t, ino_t>> seen;
  const std::scoped_lock guard{lock};
  return seen.emplace(file.st_dev, file.st_ino).second;
}

struct listing {
  std::int64_t blocks = 0;              // of 512 bytes, for all that was added
  std::vector<std::string> directories; // their paths, with a slash at the end

  // Adds `name` in the directory `fd`, from where the kernel finds it without walking `parent`.
  void add(int fd, const std::string& parent, const char* name) {
    struct stat file;
    if (fstatat(fd, name, &file, AT_SYMLINK_NOFOLLOW) != 0)
      throw_errno("cannot read '" + parent + name + "'");
    if (S_ISDIR(file.st_mode))
      directories.push_back(parent + name + '/');
    if (S_ISDIR(file.st_mode) || file.st_nlink == 1 || is_new(file))
      blocks += file.st_blocks;
  }
};

listing list(const std::string& path) {
  const std::unique_ptr<DIR, int (*)(DIR*)> directory{opendir(path.c_str()), closedir};
  if (directory == nullptr)
    throw_errno("cannot read '" + path + "'");
  listing found;
  for (errno = 0; const dirent* const entry = readdir(directory.get()); errno = 0) {
    if (const std::string_view name = entry->d_name; name != "." && name != "..")
      found.add(dirfd(directory.get()), path, entry->d_name);
  }
  if (errno != 0)
    throw_errno("cannot read '" + path + "'");
  return found; // the directory is closed: no descriptor is held across a fork
}

std::int64_t blocks_of(const listing& directory) {
  std::vector<std::int64_t> below(directory.directories.size());
  nopal::scope s;
  for (std::size_t i = 0; i < below.size(); ++i)
    s.fork([&, i] { below[i] = blocks_of(list(directory.directories[i])); });
  s.join();
  return std::accumulate(below.begin(), below.end(), directory.blocks);
}

} // namespace

int main(int argc, char** argv) {
  command_line line{"Prints the disk space below a directory, in KiB, as du -s does."};
  std::string path;
  line.text("DIR", path, "a directory");
  return line.run(argc, argv, [&] {
    listing top;
    top.add(AT_FDCWD, "", path.c_str());
    std::printf("%lld\t%s\n", static_cast<long long>(blocks_of(top) + 1) / 2, path.c_str());
  });
}

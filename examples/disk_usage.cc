// SPDX-License-Identifier: MIT
//
// disk_usage DIR: the disk space that a directory and all below it take, in KiB, as `du -s` prints
// it, with a fork for each directory. Symbolic links are not followed, and a file with several
// names counts once. What cannot be read ends the program: the exception leaves the child and comes
// out of the join.
#include "command_line.h"

#include <nopal/fork.h>

#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <mutex>
#include <numeric>
#include <set>
#include <vector>

namespace {

// The files with several names that have been counted.
class linked_files {
public:
  bool insert(const struct stat& file) {
    const std::scoped_lock guard{lock_};
    return seen_.emplace(file.st_dev, file.st_ino).second;
  }

private:
  std::mutex lock_;
  std::set<std::pair<dev_t, ino_t>> seen_;
};

struct listing {
  std::int64_t blocks = 0; // of 512 bytes, of all that was added
  std::vector<std::string> directories;

  void add(const std::string& path, linked_files& linked) {
    struct stat is;
    if (lstat(path.c_str(), &is) != 0)
      throw_errno("cannot read '" + path + "'");
    if (S_ISDIR(is.st_mode))
      directories.push_back(path);
    if (S_ISDIR(is.st_mode) || is.st_nlink == 1 || linked.insert(is))
      blocks += is.st_blocks;
  }
};

listing list(const std::string& path, linked_files& linked) {
  listing found;
  for (const auto& entry : std::filesystem::directory_iterator(path))
    found.add(entry.path(), linked);
  return found; // the directory is closed: no descriptor is held across a fork
}

std::int64_t blocks_of(const listing& here, linked_files& linked) {
  std::vector<std::int64_t> below(here.directories.size());
  nopal::scope s;
  for (std::size_t i = 0; i < below.size(); ++i)
    s.fork([&, i] { below[i] = blocks_of(list(here.directories[i], linked), linked); });
  s.join();
  return std::accumulate(below.begin(), below.end(), here.blocks);
}

} // namespace

int main(int argc, char** argv) {
  CLI::App app{"Prints the disk space below a directory, in KiB, as du -s does."};
  std::string path;
  app.add_option("DIR", path, "a directory")->required();
  return run_program(app, argc, argv, [&] {
    listing top;
    linked_files linked;
    top.add(path, linked);
    std::printf("%lld\t%s\n", static_cast<long long>(blocks_of(top, linked) + 1) / 2, path.c_str());
  });
}

// SPDX-License-Identifier: MIT
// A Matrix Market file for the time of a test.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <string>

namespace bench {

class written_file {
public:
  explicit written_file(const std::string& text)
      : path_(testing::TempDir() + "matrix_" + std::to_string(getpid()) + ".mtx") {
    std::ofstream(path_) << text;
  }
  ~written_file() { unlink(path_.c_str()); }
  written_file(const written_file&) = delete;
  written_file& operator=(const written_file&) = delete;
  const std::string& path() const { return path_; }

private:
  std::string path_;
};

} // namespace bench

// SPDX-License-Identifier: MIT
// A backend for OpenCV's parallel loops: a library that OpenCV loads when the program begins.
//
//     OPENCV_CORE_PLUGIN_PATH=build/clients OPENCV_PARALLEL_PRIORITY_LIST=NOPAL ./program
//
// OpenCV calls parallel_for on any thread, and not again from within a body. Bodies stay on their
// thread, and throw nothing: OpenCV keeps their exceptions. The call is affine, since OpenCV and
// its callers hold locks and thread-local variables across it.
#include "nopal/affine.h"
#include "nopal/arena.h"
#include "nopal/for_range.h"
#include "nopal/per_worker.h"
#include "nopal/runtime.h"

#include <opencv2/core/parallel/parallel_backend.hpp>
#include <opencv2/core/version.hpp>

#include <algorithm>
#include <cstddef>

namespace {

class backend final : public cv::parallel::ParallelForAPI {
public:
  void parallel_for(int tasks, FN_parallel_for_body_cb_t body, void* data) override {
    const auto loop = [=] { nopal::for_index(0, tasks, [=](int i) { body(i, i + 1, data); }); };
    if (threads_ < nopal::num_workers())
      nopal::arena{threads_}.run(loop);
    else
      nopal::affine(loop);
  }

  int getThreadNum() const override { return static_cast<int>(nopal::worker_index()); }
  int getNumThreads() const override { return static_cast<int>(threads_); }

  // 0 and 1: OpenCV calls no backend then.
  int setNumThreads(int wanted) override {
    const int before = getNumThreads();
    const unsigned all = nopal::num_workers();
    threads_ = wanted > 0 ? std::min(static_cast<unsigned>(wanted), all) : all;
    return before;
  }

  const char* getName() const override { return "nopal"; }

private:
  unsigned threads_ = nopal::num_workers();
};

// What OpenCV's plugin API of version 0 (ABI 0) asks of a library, in OpenCV's order.
struct plugin {
  std::size_t size;
  unsigned abi;
  unsigned api;
  unsigned opencv_major;
  unsigned opencv_minor;
  unsigned opencv_patch;
  const char* opencv_status;
  const char* description;
  int (*get_backend)(cv::parallel::ParallelForAPI** found) noexcept; // 0: found
};

int get_backend(cv::parallel::ParallelForAPI** found) noexcept {
  static backend only; // OpenCV never unloads the library
  *found = &only;
  return 0;
}

constexpr plugin ours{
    sizeof(plugin),    0,       0,          CV_VERSION_MAJOR, CV_VERSION_MINOR, CV_VERSION_REVISION,
    CV_VERSION_STATUS, "Nopal", get_backend};

} // namespace

extern "C" [[gnu::visibility("default")]] const void*
opencv_core_parallel_plugin_init_v0(int abi, int api, void*) noexcept {
  return abi == 0 && api == 0 ? &ours : nullptr;
}

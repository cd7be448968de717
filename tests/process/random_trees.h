// SPDX-License-Identifier: MIT
// Random programs of tasks, and what they compute: over processes, and one call after the other.
//
// A seed decides how many children a task has, which of them are spawned, when each is joined, by
// whom, what it throws, and how large its frame is.
#pragma once

#include "tests/process/processes.h"

#include <cstdint>
#include <stdexcept>

namespace nopal_test {

// SplitMix64.
class generator {
public:
  explicit generator(std::uint64_t seed) noexcept : state_{seed} {}
  std::uint64_t next() noexcept {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  unsigned below(unsigned limit) noexcept { return static_cast<unsigned>(next() % limit); }

private:
  std::uint64_t state_;
};

struct on_processes {
  using task = process::task<std::uint64_t>;
  template <class F, class... Args> static task begin(F f, Args... args) {
    return process::spawn(f, args...);
  }
  static std::uint64_t end(task& child) { return process::join(child); }
};

// The same, where a task is what it has come to.
struct one_by_one {
  struct task {
    std::uint64_t result;
    bool thrown;
  };
  template <class F, class... Args> static task begin(F f, Args... args) {
    try {
      return {f(args...), false};
    } catch (const std::exception&) {
      return {0, true};
    }
  }
  static std::uint64_t end(task& child) {
    if (child.thrown)
      throw std::runtime_error("remote");
    return child.result;
  }
};

inline std::uint64_t mixed(std::uint64_t a, std::uint64_t b) noexcept {
  return generator{a * 31 + b}.next();
}

template <class How> std::uint64_t random_tree(std::uint64_t seed, int depth);

template <class How> std::uint64_t joined(typename How::task child, std::uint64_t seed) {
  return mixed(How::end(child), seed);
}

template <class How, int Words>
[[gnu::noinline]] std::uint64_t with_frame(std::uint64_t seed, int depth) {
  constexpr unsigned most = 4;
  std::uint64_t frame[Words];
  generator random{seed};
  for (auto& each : frame)
    each = random.next();
  std::optional<typename How::task> open[most];
  std::uint64_t result = seed;
  const unsigned steps = depth == 0 ? 0 : 1 + random.below(6);
  for (unsigned i = 0; i < steps; ++i) {
    const unsigned what = random.below(8);
    const std::uint64_t next = random.next();
    std::optional<typename How::task>& place = open[random.below(most)];
    if (what < 4 && !place)
      place = How::begin(random_tree<How>, next, depth - 1);
    else if (what == 4 && place)
      place = How::begin(joined<How>, *place, next);
    else if (what == 5)
      result = mixed(result, random_tree<How>(next, depth - 1));
    else if (place) {
      result = mixed(result, How::end(*place));
      place.reset();
    }
  }
  for (const auto each : frame)
    result = mixed(result, each);
  if (random.below(16) == 0)
    throw std::runtime_error("a tree"); // and what is open is not joined
  for (auto& each : open)
    if (each)
      result = mixed(result, How::end(*each));
  return result;
}

template <class How> std::uint64_t random_tree(std::uint64_t seed, int depth) {
  try {
    switch (seed % 8) {
    case 0:
      return with_frame<How, 200>(seed, depth);
    case 1:
      return with_frame<How, 20>(seed, depth);
    default:
      return with_frame<How, 1>(seed, depth);
    }
  } catch (const std::exception&) {
    if (seed % 3 == 0)
      throw;
    return seed / 3;
  }
}

template <class How> std::uint64_t whole_tree(std::uint64_t seed, int depth) {
  try {
    return random_tree<How>(seed, depth);
  } catch (const std::exception&) {
    return 1;
  }
}

struct tree_board {
  std::atomic<int> wrong{0};
  std::atomic<std::uint64_t> wrong_seed{0}; // the last of them
};

// Says which of so many seeds from `first` came to something else than one by one; "" if none.
inline std::string wrong_seeds(const process::options& wanted, std::uint64_t first, int number) {
  const shared<tree_board> board;
  const ended got = apart([&] {
    process::session session{0, nullptr, wanted};
    for (std::uint64_t seed = first; seed < first + static_cast<unsigned>(number); ++seed) {
      const int depth = 3 + static_cast<int>(seed % 6);
      const std::uint64_t right = whole_tree<one_by_one>(seed, depth);
      if (session.run(whole_tree<on_processes>, seed, depth) != right) {
        ++board->wrong;
        board->wrong_seed = seed;
      }
    }
  });
  if (got.status == 0 && board->wrong == 0)
    return "";
  return std::to_string(board->wrong) + " wrong, the last of them " +
         std::to_string(board->wrong_seed) + ", status " + std::to_string(got.status) + ": " +
         got.said;
}

} // namespace nopal_test

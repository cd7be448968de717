// SPDX-License-Identifier: MIT
// Random programs of forks. The same text computes each program twice: with Nopal, and with calls
// in place of forks. A program is a tree that its seed decides; it computes a number or throws it.
#pragma once

#include "nopal/cancel.h"
#include "nopal/loop.h"
#include "tests/api/first_seed.h"

#include <cstdint>
#include <functional>
#include <thread>
#include <tuple>

namespace nopal_test {

struct thrown {
  std::uint64_t number;
};

inline std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
  std::uint64_t x = a * 0x9e3779b97f4a7c15u + b + 0x632be59bd9b4e019u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  return (x ^ (x >> 27)) * 0x94d049bb133111ebu;
}

// x -> scale * x + shift: composing is associative and does not commute.
struct affine {
  std::uint64_t scale = 1;
  std::uint64_t shift = 0;
};
inline affine then(affine first, affine second) {
  return {first.scale * second.scale, first.shift * second.scale + second.shift};
}

// The two ways to run a program.
struct with_forks {
  using scope = nopal::scope;
  template <class F, class G> static auto both(F f, G g) { return nopal::invoke(f, g); }
  template <class Map> static affine fold(int count, const Map& map) {
    return nopal::reduce(0, count, affine{}, then, map, 2);
  }
  template <class F> static void elsewhere(F f) { std::thread(f).join(); }
  template <class F> static void shielded(F f) { nopal::shielded(f); }
};

struct with_calls {
  struct scope {
    template <class F> void fork(F f) { f(); }
    template <class R, class F, class... Args> void fork(R& result, F f, Args... args) {
      result = f(args...);
    }
    void join() {}
  };
  template <class F, class G> static auto both(F f, G g) { return std::tuple{f(), g()}; }
  template <class Map> static affine fold(int count, const Map& map) {
    affine all;
    for (int i = 0; i < count; ++i)
      all = then(all, map(i));
    return all;
  }
  template <class F> static void elsewhere(F f) { f(); }
  template <class F> static void shielded(F f) { f(); }
};

template <class How> class program {
public:
  // Returns what the program of this seed computes, or throws.
  static std::uint64_t run(std::uint64_t seed, int depth) {
    try {
      return grow(seed, depth);
    } catch (const thrown& what) {
      return ~what.number;
    }
  }

private:
  static std::uint64_t grow(std::uint64_t seed, int depth) {
    if (depth <= 0)
      return leaf(seed);
    switch (mixed(seed, 1) % 10) {
    case 0:
      return leaf(seed);
    case 1:
      return two(seed, depth);
    case 2:
      return several(seed, depth);
    case 3:
      return nested(seed, depth);
    case 4:
      return twice(seed, depth);
    case 5:
      return invoked(seed, depth);
    case 6:
      return folded(seed, depth);
    case 7:
      return caught(seed, depth);
    case 8:
      return unwound(seed, depth);
    default:
      return on_a_thread(seed, depth);
    }
  }

  static std::uint64_t leaf(std::uint64_t seed) {
    if (mixed(seed, 2) % 40 == 0)
      throw thrown{seed >> 1};
    std::uint64_t x = seed;
    for (std::uint64_t i = mixed(seed, 3) % 64; i > 0; --i)
      x = mixed(x, i);
    return x;
  }

  // Both branches are forked: an exception of the continuation would hide the child's.
  static std::uint64_t two(std::uint64_t seed, int depth) {
    typename How::scope s;
    std::uint64_t a = 0;
    std::uint64_t b = 0;
    s.fork(a, grow, mixed(seed, 10), depth - 1);
    s.fork(b, grow, mixed(seed, 11), depth - 2);
    s.join();
    return mixed(a, b);
  }

  static std::uint64_t several(std::uint64_t seed, int depth) {
    const std::uint64_t count = mixed(seed, 4) % 6;
    std::uint64_t results[6] = {};
    typename How::scope s;
    std::uint64_t beside = seed;
    for (std::uint64_t i = 0; i < count; ++i) {
      s.fork([&results, i, seed, depth] { results[i] = grow(mixed(seed, 20 + i), depth - 2); });
      beside = mixed(beside, i);
    }
    s.join();
    for (const std::uint64_t each : results)
      beside = mixed(beside, each);
    return beside;
  }

  static std::uint64_t nested(std::uint64_t seed, int depth) {
    std::uint64_t a = 0;
    std::uint64_t b = 0;
    std::uint64_t c = 0;
    typename How::scope outer;
    outer.fork([&a, seed] { a = mixed(seed, 30); });
    {
      typename How::scope inner;
      inner.fork([&b, seed] { b = mixed(seed, 31); });
      c = mixed(seed, 32);
      inner.join();
    }
    outer.fork(c, grow, mixed(seed, 33), depth - 1);
    outer.join();
    return mixed(mixed(a, b), c);
  }

  static std::uint64_t twice(std::uint64_t seed, int depth) {
    std::uint64_t sum = 0;
    typename How::scope s;
    for (std::uint64_t round = 0; round < 2; ++round) {
      std::uint64_t a = 0;
      std::uint64_t b = 0;
      s.fork(a, grow, mixed(seed, 40 + round), depth - 2);
      s.fork([&b, seed, round, depth] { b = grow(mixed(seed, 50 + round), depth - 3); });
      s.join();
      sum = mixed(sum, mixed(a, b));
    }
    return sum;
  }

  static std::uint64_t invoked(std::uint64_t seed, int depth) {
    const auto [a, b] = How::both([=] { return grow(mixed(seed, 60), depth - 1); },
                                  [=] { return grow(mixed(seed, 61), depth - 1); });
    return mixed(a, b);
  }

  static std::uint64_t folded(std::uint64_t seed, int depth) {
    const affine all = How::fold(static_cast<int>(mixed(seed, 5) % 12), [=](int i) {
      return affine{mixed(seed, 70) | 1,
                    grow(mixed(seed, 71 + static_cast<unsigned>(i)), depth - 3)};
    });
    return all.scale ^ all.shift;
  }

  static std::uint64_t caught(std::uint64_t seed, int depth) {
    try {
      return mixed(grow(mixed(seed, 80), depth - 1), 81);
    } catch (const thrown& what) {
      return mixed(two_after(seed), what.number);
    }
  }

  // Forks in a handler, and rethrows sometimes.
  static std::uint64_t two_after(std::uint64_t seed) {
    typename How::scope s;
    std::uint64_t a = 0;
    s.fork([&a, seed] { a = mixed(seed, 90); });
    const std::uint64_t b = mixed(seed, 91);
    s.join();
    if (mixed(seed, 92) % 2 == 0)
      throw;
    return mixed(a, b);
  }

  // A destructor forks while an exception passes, or while none does.
  class forks_at_its_end {
  public:
    forks_at_its_end(std::uint64_t seed, std::uint64_t& result) : seed_{seed}, result_{result} {}
    ~forks_at_its_end() {
      How::shielded([this] { fork(); });
    }
    forks_at_its_end(const forks_at_its_end&) = delete;
    forks_at_its_end& operator=(const forks_at_its_end&) = delete;

  private:
    void fork() {
      const std::uint64_t own = seed_;
      std::uint64_t a = 0;
      typename How::scope s;
      s.fork([&a, own] { a = program::run(mixed(own, 100), 2); });
      result_ = mixed(own, 101);
      s.join();
      result_ = mixed(result_, a);
    }

    std::uint64_t seed_;
    std::uint64_t& result_;
  };

  static std::uint64_t unwound(std::uint64_t seed, int depth) {
    std::uint64_t at_the_end = 0;
    std::uint64_t inside = 0;
    try {
      const forks_at_its_end end(seed, at_the_end);
      inside = grow(mixed(seed, 102), depth - 1);
    } catch (const thrown& what) {
      inside = what.number;
    }
    return mixed(inside, at_the_end);
  }

  static std::uint64_t on_a_thread(std::uint64_t seed, int depth) {
    std::uint64_t result = 0;
    How::elsewhere([&result, seed, depth] { result = program::run(mixed(seed, 110), depth - 2); });
    return result;
  }
};

// Whether the program does not compute the same with forks as with calls.
inline bool differs(std::uint64_t seed, int depth) {
  return program<with_forks>::run(seed, depth) != program<with_calls>::run(seed, depth);
}
inline constexpr auto first_difference = first_seed<differs>;
inline constexpr auto first_difference_with = first_seed_with<differs>;

} // namespace nopal_test

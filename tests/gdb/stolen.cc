// SPDX-License-Identifier: MIT
// The program that check.py stops in `reach_bottom`, from where gdb must unwind it: its callers are
// stolen continuations of each kind, on stacks that lie in each order.
//
// The child of each function waits until the function's continuation, which calls the next one, has
// come back. So each continuation is stolen, and each function's frame lies on the stack of the
// thief that runs its caller.
#include "nopal/fork.h"
#include "nopal/runtime.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <set>
#include <thread>
#include <utility>

namespace {

using gate = std::atomic<bool>;

enum kind { plain, inlined, wide, aligned, kinds };

std::array<kind, kinds + 1> order; // of the functions; the last one again is plain
std::array<std::uintptr_t, kinds + 2> places;
std::set<std::pair<kind, bool>> seen; // with its caller's frame below its callee's or not
std::atomic<int> returned;

void wait_for(const gate& opened) {
  while (!opened.load())
    std::this_thread::yield();
}

[[gnu::noinline]] void come_back() { returned.fetch_add(1); }

// What gdb prints as a local variable of a frame.
[[gnu::noinline]] void show(int depth, const int& marker) {
  places.at(static_cast<std::size_t>(depth)) = reinterpret_cast<std::uintptr_t>(&marker);
}

void go_deeper(int depth);

} // namespace

extern "C" [[gnu::noinline]] void reach_bottom() { come_back(); }

void run_plain(int depth) {
  const int marker = 100 + depth;
  show(depth, marker);
  gate done{false};
  nopal::scope s;
  s.fork([&done] { wait_for(done); });
  go_deeper(depth + 1); // call in run_plain
  come_back();          // next in run_plain
  done.store(true);     // then in run_plain
  s.join();
}

[[gnu::always_inline]] inline void inlined_call(int depth) {
  go_deeper(depth); // call in inlined_call
  come_back();
}

void run_inlined(int depth) {
  const int marker = 100 + depth;
  show(depth, marker);
  gate done{false};
  nopal::scope s;
  s.fork([&done] { wait_for(done); });
  inlined_call(depth + 1); // call in run_inlined
  done.store(true);
  s.join();
}

// Some of the arguments are passed on the stack, with what was there before between them.
void take_ten(int, int, int, int, int, int, void (*f)(int), int depth, int, int) {
  f(depth); // call in take_ten
  come_back();
}

// The compiler does not know what it calls.
void (*volatile takes_ten)(int, int, int, int, int, int, void (*)(int), int, int, int) = take_ten;

void run_wide(int depth) {
  const int marker = 100 + depth;
  show(depth, marker);
  gate done{false};
  nopal::scope s;
  s.fork([&done] { wait_for(done); });
  takes_ten(0, 1, 2, 3, 4, 5, go_deeper, depth + 1, 8, 9); // call in run_wide
  done.store(true);
  s.join();
}

void run_aligned(int depth) {
  alignas(128) const int marker = 100 + depth;
  show(depth, marker);
  gate done{false};
  nopal::scope s;
  s.fork([&done] { wait_for(done); });
  go_deeper(depth + 1); // call in run_aligned
  done.store(true);
  s.join();
}

namespace {

// Whether this order of stacks has something that has not been seen.
bool new_here() {
  bool any = false;
  for (std::size_t at = 0; at != order.size(); ++at)
    any |= seen.insert({order.at(at), places.at(at) < places.at(at + 1)}).second;
  return any;
}

// At -O2 this function has no frame pointer of its own.
[[gnu::noinline]] void go_deeper(int depth) {
  constexpr std::array functions{run_plain, run_inlined, run_wide, run_aligned};
  if (static_cast<std::size_t>(depth) < order.size()) {
    void (*const function)(int) = functions.at(order.at(static_cast<std::size_t>(depth)));
    function(depth); // call in go_deeper
  } else {
    const int marker = 0;
    show(depth, marker);
    if (new_here())
      reach_bottom(); // call of reach_bottom
  }
  come_back();
}

// Every kind but the first function's, which lies on a thread's own stack, in both orders.
bool all_seen() {
  for (int each = plain; each != kinds; ++each)
    for (const bool below : {false, true})
      if (!seen.contains({static_cast<kind>(each), below}))
        return false;
  return true;
}

void run_all() {
  for (unsigned turn = 0; !all_seen(); ++turn) {
    for (std::size_t at = 0; at != order.size(); ++at)
      order.at(at) = at == 0 ? plain : static_cast<kind>((at + turn) % kinds);
    go_deeper(0); // call in run_all
  }
}

} // namespace

int main() {
  nopal::configure({.num_workers = kinds + 3});
  run_all(); // call in main
  // The stack of a thread that starts now lies below Nopal's.
  seen.clear();
  std::thread(run_all).join();
}

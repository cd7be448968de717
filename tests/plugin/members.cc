// SPDX-License-Identifier: MIT
// Classes of a user that have Nopal's types as members and bases: no compiler warns of them.
#include <nopal/arena.h>
#include <nopal/cancel.h>
#include <nopal/cancelable.h>
#include <nopal/channel.h>
#include <nopal/fiber.h>
#include <nopal/floating_point.h>
#include <nopal/fork.h>
#include <nopal/future.h>
#include <nopal/loop.h>
#include <nopal/mutex.h>
#include <nopal/policies.h>
#include <nopal/runtime.h>
#include <nopal/scheduler.h>
#include <nopal/vprocs.h>

#include <mutex>
#include <vector>

struct has_members {
  nopal::mutex lock;
  nopal::condition_variable changed;
  nopal::channel<int> numbers;
  nopal::cancelable cancels;
  nopal::fiber single;
  nopal::future1<int> later;
  nopal::ivar<int> once;
  nopal::options wanted;
  nopal::statistics counted;
  nopal::identity<long> first;
  nopal::place where;
  std::vector<nopal::fiber> all;
  std::unique_lock<nopal::mutex> held;
};

struct has_pointers {
  nopal::arena* arena;
  nopal::scope* scope;
  nopal::cancel_scope* cancels;
  nopal::fiber_local<int>* local;
  nopal::floating_point* control;
  nopal::scheduler* policy;
  nopal::action* action;
  nopal::decision* decided;
};

struct in_turn : nopal::round_robin {};
struct shares : nopal::proportional_share {};

template <class T> struct has_channel {
  nopal::channel<T> values;
};
template struct has_channel<long>;

// SPDX-License-Identifier: MIT
// Models of alarms that are set, ring and are taken back at the same time: none rings, or is
// touched, after it was taken back; each that is due rings once; and the thread that rings them is
// woken for an earlier one.
//
// The calls and their order are those of vproc/alarms.cc (run, timed_wait::wake). Time passes only
// while that thread sleeps until an alarm of the day is due; it does not live to see the next day.
#define NOPAL_MODEL_OF_TIME
#include "mortal.h"

#include "nopal/config.h"
#include "nopal/sync/alarm_queue.h"
#include "nopal/sync/choice.h"
#include "nopal/sync/thread_waker.h"

#include <algorithm>
#include <chrono>
#include <cstddef>

namespace nopal::model {
namespace {

struct fake_clock {
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<fake_clock>;
  static constexpr bool is_steady = true;

  static constexpr time_point at(rep ns) noexcept { return time_point{duration{ns}}; }
  static time_point now() noexcept { return time; }

  static inline time_point time{};
};
constexpr auto tomorrow = fake_clock::at(1000);

struct alarm {
  using queue = sync::alarm_queue<fake_clock, alarm>;

  base::atomic<std::uint32_t> place{queue::absent};
  void (*const ring)(alarm*);

  explicit alarm(void (*ringer)(alarm*) = nullptr) noexcept : ring{ringer} {}
  void reset(queue& all) noexcept {
    if (queue::is_set(this))
      all.take_back(this);
  }
};

// The last thread rings alarms until it has rung the last one.
template <class Derived, int Threads> struct alarms : scenario<Derived, Threads> {
  mortal<alarm::queue> made; // Relacy frees in the model what is allocated there
  alarm::queue& all = *made;
  alarm last{[](alarm* due) {
    alarm::queue::rung(due);
    over = true;
  }};
  static inline bool over = false; // used by the ringer

  void before() {
    fake_clock::time = fake_clock::at(0);
    over = false;
    made.begin();
  }
  void after() { made.end(); }
  void ring_all() noexcept {
    while (!over)
      if (alarm* const due = all.next())
        due->ring(due);
  }
  void end_day() { all.add(fake_clock::at(9), &last); }
};

// Threads set an alarm each, for today, and take it back. The alarms end then.
template <int Setters> struct taken_back : alarms<taken_back<Setters>, Setters + 1> {
  struct bell : alarm {
    base::handed_over<int> times{0};
    bell() : alarm{ring_once} {}
    static void ring_once(alarm* due) {
      auto* const own = static_cast<bell*>(due);
      own->times += 1;
      alarm::queue::rung(own);
    }
  };
  mortal<bell> bells[Setters];
  base::atomic<int> done{0};

  void thread(unsigned self) {
    if (self == Setters)
      return this->ring_all();
    bell& own = bells[self].begin();
    this->all.add(fake_clock::at(self), &own);
    own.reset(this->all);
    check(own.times <= 1, "an alarm rang twice");
    bells[self].end();
    if (done.fetch_add(1, base::acq_rel) == Setters - 1)
      this->end_day();
  }
};

// A strand waits until a time, or until another thread wakes it, if there is one. Its frame ends.
struct waiting_strand : alarm {
  base::handed_over<int> times_ready{0};
  sync::choice own;
  sync::thread_waker woken;

  void make_ready() noexcept {
    times_ready += 1;
    woken.wake();
  }
  waiting_strand() : alarm{wake} {}
  static void wake(alarm* due) {
    auto* const strand = static_cast<waiting_strand*>(due);
    const bool claimed = strand->own.claim(7);
    alarm::queue::rung(strand);
    if (claimed)
      strand->make_ready();
  }
  std::uint32_t wait(queue& all) noexcept {
    woken.wait();
    reset(all);
    check(times_ready == 1, "a strand was made ready twice");
    return own.taken();
  }
};

// The waker finds the strand under a lock, as it would in a queue.
struct woken_or_late : alarms<woken_or_late, 3> {
  mortal<waiting_strand> frame;
  base::spin_lock lock;
  base::handed_over<waiting_strand*> queue{nullptr};

  void wait() {
    waiting_strand& strand = frame.begin();
    {
      const base::locked guard{lock};
      queue = &strand;
    }
    all.add(fake_clock::at(1), &strand);
    const std::uint32_t taken = strand.wait(all);
    {
      const base::locked guard{lock};
      queue = nullptr;
    }
    check(taken == 0 || taken == 7, "a strand goes on unwoken");
    frame.end();
    end_day();
  }
  void thread(unsigned self) {
    if (self == 2)
      return ring_all();
    if (self == 0)
      return wait();
    const base::locked guard{lock};
    waiting_strand* const first = queue;
    if (first != nullptr && first->own.claim(0))
      first->make_ready();
  }
};

// An alarm of tomorrow is set. Others are set for today, of which strands wait for the ringing.
template <int Strands> struct earlier : alarms<earlier<Strands>, Strands + 1> {
  using base_type = alarms<earlier<Strands>, Strands + 1>;
  alarm late;
  mortal<waiting_strand> frames[Strands];
  base::atomic<int> done{0};

  void before() {
    base_type::before();
    this->all.add(tomorrow, &late);
  }
  void thread(unsigned self) {
    if (self == Strands)
      return this->ring_all();
    waiting_strand& strand = frames[self].begin();
    this->all.add(fake_clock::at(2 - self), &strand);
    check(strand.wait(this->all) == 7, "a strand goes on before its time");
    check(fake_clock::time >= fake_clock::at(2 - self), "an alarm rang too early");
    frames[self].end();
    if (done.fetch_add(1, base::acq_rel) == Strands - 1)
      this->end_day();
  }
  void after() {
    late.reset(this->all);
    base_type::after();
  }
};

} // namespace
} // namespace nopal::model

// Relacy replaces the other ones.
void operator delete(void* freed, std::size_t) noexcept { ::operator delete(freed); }

namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::base {

void futex_wait_until(atomic<std::uint32_t>& word, std::uint32_t expected,
                      std::int64_t until_ns) noexcept {
  const auto until = model::fake_clock::at(until_ns);
  spin_pause();
  if (until >= model::tomorrow) // or not every search would end
    return model::futexes.wait(word, expected, rl::ctx().is_random_sched());
  model::fake_clock::time = std::max(model::fake_clock::time, until);
}

} // namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::base

int main(int argc, char** argv) {
  using namespace nopal::model;
  runner models{argc, argv};
  models.random<taken_back<1>>("an alarm is taken back");
  models.bounded<taken_back<1>>("an alarm is taken back", 3);
  models.random<taken_back<2>>("two alarms are taken back", 2);
  models.bounded<taken_back<2>>("two alarms are taken back", 1);
  models.random<woken_or_late>("a strand is woken when its time comes", 2);
  models.random<earlier<1>>("an earlier alarm");
  models.bounded<earlier<1>>("an earlier alarm", 1);
  models.random<earlier<2>>("two earlier alarms");
  return models.result();
}

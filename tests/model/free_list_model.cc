// SPDX-License-Identifier: MIT
// Models of the list of free numbers: each has one user at a time, who sees what the last wrote.
#include "harness.h"

#include "nopal/base/free_list.h"

namespace nopal::model {
namespace {

struct element {
  base::free_list::link link{0};
  base::handed_over<int> uses{0};
};

// Each thread takes a number, makes one if there is none, and puts it back. The numbers come and go
// while others read the head.
template <int Threads, int Times> struct users : scenario<users<Threads, Times>, Threads> {
  element elements[Threads];
  base::free_list list;

  void before() { list.open(elements, sizeof(element)); }
  void thread(unsigned) {
    for (int i = 0; i < Times; ++i) {
      std::uint32_t number = list.take();
      if (number == base::free_list::none)
        number = list.create(Threads);
      check(number < Threads, "no number, though each thread has one at most");
      elements[number].uses = elements[number].uses + 1;
      list.put(number);
    }
  }
  void after() {
    int uses = 0;
    for (element& each : elements)
      uses += each.uses;
    check(uses == Threads * Times, "a use was lost");
    std::uint32_t listed = 0;
    while (list.take() != base::free_list::none)
      ++listed;
    check(listed == list.created(), "the list lost a number, or has one twice");
  }
};

// Two numbers lie in the list. One thread takes both and puts them back in the other order, or not
// at all, while another takes one (ABA).
struct reordered : scenario<reordered, 2> {
  element elements[2];
  base::free_list list;

  void before() {
    list.open(elements, sizeof(element));
    list.put(list.create(2));
    list.put(list.create(2));
  }
  void thread(unsigned self) {
    const std::uint32_t first = list.take();
    if (first == base::free_list::none)
      return;
    elements[first].uses = elements[first].uses + 1;
    if (self == 0)
      return;
    const std::uint32_t second = list.take();
    list.put(first);
    if (second != base::free_list::none)
      elements[second].uses = elements[second].uses + 1;
  }
};

} // namespace
} // namespace nopal::model

int main(int argc, char** argv) {
  using namespace nopal::model;
  runner models{argc, argv};
  models.random<users<2, 2>>("two users, twice each");
  models.bounded<users<2, 2>>("two users, twice each", 2);
  models.random<users<3, 2>>("three users, twice each");
  models.random<reordered>("taken, and put back in another order");
  models.full<reordered>("taken, and put back in another order");
  return models.result();
}

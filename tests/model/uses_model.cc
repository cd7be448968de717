// SPDX-License-Identifier: MIT
// Models of a descriptor's uses: a number goes back to the system once, when nobody uses it, and
// who is late finds that it is another's.
//
// The calls and their order are those of io/descriptor.cc and io/attempts.h; `file` stands for what
// the system has at the number.
#include "harness.h"

#include "nopal/io/uses.h"

namespace nopal::model {
namespace {

constexpr std::uint32_t kFirst = 1; // the generation of the first owner

// An owner, users of its number, and whoever gets the number next.
template <int Users> struct closes : scenario<closes<Users>, Users + 1> {
  io::uses word;
  base::handed_over<int> file{0};
  base::handed_over<int> given_back{0};

  // The system gives the number to the next one at once.
  void give_back() {
    given_back = given_back + 1;
    file = 2;
    const std::uint32_t next = word.adopt();
    check(word.enter(next) && file == 2, "the next owner cannot use its number");
    check(!word.leave(next), "an open number is given back");
    check(word.close(kFirst) == io::uses::ending::not_mine, "the number was closed twice");
    check(word.close(next) == io::uses::ending::at_once, "the next owner's number stays");
    file = 0;
  }
  void thread(unsigned self) {
    if (self == Users) {
      file = 1;
      check(word.adopt() == kFirst, "the first generation");
      const auto ending = word.close(kFirst);
      check(file == 1, "the owner closes what the next owner has");
      if (ending == io::uses::ending::at_once || word.leave(kFirst))
        give_back();
    } else if (word.enter(kFirst)) {
      check(file == 1, "a user meets what the next owner has");
      if (word.leave(kFirst))
        give_back();
    }
  }
  void after() { check(given_back == 1, "the number was not given back once"); }
};

// The number is adopted again while it is open: it was closed behind the first owner's back.
struct adopted_twice : scenario<adopted_twice, 2> {
  io::uses word;
  base::atomic<int> open{1};

  void before() { word.adopt(); }
  void thread(unsigned self) {
    if (self == 0) {
      const std::uint32_t mine = word.adopt();
      check(open.load(base::relaxed) == 1, "the first owner's user has closed the second's number");
      check(word.close(mine) == io::uses::ending::at_once, "the first owner's user counts");
    } else if (word.enter(kFirst) && word.leave(kFirst)) {
      open.store(0, base::relaxed);
    }
  }
};

// Given up while somebody uses it: nobody gives it back.
struct gives_up : scenario<gives_up, 2> {
  io::uses word;

  void before() { word.adopt(); }
  void thread(unsigned self) {
    if (self == 0) {
      check(word.give_up(kFirst), "an open number is given up");
      check(word.close(kFirst) == io::uses::ending::not_mine, "it was given up");
      check(!word.is_open(kFirst) && !word.enter(kFirst), "it is used though it was given up");
    } else if (word.enter(kFirst)) {
      check(!word.leave(kFirst), "a number that was given up is given back");
    }
  }
};

} // namespace
} // namespace nopal::model

int main(int argc, char** argv) {
  using namespace nopal::model;
  runner models{argc, argv};
  models.random<closes<1>>("one uses");
  models.bounded<closes<1>>("one uses", 3);
  models.random<closes<2>>("two use");
  models.bounded<closes<2>>("two use", 2);
  models.random<adopted_twice>("adopted twice");
  models.bounded<adopted_twice>("adopted twice", 3);
  models.random<gives_up>("given up");
  models.bounded<gives_up>("given up", 3);
  return models.result();
}

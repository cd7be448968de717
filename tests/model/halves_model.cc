// SPDX-License-Identifier: MIT
// Models of a split loop: an upper half that goes on with what the lower half has computed.
//
// The calls and their order are those of algorithms/lazy.h: `sum` is the lower half's part, and the
// threads' end is the join.
#include "harness.h"

#include "nopal/algorithms/halves.h"

namespace nopal::model {
namespace {

struct split_loop : scenario<split_loop, 2> {
  algorithms::halves both;
  base::handed_over<int> sum{0};
  base::handed_over<int> other{0};
  int lower_pieces = 0;

  void thread(unsigned self) {
    if (self == 0) {
      while (lower_pieces < 3 && !both.upper_begun()) {
        sum = sum + 1;
        ++lower_pieces;
      }
      both.end_lower();
    } else {
      both.begin_upper();
      if (both.lower_ended())
        sum = sum + 10; // the lower half touches it no more
      else
        other = 10;
    }
  }
  void after() { check(sum + other == lower_pieces + 10, "a part was lost"); }
};

} // namespace
} // namespace nopal::model

int main(int argc, char** argv) {
  using namespace nopal::model;
  runner models{argc, argv};
  models.random<split_loop>("two halves");
  models.bounded<split_loop>("two halves", 3);
  return models.result();
}

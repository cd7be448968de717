// SPDX-License-Identifier: MIT
// Models of the deque variant `chase_lev`, whose array grows from the first nested fork on.
#include "tests/model/owner_and_thieves.h"

#include "bench/baseline/chase_lev.h"

int main(int argc, char** argv) {
  using namespace nopal;
  model::runner models{argc, argv};
  model::run_deque_models<deque::chase_lev<model::fork_record, model::fake_bounds, 1>>(models);
  return models.result();
}

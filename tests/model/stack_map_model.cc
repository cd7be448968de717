// SPDX-License-Identifier: MIT
// Models of the deque variant `stack_map`.
#include "owner_and_thieves.h"

#include "nopal/deque/stack_map.h"

int main(int argc, char** argv) {
  using namespace nopal;
  model::runner models{argc, argv};
  model::run_deque_models<
      deque::stack_map<model::fork_record, model::fake_marks, model::fake_bounds, 2>>(models);
  return models.result();
}

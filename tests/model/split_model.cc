// SPDX-License-Identifier: MIT
//
// Models of the deque variant `split`.
#include "owner_and_thieves.h"

#include "nopal/deque/split.h"

int main(int argc, char** argv) {
  using namespace nopal;
  model::runner models{argc, argv};
  model::run_deque_models<deque::split<model::offer, model::fake_bounds, 2>>(models);
  return models.result();
}

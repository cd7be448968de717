// SPDX-License-Identifier: MIT
//
// Models of the deque variant `the`.
#include "owner_and_thieves.h"

#include "nopal/deque/the.h"

int main(int argc, char** argv) {
  using namespace nopal;
  model::runner models{argc, argv};
  model::run_deque_models<deque::the<model::offer, model::fake_bounds>>(models);
  return models.result();
}

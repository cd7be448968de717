// SPDX-License-Identifier: MIT
// Models of the deque variant `the`.
#include "tests/model/owner_and_thieves.h"

#include "bench/baseline/the.h"

namespace nopal::model {
namespace {

using the_deque = deque::the<fork_record, fake_bounds>;

} // namespace
} // namespace nopal::model

int main(int argc, char** argv) {
  using namespace nopal;
  model::runner models{argc, argv};
  model::run_deque_models<model::the_deque>(models);
  return models.result();
}

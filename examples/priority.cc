// SPDX-License-Identifier: MIT
// priority NAME=N...: a scheduler of the program's own. Each job is a fiber that prints its name
// when it begins and when it ends, and gives way in between; of those that are ready, the one with
// the largest number runs. A job that gave way has one less.
#include "shared/command_line.h"

#include <nopal/scheduler.h>

#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

nopal::fiber_local<int> priority{0};

// On one vproc, so that the order of the jobs shows.
class by_priority : public nopal::scheduler {
public:
  by_priority() : scheduler{1} {}

private:
  void put(nopal::fiber ready) override {
    const int number = priority.value_of(ready);
    ready_.emplace(-number, std::move(ready)); // equal ones stay in the order in which they came
  }
  nopal::fiber take() override {
    if (ready_.empty())
      return {};
    nopal::fiber next = std::move(ready_.begin()->second);
    ready_.erase(ready_.begin());
    return next;
  }

  std::multimap<int, nopal::fiber> ready_;
};

std::pair<std::string, int> job_of(const std::string& text) {
  const auto at = text.find('=');
  try {
    std::size_t end = 0;
    const std::string number = at == text.npos ? "" : text.substr(at + 1);
    const std::pair<std::string, int> job{text.substr(0, at), std::stoi(number, &end)};
    if (end == number.size() && at != 0)
      return job;
  } catch (const std::logic_error&) { // no number: the message below says it
  }
  throw std::invalid_argument("'" + text + "' is not accepted: a job is NAME=NUMBER");
}

} // namespace

int main(int argc, char** argv) {
  command_line line{"Runs jobs in the order of their priorities."};
  std::vector<std::string> jobs;
  line.texts("JOB", jobs, "NAME=NUMBER", [](const std::string& text) { job_of(text); });
  return line.run(argc, argv, [&] {
    by_priority order;
    nopal::run(order, [&] {
      for (const std::string& text : jobs) {
        const auto [name, number] = job_of(text);
        nopal::fiber job = nopal::make_fiber([label = name] {
          std::printf("%s begins\n", label.c_str());
          priority.value() -= 1;
          nopal::yield();
          std::printf("%s ends\n", label.c_str());
        });
        priority.value_of(job) = number;
        std::move(job).start();
      }
    });
  });
}

// SPDX-License-Identifier: MIT
// Models of how runs between processes end, and how processes meet: each process gets each run's
// outcome, whole, and nobody leaves a meeting before all have come.
//
// Each thread is a process with a block of its own. The engine between them copies the fields that
// ends.cc puts. An operation that was posted it does at once, or as late as its contract allows.
#include "harness.h"

#include "nopal/config.h"
#include "nopal/process/run/ends.cc"

namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::base {

void sleep_us(unsigned) noexcept { spin_pause(); }

} // namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::base

namespace nopal::model {
namespace {

using process::ends_block;
using process::word;

class engine final : public process::far_transport {
public:
  engine(ends_block* blocks, unsigned self) noexcept : blocks_{blocks}, self_{self} {}

  void put(unsigned peer, void* to, const void* from, std::size_t bytes) override {
    flush();
    const process::outcome& own = blocks_[self_].result;
    process::outcome& its = blocks_[peer].result;
    check(to == &own.from && from == to && bytes > own.size, "the outcome is put from elsewhere");
    its.from = std::uint32_t{own.from};
    its.failed = std::uint32_t{own.failed};
    its.root = std::uint64_t{own.root};
    its.size = std::uint32_t{own.size};
    std::memcpy(its.bytes, own.bytes, own.size);
  }
  void post_store(unsigned peer, word& at, std::uint32_t value) override {
    begin({&its_word(peer, at), value});
  }
  void progress() noexcept override { flush(); }
  void flush() noexcept override {
    for (unsigned i = 0; i < count_; ++i)
      do_now(begun_[i]);
    count_ = 0;
  }

  // The ends of runs call neither.
  void get(unsigned, void*, const void*, std::size_t) override {}
  std::optional<process::segment> request_steal(unsigned) override { return std::nullopt; }

private:
  struct posted {
    word* at;
    std::uint32_t value;
  };

  void begin(posted action) noexcept {
    check(count_ < 8, "more is begun than expected");
    begun_[count_++] = action;
    if (rl::rand(2) == 0)
      flush();
  }
  static void do_now(const posted& action) noexcept {
    action.at->store(action.value, base::release);
  }
  word& its_word(unsigned peer, word& at) const noexcept {
    const auto distance =
        reinterpret_cast<std::uintptr_t>(&at) - reinterpret_cast<std::uintptr_t>(&blocks_[self_]);
    return *reinterpret_cast<word*>(reinterpret_cast<std::uintptr_t>(&blocks_[peer]) + distance);
  }

  ends_block* blocks_;
  unsigned self_;
  posted begun_[8] = {};
  unsigned count_ = 0;
};

template <int Size, int Times> struct meetings : scenario<meetings<Size, Times>, Size> {
  ends_block blocks[Size];
  base::handed_over<int> came[Times][Size];

  void thread(unsigned self) {
    engine by{blocks, self};
    process::ends mine;
    mine.open(by, self, Size, blocks[self]);
    for (int time = 0; time < Times; ++time) {
      came[time][self] = 1;
      mine.meet();
      for (int other = 0; other < Size; ++other)
        check(came[time][other] == 1, "a process has left before all have come");
    }
    by.flush();
  }
};

// Run n ends on process First + n, and every second one has failed.
template <int Size, int Runs, int First> struct runs : scenario<runs<Size, Runs, First>, Size> {
  ends_block blocks[Size];
  int got[Runs] = {}; // an execution's threads take turns, so this is no race

  void thread(unsigned self) {
    engine by{blocks, self};
    process::ends mine;
    mine.open(by, self, Size, blocks[self]);
    for (int run = 0; run < Runs; ++run) {
      mine.begin();
      const char outcome[2] = {'a', static_cast<char>('0' + run)};
      if (static_cast<int>(self) == (First + run) % Size)
        mine.end_run(run % 2 == 1, outcome, sizeof outcome);
      while (!mine.has_ended()) {
        by.progress();
        base::spin_pause();
      }
      char result[sizeof outcome] = {};
      std::string error;
      mine.take_result(result, sizeof result, error);
      const char* const seen = run % 2 == 1 ? error.data() : result;
      check(error.size() == (run % 2 == 1 ? 2u : 0u), "a run has the outcome of another one");
      check(seen[0] == 'a' && seen[1] == outcome[1], "the outcome's text is another run's");
      ++got[run];
      mine.meet();
      check(got[run] == Size, "a process goes on before all have the outcome");
    }
    by.flush();
  }
};

} // namespace
} // namespace nopal::model

int main(int argc, char** argv) {
  using namespace nopal::model;
  runner models{argc, argv};
  models.section("meetings");
  models.random<meetings<2, 3>>("two processes, three times");
  models.bounded<meetings<2, 1>>("two processes, once", 2);
  models.random<meetings<3, 2>>("three processes, twice");
  models.random<meetings<4, 2>>("four processes, twice");
  models.section("outcomes of runs");
  models.random<runs<2, 3, 0>>("two processes, three runs");
  models.random<runs<3, 2, 0>>("three processes, two runs");
  models.random<runs<3, 2, 2>>("three processes, the last one ends first");
  models.random<runs<4, 2, 1>>("four processes, two runs");
  return models.result();
}

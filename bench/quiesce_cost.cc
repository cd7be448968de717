// SPDX-License-Identifier: MIT
// What it costs that leaves call a library with threads of its own, here OpenMP's, and what
// quiesce() saves.
//
// usage: quiesce_cost [options of Google Benchmark]
//
// 40 leaves on two workers, each a region of two OpenMP threads with 50 barriers. serial: the
// regions one after another, without Nopal's help; plain: in leaves; quiesced: each leaf quiet;
// one_at_a_time: quiet, and under a nopal::mutex, so that only one region runs at a time.
#include <benchmark/benchmark.h>
#include <nopal/blocking.h>
#include <nopal/loop.h>
#include <nopal/mutex.h>
#include <nopal/runtime.h>
#include <omp.h>

#include <mutex>

namespace {

constexpr int kLeaves = 40;
constexpr int kPhases = 50;
constexpr int kSteps = 20000; // of a thread, in one phase

void region() {
#pragma omp parallel num_threads(2)
  for (int phase = 0; phase < kPhases; ++phase) {
    double x = phase;
    for (int i = 0; i < kSteps; ++i)
      x = x * 0.999 + 1;
    benchmark::DoNotOptimize(x);
#pragma omp barrier
  }
}

void serial(benchmark::State& state) {
  for (auto _ : state)
    for (int i = 0; i < kLeaves; ++i)
      region();
}

template <class Leaf> void leaves(benchmark::State& state, Leaf leaf) {
  for (auto _ : state) {
    nopal::scope s;
    s.fork([&leaf] { nopal::for_index(0, kLeaves, [&leaf](int) { leaf(); }, 1); });
    s.join();
  }
}

void plain(benchmark::State& state) { leaves(state, region); }

void quiesced(benchmark::State& state) {
  leaves(state, [] { nopal::quiesce(region); });
}

void one_at_a_time(benchmark::State& state) {
  nopal::mutex mutex;
  leaves(state, [&mutex] {
    const std::lock_guard guard{mutex};
    nopal::quiesce(region);
  });
}

} // namespace

int main(int argc, char** argv) {
  nopal::configure({.num_workers = 2});
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv))
    return 2;
  const auto add = [](const char* name, void (*function)(benchmark::State&)) {
    benchmark::RegisterBenchmark(name, function)->UseRealTime()->Unit(benchmark::kMillisecond);
  };
  add("serial", serial);
  add("plain", plain);
  add("quiesced", quiesced);
  add("one_at_a_time", one_at_a_time);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}

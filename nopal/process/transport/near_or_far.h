// SPDX-License-Identifier: MIT
// A transport for processes on several machines: those whose blocks are mapped here too are reached
// directly, the others by another transport.
#pragma once

#include "nopal/config.h"
#include "nopal/process/transport/direct.h"
#include "nopal/process/transport/transport.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::process {

class near_or_far : public transport {
public:
  // The block of each process, or none: `far` reaches it. The caller itself has none.
  near_or_far(const char* name, std::vector<direct_block> near,
              std::unique_ptr<transport> far) noexcept
      : name_{name}, near_{std::move(near)}, far_{std::move(far)}, some_are_far_{some_lack(near_)} {
  }

  static bool some_lack(const std::vector<direct_block>& near) noexcept {
    return std::ranges::count(near, false, &direct_block::operator bool) > 1;
  }

  const char* name() const noexcept override { return name_; }

  void get(unsigned peer, void* to, const void* from, std::size_t bytes) override {
    if (const direct_block& there = near_[peer])
      return there.get(to, from, bytes);
    far_->get(peer, to, from, bytes);
  }
  void put(unsigned peer, void* to, const void* from, std::size_t bytes) override {
    if (const direct_block& there = near_[peer])
      return there.put(to, from, bytes);
    far_->put(peer, to, from, bytes);
  }
  std::uint32_t compare_swap(unsigned peer, word& at, std::uint32_t expected,
                             std::uint32_t desired) override {
    if (const direct_block& there = near_[peer])
      return there.compare_swap(at, expected, desired);
    return far_->compare_swap(peer, at, expected, desired);
  }
  std::uint32_t add(unsigned peer, word& at, std::uint32_t by) override {
    if (const direct_block& there = near_[peer])
      return there.add(at, by);
    return far_->add(peer, at, by);
  }
  void post_store(unsigned peer, word& at, std::uint32_t value) override {
    if (const direct_block& there = near_[peer])
      return there.set(at, value);
    far_->post_store(peer, at, value);
  }
  void post_add(unsigned peer, word& at, std::uint32_t by) override {
    if (const direct_block& there = near_[peer])
      there.add(at, by);
    else
      far_->post_add(peer, at, by);
  }

  bool gives(unsigned peer) const noexcept override { return !near_[peer] && far_->gives(peer); }
  std::optional<segment> ask(unsigned peer) override { return far_->ask(peer); }
  void progress() noexcept override {
    if (some_are_far_)
      far_->progress();
  }
  void flush() override {
    if (some_are_far_)
      far_->flush();
  }
  void close() noexcept override {
    if (some_are_far_)
      far_->close();
  }

private:
  const char* const name_;
  const std::vector<direct_block> near_;
  const std::unique_ptr<transport> far_; // may be null if it is not needed
  const bool some_are_far_;
};

} // namespace nopal::inline NOPAL_ABI::process
NOPAL_HIDDEN_END

// SPDX-License-Identifier: MIT
// Distribution of many numbers over buckets in the memory where they lie.
//
// The range consists of stripes. In each of them elements go to a buffer of their bucket, and a
// full buffer, a block, goes back to the front of the stripe, where all has been read. Then whole
// blocks move to their buckets (block_moves.h). A bucket begins and ends anywhere, so the elements
// before and behind its blocks are those that are left in buffers.
//
// Equal elements lose their order.
// Paper: "In-place Parallel Super Scalar Samplesort" (ESA 2017) forms blocks so. There, threads
// find the places of blocks by an atomic counter for each bucket; here one strand plans all moves,
// which is one decision for 2 KB.
#pragma once

#include "nopal/algorithms/block_moves.h"
#include "nopal/algorithms/blocks.h"
#include "nopal/algorithms/distribute.h"
#include "nopal/algorithms/lazy.h"
#include "nopal/algorithms/memory.h"
#include "nopal/config.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::algorithms {

template <class T, class Less> class in_place_distribution {
public:
  // Throws std::bad_alloc if the memory is not there.
  in_place_distribution(T* data, std::size_t count, const splitters<T, Less>& over)
      : data_(data), over_(over), buckets_(over.buckets()),
        stripes_(count, std::clamp<std::size_t>(count * sizeof(T) / stripe_bytes, 1, 128), length),
        buffers_(stripes_.number * buckets_ * length),
        counts_(new std::size_t[stripes_.number * buckets_]{}), bucket_of_(count / length),
        moves_(count / length, buckets_),
        saved_(block_moves::most_saved(count / length, buckets_) * length),
        bounds_(new bounds[buckets_]) {}

  // Moves all, and calls use(bucket, begin, end) for each bucket, possibly at the same time. Where
  // a comparison throws, or the strand is cancelled, all are there again, in some order.
  template <class Use> void run(const Use& use) {
    try {
      for_blocks(stripes_, [this](std::size_t stripe) { form_blocks(stripe); });
    } catch (...) {
      for (std::size_t stripe = 0; stripe < stripes_.number; ++stripe)
        take_back(stripe);
      throw;
    }
    find_bounds();
    nopal::shielded([this] { move_to_buckets(); }); // no element is left between two places
    for_long_pieces(buckets_, [this, &use](std::size_t i, std::size_t some) {
      for (const std::size_t end = i + some; i < end; ++i)
        if (bounds_[i].begin != bounds_[i].end)
          use(i, bounds_[i].begin, bounds_[i].end);
    });
  }

private:
  static constexpr std::size_t length = std::bit_floor(2048 / sizeof(T)); // of a block
  static constexpr std::size_t stripe_bytes = std::size_t{2} << 20;       // at least

  // Of a bucket: its elements, the slots that lie within and have their blocks, and the number of
  // the saved block for which there is no slot. Of n whole blocks at least n - 1 have one.
  struct bounds {
    std::size_t begin = 0;
    std::size_t end = 0;
    std::size_t first_slot = 0;
    std::size_t slots_end = 0;
    block_moves::number excess = block_moves::none;
  };

  void form_blocks(std::size_t stripe) {
    constexpr std::size_t some = 1024;
    std::uint8_t bucket[some];
    std::uint32_t filled[2 * (most_splitters + 1)] = {};
    T* const buffers = buffers_.get() + stripe * buckets_ * length;
    std::uint8_t* bucket_of = bucket_of_.get() + stripes_.begin(stripe) / length;
    T* front = data_ + stripes_.begin(stripe);
    for (std::size_t i = stripes_.begin(stripe); i < stripes_.end(stripe); i += some) {
      const std::size_t size = std::min(some, stripes_.end(stripe) - i);
      try {
        over_.classify(data_ + i, size, bucket, &counts_[stripe * buckets_]);
      } catch (...) { // as if the stripe had not begun
        for (std::size_t b = 0; b < buckets_; ++b)
          front = std::copy_n(buffers + b * length, filled[b], front);
        std::fill_n(&counts_[stripe * buckets_], buckets_, std::size_t{0});
        throw;
      }
      for (std::size_t j = 0; j < size; ++j) {
        const std::size_t b = bucket[j];
        T* const buffer = buffers + b * length;
        buffer[filled[b]++] = data_[i + j];
        if (filled[b] == length) {
          front = std::copy_n(buffer, length, front);
          *bucket_of++ = bucket[j];
          filled[b] = 0;
        }
      }
    }
  }
  // What is left in its buffers fits behind its blocks.
  void take_back(std::size_t stripe) {
    const std::size_t* const counts = &counts_[stripe * buckets_];
    T* front = data_ + stripes_.begin(stripe);
    for (std::size_t b = 0; b < buckets_; ++b)
      front += counts[b] - counts[b] % length;
    for (std::size_t b = 0; b < buckets_; ++b)
      front =
          std::copy_n(buffers_.get() + (stripe * buckets_ + b) * length, counts[b] % length, front);
  }

  void move_to_buckets() {
    plan();
    for_long_pieces(
        moves_.saves(),
        [this](std::size_t i, std::size_t some) {
          for (const std::size_t end = i + some; i < end; ++i)
            moves_.template run_save<length>(i, data_, saved_.get());
        },
        length);
    for_long_pieces(
        moves_.segments(),
        [this](std::size_t i, std::size_t some) {
          for (const std::size_t end = i + some; i < end; ++i)
            moves_.template run_segment<length>(i, data_, saved_.get());
        },
        block_moves::segment * length);
    for_long_pieces(buckets_, [this](std::size_t i, std::size_t some) {
      for (const std::size_t end = i + some; i < end; ++i)
        fill_ends(i);
    });
  }

  void find_bounds() {
    for (std::size_t i = 0; i < stripes_.number * buckets_; ++i)
      bounds_[i & (buckets_ - 1)].end += counts_[i];
    std::size_t sum = 0;
    for (std::size_t i = 0; i < buckets_; ++i) {
      bounds& bucket = bounds_[i];
      bucket.begin = sum;
      sum += bucket.end;
      bucket.end = sum;
      bucket.slots_end = bucket.first_slot = (bucket.begin + length - 1) / length;
    }
  }

  // The blocks of a bucket keep their order. From here on bucket_of_ tells whether a slot has a
  // block that another slot takes.
  void plan() {
    std::uint8_t* const is_taken = bucket_of_.get();
    for (std::size_t stripe = 0; stripe < stripes_.number; ++stripe) {
      std::size_t full = 0;
      for (std::size_t i = 0; i < buckets_; ++i)
        full += counts_[stripe * buckets_ + i] / length;
      std::size_t slot = stripes_.begin(stripe) / length;
      for (const std::size_t end = slot + full; slot < end; ++slot) {
        bounds& bucket = bounds_[bucket_of_.get()[slot]];
        is_taken[slot] = (bucket.slots_end + 1) * length <= bucket.end;
        if (is_taken[slot])
          moves_.take(bucket.slots_end++, slot);
        else
          bucket.excess = moves_.save(slot);
      }
      for (const std::size_t end = stripes_.end(stripe) / length; slot < end; ++slot)
        is_taken[slot] = false;
    }
    moves_.plan([is_taken](std::size_t slot) { return is_taken[slot] != 0; });
  }

  // Before the first slot and behind the last one; where there is no slot, all of the bucket.
  void fill_ends(std::size_t i) {
    const bounds& bucket = bounds_[i];
    std::size_t to = bucket.begin;
    const auto put = [&](const T* from, std::size_t count) {
      for (const T* const end = from + count; from != end; ++from) {
        if (to == bucket.first_slot * length)
          to = bucket.slots_end * length;
        data_[to++] = *from;
      }
    };
    if (bucket.excess != block_moves::none)
      put(saved_.get() + bucket.excess * length, length);
    for (std::size_t stripe = 0; stripe < stripes_.number; ++stripe)
      put(buffers_.get() + (stripe * buckets_ + i) * length,
          counts_[stripe * buckets_ + i] % length);
  }

  T* const data_;
  const splitters<T, Less>& over_;
  const std::size_t buckets_;
  const blocks stripes_;
  const memory<T> buffers_;                     // of each stripe for each bucket
  const std::unique_ptr<std::size_t[]> counts_; // the same
  const memory<std::uint8_t> bucket_of_;        // of the block in each slot
  block_moves moves_;
  const memory<T> saved_;
  const std::unique_ptr<bounds[]> bounds_;
};

} // namespace nopal::inline NOPAL_ABI::algorithms
NOPAL_HIDDEN_END

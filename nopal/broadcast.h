// SPDX-License-Identifier: MIT
// A broadcast: each value goes to all that have subscribed.
//
//     nopal::broadcast<price> prices{16};                // a subscriber may be 16 values behind
//     nopal::spawn([&] {
//       nopal::subscription<price> mine{prices};         // receives what is sent from now on
//       for (const price& each : mine.values())          // a channel, also for `select`
//         show(each);
//     });
//     prices.send(now);                                  // waits for a subscriber that is further
//     prices.close();                                    // behind; close ends all subscriptions
//
// Thread rules: any thread, any strand. It outlives its subscriptions.
#pragma once

#include "nopal/channel.h"
#include "nopal/config.h"
#include "nopal/mutex.h"

#include <concepts>
#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI {

/// Below.
template <class T> class subscription;

/// Sends copies of each value to all subscriptions that exist, in one order for all.
/// @pre It outlives its subscriptions.
/// @throws closed_channel from `send` if it is closed; `cancelled` if the strand is cancelled: then
/// some may have received the value.
/// @par Threads
/// Any thread, any strand.
/// @par Cost
/// A send to each subscription.
template <std::copy_constructible T> class NOPAL_TYPE broadcast {
public:
  /// A subscription keeps up to so many values that were not received; then `send` waits.
  explicit broadcast(std::size_t buffer = 1) noexcept : buffer_{buffer} {}
  broadcast(const broadcast&) = delete;
  broadcast& operator=(const broadcast&) = delete;

  void send(const T& value) {
    const std::lock_guard in_order{order_};
    for (const auto& each : subscribed())
      try {
        each->send(value);
      } catch (const closed_channel&) { // the subscription has ended meanwhile
      }
  }
  /// Subscriptions receive what they have still, and then end; to close it again does nothing.
  void close() {
    const std::lock_guard guard{lock_};
    closed_ = true;
    for (const auto& each : subscribed_)
      each->close();
  }

private:
  friend class subscription<T>;
  using shared_channel = std::shared_ptr<channel<T>>;

  // A copy: no lock of the thread is held while the sender waits.
  std::vector<shared_channel> subscribed() const {
    const std::lock_guard guard{lock_};
    if (closed_)
      throw closed_channel{};
    return subscribed_;
  }
  shared_channel add() {
    auto added = std::make_shared<channel<T>>(buffer_);
    const std::lock_guard guard{lock_};
    if (closed_)
      added->close();
    subscribed_.push_back(added);
    return added;
  }
  void remove(const shared_channel& ended) {
    ended->close(); // a sender that waits for it goes on
    const std::lock_guard guard{lock_};
    std::erase(subscribed_, ended);
  }

  const std::size_t buffer_;
  mutex order_;
  mutable std::mutex lock_; // guards the rest, and is held for a few steps
  std::vector<shared_channel> subscribed_;
  bool closed_ = false;
};

/// Receives what is sent as long as it exists.
/// @par Threads
/// Any thread, any strand; its values go to one receiver each.
template <class T> class NOPAL_TYPE subscription {
public:
  explicit subscription(broadcast<T>& source) : source_{source}, channel_{source.add()} {}
  ~subscription() { source_.remove(channel_); }
  subscription(const subscription&) = delete;
  subscription& operator=(const subscription&) = delete;

  [[nodiscard]] channel<T>& values() const noexcept { return *channel_; }

private:
  broadcast<T>& source_;
  const std::shared_ptr<channel<T>> channel_;
};

} // namespace nopal::inline NOPAL_ABI
NOPAL_HIDDEN_END

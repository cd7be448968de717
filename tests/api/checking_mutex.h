// SPDX-License-Identifier: MIT
// A mutex of POSIX that returns an error when a thread unlocks what it does not hold, or locks it
// twice.
#pragma once

#include <pthread.h>

namespace nopal_test {

class checking_mutex {
public:
  checking_mutex() noexcept {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(&mutex_, &attributes);
    pthread_mutexattr_destroy(&attributes);
  }
  ~checking_mutex() { pthread_mutex_destroy(&mutex_); }
  checking_mutex(const checking_mutex&) = delete;
  checking_mutex& operator=(const checking_mutex&) = delete;

  [[gnu::noinline]] int lock() noexcept { return pthread_mutex_lock(&mutex_); }
  [[gnu::noinline]] int unlock() noexcept { return pthread_mutex_unlock(&mutex_); }

private:
  pthread_mutex_t mutex_;
};

} // namespace nopal_test

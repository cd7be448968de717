// SPDX-License-Identifier: MIT
// What the pieces of README.md take for the program's own.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cfenv>
#include <chrono>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <functional>
#include <latch>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

inline void left() {}
inline int function(int x, int y) { return x + y; }
inline void serially(int) {}
inline void use(int) {}
inline void piece(int, int) {}
inline int receive() { return 1; }
inline constexpr auto f = [](auto&&...) { return 1; };
inline constexpr auto g = [](auto&&...) { return 2; };
inline int a = 1, b = 2, n = 3, result = 0;
inline std::vector<int> in(3), out(3);

struct item {
  int weight = 0;
  void update() { ++weight; }
  bool operator<(const item& other) const { return weight < other.weight; }
};
inline std::vector<item> items(100);
inline constexpr auto fits = [](const item& each) { return each.weight == 0; };

inline constexpr auto make = [] { return 0; };
inline constexpr auto add = [](int& sum, int i) { sum += i; };
inline constexpr auto merge = [](int& low, int high) { low += high; };

struct node {
  node* next = nullptr;
};
inline node last, *root = new node{&last};
inline std::optional<int> source() {
  static int left_over = 3;
  return left_over-- > 0 ? std::optional{left_over} : std::nullopt;
}
struct buffer {
  char bytes[64];
};
inline char bytes[64];

struct city {};
struct route {};
inline std::optional<route> forwards(const city&, const city&) { return std::nullopt; }
inline std::optional<route> backwards(const city&, const city&) { return route{}; }

// A port on which somebody connects, says a word, and hears it again.
inline const std::uint16_t port = [] {
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof at;
  const int finder = socket(AF_INET, SOCK_STREAM, 0);
  if (bind(finder, reinterpret_cast<sockaddr*>(&at), size) != 0 ||
      getsockname(finder, reinterpret_cast<sockaddr*>(&at), &size) != 0)
    std::terminate();
  close(finder);
  std::thread{[at] {
    int peer = -1;
    do { // until the piece listens
      close(peer);
      peer = socket(AF_INET, SOCK_STREAM, 0);
    } while (connect(peer, reinterpret_cast<const sockaddr*>(&at), sizeof at) != 0);
    char word[5] = "word";
    if (write(peer, word, 4) != 4 || read(peer, word, 4) != 4)
      std::terminate();
    close(peer);
  }}.detach();
  return ntohs(at.sin_port);
}();

// A coroutine type that some library might have.
class coroutine {
public:
  struct promise_type {
    std::shared_ptr<std::latch> ended = std::make_shared<std::latch>(1);
    coroutine get_return_object() { return coroutine{ended}; }
    std::suspend_never initial_suspend() { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() { ended->count_down(); }
    void unhandled_exception() { std::terminate(); }
  };
  void wait() const { ended_->wait(); }

private:
  explicit coroutine(std::shared_ptr<std::latch> ended) : ended_{std::move(ended)} {}
  std::shared_ptr<std::latch> ended_;
};

// SPDX-License-Identifier: MIT
// Channels, and choices among them.
#include "nopal/channel.h"
#include "nopal/fiber.h"

#include <memory>
#include <string>

bool channel_is_right() {
  std::string got;
  nopal::run([&got] {
    nopal::channel<std::string> words;
    nopal::channel<std::unique_ptr<int>> owners;
    nopal::spawn([&words] { words.send("one"); });
    got = words.recv();
    nopal::spawn([&owners] { nopal::select(nopal::send(owners, std::make_unique<int>(1))); });
    nopal::select(
        nopal::recv(words, [](std::string) {}),
        nopal::recv(owners, [&got](std::unique_ptr<int> owner) { got += std::to_string(*owner); }));
    nopal::select(nopal::recv(words, [](std::string) {}), nopal::otherwise());
    nopal::select(nopal::send(words, "two", [] {}), nopal::otherwise([&got] { got += "-"; }));
  });
  return got == "one1-";
}

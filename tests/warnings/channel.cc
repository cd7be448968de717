// SPDX-License-Identifier: MIT
// Channels, and choices among them.
#include "nopal/channel.h"
#include "nopal/fiber.h"

#include <memory>
#include <string>
#include <vector>

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
    const std::string kept = "three";
    nopal::channel<std::string> buffered{2};
    buffered.send(kept);
    std::vector<nopal::any_case> cases;
    cases.emplace_back(nopal::send(buffered, kept));
    cases.emplace_back(nopal::recv(owners, [](std::unique_ptr<int>) {}, [] {}));
    nopal::select(cases, nopal::otherwise());
    buffered.close();
    for (const std::string& each : buffered)
      got += each;
    got += buffered.next().value_or("!");
  });
  return got == "one1-threethree!";
}

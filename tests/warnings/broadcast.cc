// SPDX-License-Identifier: MIT
// Broadcasts.
#include "nopal/broadcast.h"

#include <string>

bool broadcast_is_right() {
  nopal::broadcast<std::string> words{2};
  nopal::subscription<std::string> mine{words};
  words.send("one");
  words.send("two");
  words.close();
  std::string got;
  for (const std::string& each : mine.values())
    got += each;
  return got == "onetwo";
}

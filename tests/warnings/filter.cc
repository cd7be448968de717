// SPDX-License-Identifier: MIT
// What keeps some elements, or divides a range.
#include "nopal/filter.h"

#include <string>
#include <vector>

bool filter_is_right() {
  std::vector<std::string> words(200, "a word");
  words[7] = "";
  const auto kept_size = [](std::size_t size) { return size != 0; };
  std::vector<std::string> out(200);
  const auto end = nopal::copy_if(words, out.begin(), kept_size, &std::string::size);
  const auto unique_end = nopal::unique_copy(words, out.begin());
  const auto others = nopal::stable_partition(words, &std::string::empty);
  const auto same = nopal::partition(words, &std::string::empty);
  const auto rest = nopal::remove_if(words, &std::string::empty);
  const auto one = nopal::unique(words.begin(), rest);
  return end == out.end() - 1 && unique_end == out.begin() + 3 && others == same &&
         one == words.begin() + 1;
}

// SPDX-License-Identifier: MIT
// The comparison, one value at a time; process 0 is the measure.
#include "nopal/process/launch/agreement.h"

#include "nopal/base/die.h"
#include "nopal/process/launch/addresses.h"

#include <array>
#include <string>
#include <vector>

namespace nopal::inline NOPAL_ABI::process {
namespace {

using text = std::array<char, 64>; // of every version, since the version is compared too

void require_same(group& all, const char* what, const std::string& value) {
  text own{};
  value.copy(own.data(), own.size() - 1);
  std::vector<text> each(all.size());
  all.all_gather(&own, each.data(), sizeof own);
  for (unsigned i = 1; i < all.size(); ++i)
    if (each[i] != each[0])
      base::die("processes 0 and %u differ in %s: %s and %s; begin all with the same, for instance "
                "by a launcher that passes the environment on",
                i, what, each[0].data(), each[i].data());
}

#define NOPAL_TEXT(name) #name
#define NOPAL_TEXT_OF(name) NOPAL_TEXT(name)
constexpr const char* version = NOPAL_TEXT_OF(NOPAL_ABI) "." NOPAL_TEXT_OF(NOPAL_VERSION_PATCH);

} // namespace

void require_agreement(group& all, const options& settings, engine carrier, const char* level) {
  require_same(all, "the version of Nopal", version);
  require_same(all, "NOPAL_TRANSPORT or process::options::transport", name_of(carrier));
  require_same(all, "MPI's level of threads", level);
  require_same(all, "NOPAL_REGION_SIZE or process::options::region_size",
               std::to_string(settings.region_size));
  require_same(all, "NOPAL_HEAP_SIZE or process::options::heap_size",
               std::to_string(settings.heap_size));
  require_same(all, "NOPAL_STATS or process::options::stats", *settings.stats ? "1" : "0");
  compare_addresses(all);
}

} // namespace nopal::inline NOPAL_ABI::process

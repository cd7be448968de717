// SPDX-License-Identifier: MIT
// PCRE2: callouts that fork, in the middle of a match.
#define PCRE2_CODE_UNIT_WIDTH 8
#include "tests/interop/foreign.h"

#include <pcre2.h>

namespace {

int call_out(pcre2_callout_block*, void* user) {
  if (nopal_interop::work(5) == nopal_interop::expected(5))
    *static_cast<int*>(user) += 1;
  return 0;
}

bool run_match() {
  int error = 0;
  PCRE2_SIZE at = 0;
  pcre2_code* const code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>("(?:a(?C1))+b"),
                                         PCRE2_ZERO_TERMINATED, 0, &error, &at, nullptr);
  pcre2_match_context* const context = pcre2_match_context_create(nullptr);
  int calls = 0;
  pcre2_set_callout(context, call_out, &calls);
  pcre2_match_data* const data = pcre2_match_data_create_from_pattern(code, nullptr);
  const int matched =
      pcre2_match(code, reinterpret_cast<PCRE2_SPTR>("xxaaaab"), 7, 0, 0, data, context);
  pcre2_match_data_free(data);
  pcre2_match_context_free(context);
  pcre2_code_free(code);
  return matched == 1 && calls == 4;
}

} // namespace

int main(int count, char** arguments) {
  return nopal_interop::main_of(count, arguments, {{"pcre2_match", run_match, false}});
}

// SPDX-License-Identifier: MIT
// expat: handlers that fork.
#include "tests/interop/foreign.h"

#include <expat.h>

namespace {

void begin(void* user, const XML_Char*, const XML_Char**) {
  if (nopal_interop::work(5) == nopal_interop::expected(5))
    *static_cast<int*>(user) += 1;
}

bool run_parse() {
  constexpr char text[] = "<a><b/><b><c x='1'/></b><d>text</d></a>";
  int elements = 0;
  XML_Parser parser = XML_ParserCreate(nullptr);
  XML_SetUserData(parser, &elements);
  XML_SetElementHandler(parser, begin, [](void*, const XML_Char*) {});
  const bool parsed = XML_Parse(parser, text, sizeof text - 1, 1) == XML_STATUS_OK;
  XML_ParserFree(parser);
  return parsed && elements == 5;
}

} // namespace

int main(int count, char** arguments) {
  return nopal_interop::main_of(count, arguments, {{"XML_Parse", run_parse, false}});
}

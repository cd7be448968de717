// SPDX-License-Identifier: MIT
// libxml2's SAX interface: handlers that fork.
#include "tests/interop/foreign.h"

#include <libxml/parser.h>

#include <cstring>

namespace {

void begin(void* user, const xmlChar*, const xmlChar**) {
  if (nopal_interop::work(5) == nopal_interop::expected(5))
    *static_cast<int*>(user) += 1;
}

bool run_sax() {
  constexpr char text[] = "<a><b/><b><c x='1'/></b><d>text</d></a>";
  xmlSAXHandler handler{};
  handler.startElement = begin;
  int elements = 0;
  return xmlSAXUserParseMemory(&handler, &elements, text, sizeof text - 1) == 0 && elements == 5;
}

} // namespace

int main(int count, char** arguments) {
  xmlInitParser();
  return nopal_interop::main_of(count, arguments, {{"xmlSAXUserParseMemory", run_sax, false}});
}

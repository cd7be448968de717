# SPDX-License-Identifier: MIT
"""Checks that a shared library shows the functions that headers for C declare, and no others of
Nopal's: shows.py READELF LIBRARY HEADER...
"""

import re
import subprocess
import sys

readelf, library, *headers = sys.argv[1:]
declared = set()
for header in headers:
    with open(header, encoding="utf-8") as file:
        declared.update(
            re.findall(r"^NOPAL_C_API [^;]*?\b(nopal_\w+)\(", file.read(), re.MULTILINE))
listing = subprocess.run(
    [readelf, "-W", "--dyn-syms", library], check=True, capture_output=True, text=True
).stdout
lines = [line.split() for line in listing.splitlines()]
shown = {words[7].partition("@")[0] for words in lines
         if len(words) > 7 and words[0].endswith(":") and words[6] != "UND"}
ours = {name for name in shown if "nopal" in name}
if not declared or ours != declared:
    sys.exit(f"shown and not declared: {sorted(ours - declared)}; "
             f"declared and not shown: {sorted(declared - ours)}")
print(f"{len(shown)} symbols, {len(ours)} of them Nopal's")

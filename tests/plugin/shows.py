#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a shared library that contains Nopal shows of it: shows.py READELF nothing|protected LIBRARY

nothing    it shows no symbol of Nopal's
protected  it shows none that a symbol of another file could replace, and none that the dynamic
           linker makes unique

A function of the standard library that is given a type of Nopal's is not one of Nopal's.
"""

import re
import subprocess
import sys

OURS = re.compile(r"nopal_|_Z(G[VR]|T[VTISCHW]|Z)*N?[KVRO]*5nopal")

readelf, wanted, library = sys.argv[1:]
listing = subprocess.run(
    [readelf, "-W", "--dyn-syms", library], check=True, capture_output=True, text=True
).stdout
wrong = []
seen = 0
for line in listing.splitlines():
    words = line.split()
    if len(words) < 8 or not words[0].endswith(":") or words[6] == "UND":
        continue
    seen += 1
    binding, visibility, name = words[4], words[5], words[7]
    if not OURS.match(name):
        continue
    if wanted == "nothing" or visibility != "PROTECTED" or binding == "UNIQUE":
        wrong.append(f"{binding} {visibility} {name}")
if seen == 0:
    sys.exit(f"{library} shows no symbol at all: was it read?")
if wrong:
    sys.exit("\n".join([f"{library} shows {len(wrong)} symbols of Nopal:", *wrong]))

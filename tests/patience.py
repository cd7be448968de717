# SPDX-License-Identifier: MIT
"""SECONDS: how long a test waits for what must happen (patience.h states it)."""

import pathlib
import re

_TEXT = pathlib.Path(__file__).with_name("patience.h").read_text(encoding="utf-8")
SECONDS = int(re.search(r"patience\{(\d+)\}", _TEXT).group(1))

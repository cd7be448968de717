# SPDX-License-Identifier: MIT
"""The mutants of mutate.py that no model kills, each with the reason.

A key is (header, line without its comment, number of orders before it on the line, replacement).
"""

REASONS = {}

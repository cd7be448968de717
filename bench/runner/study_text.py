# SPDX-License-Identifier: MIT
"""The tables of a study as text for the terminal."""

import textwrap

from runner.study_page import shown

WIDTH = 100


def aligned(rows):
    """The first column to the left, numbers to the right."""
    widths = [max(map(len, column)) for column in zip(*rows)]
    return ["  ".join(text.rjust(width) if index else text.ljust(width)
                      for index, (text, width) in enumerate(zip(row, widths))).rstrip()
            for row in rows]


def wrapped(text, indent=""):
    return textwrap.wrap(text, WIDTH, initial_indent=indent, subsequent_indent=indent)


def lines(table):
    rows = [[shown(cell) for cell in row] for row in [table.head, *table.rows]]
    body = aligned(rows) if table.rows else ["not measured"]
    return [table.title] + ["  " + line for line in body] + wrapped(table.note, "  ")


def blocks(tables):
    """All tables, an empty line after each."""
    return [line for table in tables for line in [*lines(table), ""]]

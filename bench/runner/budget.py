# SPDX-License-Identifier: MIT
"""The time that a measurement may take in all, however slow the machine is."""

import time


class Budget:
    """A limit in seconds, counted from its construction; None is no limit. `clock` is steady."""

    def __init__(self, seconds, clock=time.monotonic):
        self.seconds = seconds
        self.clock = clock
        self.begin = clock()

    def spent(self):
        return self.clock() - self.begin

    def left(self):
        return float("inf") if self.seconds is None else self.seconds - self.spent()

    def fits(self, seconds):
        return seconds <= self.left()

    def said(self):
        return f"the {self.seconds:g} s that --within gives were used up"


NO_LIMIT = Budget(None)

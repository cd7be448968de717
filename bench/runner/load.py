# SPDX-License-Identifier: MIT
"""How much processor time other programs take while one of ours is measured."""

import os
import time

# So many processors of others leave a run undisturbed.
QUIET_CPUS = 0.1
# What the kernel counts in whole ticks may be wrong by these.
_TICKS = 3


class Load:
    """`begin` and `others` are called before and after a run, by the process that starts it."""

    def __init__(self, stat="/proc/stat", clock=time.monotonic, own=os.times):
        self._stat, self._clock, self._own = stat, clock, own
        self._tick = 1 / os.sysconf("SC_CLK_TCK")
        self.begin()

    def _now(self):
        with open(self._stat, encoding="ascii") as file:
            user, nice, system, _, _, *more = map(int, file.readline().split()[1:])
        own = self._own()
        ours = own.user + own.system + own.children_user + own.children_system
        return self._clock(), (user + nice + system + sum(more[:3])) * self._tick, ours

    def begin(self):
        self._before = self._now()

    def others(self):
        """The processors that others have had on average since `begin`, as far as it is known."""
        elapsed, every, ours = (b - a for a, b in zip(self._before, self._now()))
        return max(0.0, every - ours - _TICKS * self._tick) / max(elapsed, self._tick)


class Unknown:
    """In the place of a Load where nobody asks: all runs count as quiet."""

    def begin(self):
        pass

    def others(self):
        return 0.0


def keep_quiet(measurement):
    """Leaves out runs beside other programs, where a configuration has others; says so."""
    loads = [load for of in measurement.others.values() for load in of.values()]
    left_out = without = 0
    for configuration, of in measurement.others.items():
        loud = [number for number, load in of.items() if load > QUIET_CPUS]
        if len(loud) == len(of):
            without += 1 if of else 0
            continue
        left_out += len(loud)
        for number in loud:
            measurement.samples[configuration].pop(number, None)
    if not left_out and not without:
        return None
    said = (f"Other programs took {sum(loads) / len(loads):.1f} of {os.cpu_count()} processors: "
            f"{left_out} of {len(loads)} runs were left out, since they were not quiet")
    if without:
        said += (f"; {without} of {len(measurement.others)} configurations had no quiet run, so "
                 "their speed-ups are too small")
    return f"{said}."

# SPDX-License-Identifier: MIT
"""What only the study `nodes` draws."""

import statistics

from runner import draw, panels
from runner.draw import colour


def latencies(metrics_of):
    """Operation -> runtime -> bytes -> median of nanoseconds, of {runtime: what it told}."""
    found = {"get": {}, "put": {}}
    for runtime, lines in metrics_of.items():
        for name in lines[0]:
            operation, _, size = name.rpartition("_")
            if operation in found:
                found[operation].setdefault(runtime, {})[int(size)] = statistics.median(
                    line[name] for line in lines)
    return found


def latency(found):
    """A panel for each operation: {operation: {runtime: {bytes: nanoseconds}}}, or None."""
    found = {operation: curves for operation, curves in found.items() if curves}
    if not found:
        return None
    figure, axes = draw.pyplot().subplots(1, len(found), squeeze=False, sharey=True,
                                          layout="constrained", figsize=(3.4 * len(found), 2.8))
    for ax, (operation, curves) in zip(axes[0], found.items()):
        for runtime, points in curves.items():
            sizes = sorted(points)
            ax.plot(sizes, [points[size] for size in sizes], marker="o", ms=3, lw=1.3,
                    color=colour(runtime), label=runtime)
        ax.set_xscale("log", base=2)
        panels.logarithmic(ax)
        ax.set_xticks([8, 64, 512, 4096, 32768], ["8", "64", "512", "4K", "32K"])
        ax.minorticks_off()
        ax.set_title(operation)
        ax.set_xlabel("bytes")
    axes[0][0].set_ylabel("nanoseconds")
    draw.legend(figure, list(axes[0]))
    return draw.svg(figure)

# SPDX-License-Identifier: MIT
"""The drawings that the studies use: grouped bars, ranked bars, and curves in small panels.

All draw runner.rounds.Value: its median, its p10..p90 as a thin line, a bound as a hollow mark.
"""

from runner import draw
from runner.draw import colour, line_style, marker

# Worker counts farther apart than this go on a logarithmic axis.
LINEAR_WORKERS = 8
WIDEST = 0.3  # of a bar, in groups
GREY = draw.COLOURS["serial"]
# Of a stack's parts, one after the other.
PARTS = ["#1b7f3b", "#7fbf8f", "#1f5fa8", "#8fb4dd", "#b5651d", "#e0b080", "#8e44ad"]


def label_of(value):
    """Two decimals where these are more than two digits."""
    digits = ".0f" if value.median >= 100 else ".2f" if 0.095 <= value.median < 10 else ".2g"
    return f"{value.side}{value.median:{digits}}"


def ceiling(values):
    """Just above the highest mark."""
    return max(v.p90 or v.median for v in values) * 1.12


def bars(groups, ylabel, line_at=None, log=False):
    """A group of bars for each name: {name: {runtime: Value}}; None if there is no value."""
    groups = {name: group for name, group in groups.items() if group}
    known = [value for group in groups.values() for value in group.values()]
    if not known:
        return None
    plots = draw.pyplot()
    most = max(map(len, groups.values()))
    for_bars = 0.14 * sum(len(g) + 1.5 for g in groups.values())
    for_names = 0.08 * len(groups) * (max(map(len, groups)) + 1)
    wide = max(5.0, min(10.0, 1.0 + max(for_bars, for_names)))
    figure, ax = plots.subplots(figsize=(wide, 3.2), layout="constrained")
    width = min(0.86 / most, WIDEST)
    for place, group in enumerate(groups.values()):
        for index, (runtime, value) in enumerate(group.items()):
            at = place + (index - (len(group) - 1) / 2) * width
            hollow = {"fill": False, "edgecolor": colour(runtime)} if value.side else {}
            bar = ax.bar(at, value.median, width * 0.92, color=colour(runtime), label=runtime,
                         hatch=hatch(runtime), **hollow)
            high = value.median
            if value.p10 is not None:
                ax.vlines(at, value.p10, value.p90, color="#222222", lw=0.6)
                high = value.p90
            ax.annotate(label_of(value), (at, high), xytext=(0, 2), textcoords="offset points",
                        rotation=90, fontsize=6, ha="center", va="bottom")
    if line_at is not None:
        ax.axhline(line_at, color=GREY, lw=0.8, ls=":")
    if log:
        logarithmic(ax)
        ax.set_ylim(min(v.median for v in known) / 2, ceiling(known) * 2)
    else:
        ax.set_ylim(0, ceiling(known) * 1.08)
    ax.set_xticks(range(len(groups)), list(groups))
    ax.set_xlim(-0.6, len(groups) - 0.4)
    ax.tick_params(axis="x", length=0)
    if 0.065 * sum(len(name) + 2 for name in groups) > wide:
        plots.setp(ax.get_xticklabels(), rotation=25, ha="right", rotation_mode="anchor")
    ax.set_ylabel(ylabel)
    draw.legend(figure, [ax])
    return draw.svg(figure)


def stacked(stacks, xlabel):
    """A horizontal bar for each name, of parts one after the other: {name: {part: Value}}; None if
    there is no value. What is negative is left out."""
    stacks = {name: {part: max(0, value.median) for part, value in stack.items()}
              for name, stack in stacks.items()}
    stacks = {name: stack for name, stack in stacks.items() if stack}
    if not stacks:
        return None
    figure, ax = draw.pyplot().subplots(figsize=(8.4, 0.9 + 0.85 * len(stacks)),
                                        layout="constrained")
    for place, stack in enumerate(stacks.values()):
        begin = 0
        for index, (part, size) in enumerate(stack.items()):
            if size == 0:
                continue
            ax.barh(place, size, 0.5, left=begin, color=PARTS[index % len(PARTS)],
                    edgecolor="white", lw=0.5)
            ax.annotate(part, (begin + size / 2, place - 0.27 - 0.11 * (index % 3)), fontsize=6,
                        ha="center", va="bottom")
            begin += size
    ax.axvline(1, color=GREY, lw=0.8, ls=":")
    ax.set_yticks(range(len(stacks)), list(stacks))
    ax.set_ylim(len(stacks) - 0.5, -0.7)
    ax.tick_params(axis="y", length=0)
    ax.set_xlabel(xlabel)
    return draw.svg(figure)


def ranking(values, xlabel):
    """A horizontal bar for each runtime of {runtime: Value}, the first on top, on a logarithmic
    axis; None if there is no value that it can show."""
    values = {runtime: value for runtime, value in values.items() if value.median > 0}
    if not values:
        return None
    figure, ax = draw.pyplot().subplots(figsize=(7.2, 0.9 + 0.3 * len(values)),
                                        layout="constrained")
    for place, (runtime, value) in enumerate(values.items()):
        hollow = {"fill": False, "edgecolor": colour(runtime)} if value.side else {}
        ax.barh(place, value.median, 0.7, color=colour(runtime), **hollow)
        high = value.median
        if value.p10 is not None and value.p10 > 0:
            ax.hlines(place, value.p10, value.p90, color="#222222", lw=0.8)
            high = value.p90
        ax.annotate(label_of(value), (high, place), xytext=(4, 0), textcoords="offset points",
                    va="center")
    logarithmic(ax, ax.xaxis)
    medians = [value.median for value in values.values()]
    ax.set_xlim(min(1, min(medians) / 2), max(medians) * 2)
    ax.set_yticks(range(len(values)), list(values))
    ax.tick_params(axis="y", length=0)
    ax.invert_yaxis()
    ax.set_xlabel(xlabel)
    return draw.svg(figure)


def in_order(series, xlabel, ylabel, line_at):
    """The numbers of each {name: numbers}, in increasing order; None if there is none."""
    series = {name: sorted(numbers) for name, numbers in series.items() if numbers}
    if not series:
        return None
    figure, ax = draw.pyplot().subplots(figsize=(7.2, 2.8), layout="constrained")
    for (name, numbers), shade in zip(series.items(), PARTS[::2]):
        ax.plot(range(1, len(numbers) + 1), numbers, marker="o", ms=3, lw=0.8, color=shade,
                label=name)
    ax.axhline(line_at, color=GREY, lw=0.8, ls=":")
    ax.set_ylim(0, None)
    ax.set_xlabel(xlabel)
    ax.set_ylabel(ylabel)
    draw.legend(figure, [ax])
    return draw.svg(figure)


def logarithmic(ax, axis=None):
    """Ticks at 1, 2 and 5, so that there are some also within a decade; y unless said."""
    axis = axis or ax.yaxis
    (ax.set_xscale if axis is ax.xaxis else ax.set_yscale)("log")
    axis.set_major_locator(draw.ticker().LogLocator(subs=(1, 2, 5)))
    axis.set_major_formatter("{x:g}")
    axis.set_minor_locator(draw.ticker().NullLocator())


def hatch(runtime):
    return "////" if draw.policy(runtime) else None


def curves(panels, ylabel, line_at=None, log=False):
    """A panel for each name: {name: {runtime: {workers: Value}}}; None if there is no value."""
    panels = {name: {r: points for r, points in panel.items() if points}
              for name, panel in panels.items()}
    panels = {name: panel for name, panel in panels.items() if panel}
    if not panels:
        return None
    plots = draw.pyplot()
    columns = min(4, len(panels))
    lines = -(-len(panels) // columns)
    figure, grid = plots.subplots(lines, columns, squeeze=False, layout="constrained",
                                  figsize=(max(5.0, 2.6 * columns), 2.3 * lines))
    figure.get_layout_engine().set(h_pad=0.09)
    axes = [ax for line in grid for ax in line]
    for ax, (name, panel) in zip(axes, panels.items()):
        one_panel(ax, panel, log)
        ax.set_title(name)
        ax.set_xlabel("workers")
        if line_at is not None:
            ax.axhline(line_at, color=GREY, lw=0.8, ls=":")
    for ax in axes[len(panels):]:
        ax.set_visible(False)
    for line in grid:
        line[0].set_ylabel(ylabel)
    draw.legend(figure, axes)
    return draw.svg(figure)


def one_panel(ax, panel, log):
    counts = sorted({count for points in panel.values() for count in points})
    for runtime, points in panel.items():
        place = sorted(points)
        values = [points[count] for count in place]
        ax.plot(place, [v.median for v in values], lw=1.3, color=colour(runtime),
                ls=line_style(runtime), zorder=3 if runtime == "nopal" else 2)
        for count, v in points.items():
            ax.plot([count], [v.median], marker={"<": "v", ">": "^"}.get(v.side, marker(runtime)),
                    ms=4, mfc="white" if v.side else colour(runtime), color=colour(runtime),
                    ls="none", zorder=3)
            if v.p10 is not None:
                ax.vlines(count, v.p10, v.p90, color=colour(runtime), lw=0.8)
        # What the legend shows.
        ax.plot([], [], marker=marker(runtime), ms=4, lw=1.3, color=colour(runtime),
                ls=line_style(runtime), label=runtime)
    if max(counts) > LINEAR_WORKERS:
        ax.set_xscale("log", base=2)
    ax.set_xticks(counts, [str(count) for count in counts])
    ax.minorticks_off()
    ax.margins(x=0.1)
    known = [v for points in panel.values() for v in points.values()]
    if log:
        logarithmic(ax)
    else:
        ax.set_ylim(0, ceiling(known))

# SPDX-License-Identifier: MIT
"""What all drawings share: colours, legends, figures as inline SVG."""

import io

from runner.programs import RUNTIMES, base, in_order, policy

COLOURS = {
    "serial": "#444444", "serial_call": "#999999", "profile": "#bbbbbb",
    "nopal": "#1b7f3b", "nopal-split": "#7cc68d", "nopal-nowa": "#8e44ad",
    "nopal-nowa-the": "#d65fb4", "nopal-fibril": "#b5651d", "nopal-cilkplus": "#d4a017",
    "nopal-depth-restricted": "#5b7083", "nopal-reuse-ancestors": "#94a9bb",
    "openmp-gcc": "#c23b22", "openmp-llvm": "#f0a07c", "openmp-gcc-untied": "#7d1f10",
    "openmp-llvm-untied": "#e5604d", "tbb": "#1f5fa8", "nowa": "#c39bd9", "fibril": "#e0b48a",
    "lace": "#6b8e23", "libfork": "#17a2a2", "taskflow": "#6fb7e9"}
POLICY_STYLES = {"": "-", "keep": "--", "dontneed": ":", "free": "-.", "remap": (0, (1, 3)),
                 "bounded": (0, (5, 1, 1, 1))}


def colour(runtime):
    """Of a runtime; with a policy the same, nearer to white."""
    code = COLOURS[base(runtime)]
    if not policy(runtime):
        return code
    parts = [int(code[at:at + 2], 16) for at in (1, 3, 5)]
    return "#" + "".join(f"{(part + 255) // 2:02x}" for part in parts)


def line_style(runtime):
    return POLICY_STYLES[policy(runtime).partition(":")[0]]


def pyplot():
    import matplotlib
    matplotlib.use("Agg")
    matplotlib.rcParams.update({
        "svg.fonttype": "none", "svg.hashsalt": "nopal", "font.size": 9,
        "axes.spines.top": False, "axes.spines.right": False, "axes.titlesize": 10})
    from matplotlib import pyplot as plots
    return plots


def svg(figure):
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", bbox_inches="tight", metadata={"Date": None})
    pyplot().close(figure)
    text = buffer.getvalue()
    return "\n".join(line.rstrip() for line in text[text.index("<svg"):].splitlines()) + "\n"


def legend(figure, axes):
    """One legend for all panels, above them."""
    found = {label: handle for ax in axes
             for handle, label in zip(*ax.get_legend_handles_labels())}
    runtimes = [label for label in found if base(label) in RUNTIMES]
    labels = in_order(runtimes) + [label for label in found if label not in runtimes]
    figure.legend([found[label] for label in labels], labels, loc="lower center",
                  ncols=min(len(labels), 6), bbox_to_anchor=(0.5, 1.0), frameon=False)

# SPDX-License-Identifier: MIT
"""What all drawings share: colours, legends, figures as inline SVG."""

import io
import re
from xml.etree import ElementTree

from runner.programs import OWN_RUNTIMES, RUNTIMES, base, in_order, policy, without_marks

COLOURS = {
    "serial": "#444444", "serial_call": "#999999", "profile": "#bbbbbb",
    "nopal": "#1b7f3b", "nopal-counted": "#2e5339",
    "nopal-nowa-counted": "#8e44ad", "nopal-fibril-counted": "#b5651d",
    "nopal-ivars": "#1f5fa8", "nopal-gang": "#17a2a2",
    "nopal-before": "#c0c0c0", "nopal-again": "#e0e0e0",
    "process": "#1f5fa8", "process-openmpi": "#c23b22", "process-mpich": "#d4a017",
    "process-the": "#5e3008", "process-iso": "#8e44ad",
    "process-openmpi-tcp": "#f0a07c", "process-mpich-tcp": "#e8d18a",
    "process-openmpi-messages": "#7d1f10", "process-mpich-messages": "#6b5008",
    "process-openmpi-hosts": "#d65fb4", "process-mpich-hosts": "#6b8e23", "itoyori": "#17a2a2",
    "boost": "#c23b22", "go": "#17a2a2", "tokio": "#b5651d",
    "nopal-nowa": "#8e44ad", "nopal-nowa-the": "#d65fb4", "nopal-fibril": "#b5651d",
    "nopal-cilkplus": "#d4a017", "nopal-mapped": "#1f5fa8", "nopal-mapped-pages": "#7fa6d6",
    "heap-frames": "#777777", "child-stealing": "#a0522d",
    "one-stack": "#c23b22", "depth-restricted": "#7d1f10", "reuse-ancestors": "#6b8e23",
    "openmp-gcc": "#c23b22", "openmp-llvm": "#f0a07c", "openmp-gcc-untied": "#7d1f10",
    "openmp-llvm-untied": "#e5604d", "tbb": "#1f5fa8",
    "nopal-c-nowa": "#2e86c1", "nopal-c-fibril": "#85c1e9",
    "nowa": "#4a235a", "nowa-own": "#a569bd", "fibril": "#5e3008", "fibril-own": "#c68642",
    "lace": "#6b8e23", "libfork": "#17a2a2", "taskflow": "#6fb7e9", "cheetah": "#7a8b00",
    "ips4o": "#6b8e23", "parlay": "#b5651d",
    "board-tbb": "#274e7d", "board-libfork": "#0f6b6b", "board-taskflow": "#9fd0f0",
    "board-toomanycooks": "#a83279",
    # A runtime that has left the project; a file that was kept names it.
    "nopal-bare": "#8fbf9f",
    # No runtimes: what the machine itself gives, and a paper's number.
    "plain threads": "#777777", "the paper": "#444444",
    "Manticore, 2008": "#000000"}
LEGEND_COLUMNS = 6
SVG, XLINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
FONTS = "DejaVu Sans, Verdana, sans-serif"
FORMER = "former"  # policies that have left the project
POLICY_STYLES = {"": "-", "unlimited": "--", "0": ":", "64M": (0, (8, 2)),
                 "SIZE": (0, (8, 2, 1, 2)), "stacks": (0, (5, 1, 1, 1)), FORMER: (0, (1, 3))}


# A policy mixes the runtime's colour with its own.
POLICY_TINTS = {"unlimited": "#ffffff", "0": "#000000", "64M": "#60ff60", "SIZE": "#0000ff",
                "stacks": "#b0b0b0", FORMER: "#ffb000"}


def parts(code):
    return [int(code[at:at + 2], 16) for at in (1, 3, 5)]


def policy_kind(runtime):
    """Budgets that are named often have a look of their own; all others share one."""
    kind, _, amount = without_marks(policy(runtime)).partition(":")
    if kind != "budget":
        return kind if kind in POLICY_STYLES else FORMER
    return amount if amount in POLICY_STYLES else "SIZE"


def colour(runtime):
    code = COLOURS[base(runtime)]
    kind = policy_kind(runtime)
    if not kind:
        return code
    return "#" + "".join(f"{(a + b) // 2:02x}"
                         for a, b in zip(parts(code), parts(POLICY_TINTS[kind])))


def line_style(runtime):
    return POLICY_STYLES[policy_kind(runtime)]


def marker(runtime):
    """The papers' own code and other systems are square, ours are round."""
    return "o" if base(runtime) in OWN_RUNTIMES else "s"


def pyplot():
    import matplotlib
    matplotlib.use("Agg")
    matplotlib.rcParams.update({
        "svg.fonttype": "none", "svg.hashsalt": "nopal", "font.size": 9,
        "font.sans-serif": ["DejaVu Sans"],
        "axes.spines.top": False, "axes.spines.right": False, "axes.titlesize": 10})
    from matplotlib import pyplot as plots
    return plots


def ticker():
    from matplotlib import ticker as ticks
    return ticks


def svg(figure):
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", bbox_inches="tight", metadata={"Date": None})
    pyplot().close(figure)
    return compact(buffer.getvalue())


def compact(text):
    """The same drawing in a third of the bytes: no metadata, no groups that say nothing, numbers
    of two digits, and one font for all."""
    ElementTree.register_namespace("", SVG)
    ElementTree.register_namespace("xlink", XLINK)
    root = ElementTree.fromstring(text)
    used = set(re.findall(r"#([\w-]+)", text))
    flatten(root, used)
    root.set("font-family", FONTS)
    root.tail = "\n"
    return ElementTree.tostring(root, encoding="unicode")


def flatten(parent, used):
    """Simplifies all that is below `parent`; `used` holds the ids that something refers to."""
    children = []
    for child in parent:
        if child.tag == f"{{{SVG}}}metadata":
            continue
        flatten(child, used)
        if child.get("id") not in used:
            child.attrib.pop("id", None)
        simplify(child)
        nothing = child.tag == f"{{{SVG}}}g" and not child.attrib
        children += list(child) if nothing else [child]
    parent[:] = children
    for child in parent:
        child.tail = "\n"
    if len(parent):
        parent.text = "\n"


def simplify(element):
    for name, text in element.attrib.items():
        text = re.sub(r"-?\d+\.\d+", lambda found: f"{float(found[0]):.2f}".rstrip("0").rstrip("."),
                      text)
        text = re.sub(r"font: ([\d.]+px)[^;]*", r"font-size: \1", " ".join(text.split()))
        element.set(name, text)
    if element.get("transform", "").startswith("rotate(-0 "):
        del element.attrib["transform"]


def legend(figure, axes):
    """One legend for all panels, above them."""
    found = {label: handle for ax in axes
             for handle, label in zip(*ax.get_legend_handles_labels())}
    runtimes = [label for label in found if base(label) in RUNTIMES]
    labels = in_order(runtimes) + [label for label in found if label not in runtimes]
    rows = -(-len(labels) // LEGEND_COLUMNS)
    figure.legend([found[label] for label in labels], labels, loc="lower center",
                  ncols=-(-len(labels) // max(1, rows)), bbox_to_anchor=(0.5, 1.0), frameon=False)
